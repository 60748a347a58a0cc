"""The OpenAI Responses wire format as a program with the OpenAI Agents SDK asks for it."""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_model import Move, ScriptedModel, Turn, server_sent

SHELL = "shell_command"
"""Name of the function tool that ``{{tool: …}}`` calls, with one argument ``command``."""


def agents_endpoint(cap: int = 60) -> ScriptedModel:
    """A scripted model for OpenAI agents; its ``url`` with ``/v1`` is a client's ``base_url``.

    ``{{agent: name}}`` calls the tool of that name: ``transfer_to_…`` for a handover.
    """
    return ScriptedModel(AgentResponses(), cap)


class AgentResponses:
    """The wire format: ``POST /v1/responses``, whole or streamed."""

    path = "/responses"

    def turn(self, body: dict[str, Any]) -> Turn:
        """The last words of the user and the results of tools since."""
        prompt, results = "", 0
        for item in _items(body):
            if item.get("role") == "user":
                prompt, results = _text(item), 0
            elif item.get("type") == "function_call_output":
                results += 1
        return Turn(prompt, results)

    def document(self, move: Move) -> dict[str, Any]:
        """The finished response."""
        return {
            "id": f"resp_{move.number}",
            "object": "response",
            "created_at": 0,
            "model": "scripted",
            "status": "completed",
            "output": [_output(move)],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": move.tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": move.tokens + 5,
            },
        }

    def stream(self, move: Move) -> str:
        """The answer as a stream with one output item."""
        done = self.document(move)
        begun = done | {"status": "in_progress", "output": [], "usage": None}
        item = {"output_index": 0, "item": done["output"][0]}
        events = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added"} | item,
            {"type": "response.output_item.done"} | item,
            {"type": "response.completed", "response": done},
        ]
        return server_sent(
            [each | {"sequence_number": number} for number, each in enumerate(events)]
        )

    def other(self, path: str) -> dict[str, Any] | None:
        """Nothing else is there."""
        return None

    def injected(self, body: dict[str, Any]) -> list[str]:
        """Blocks of ours, wherever they stand."""
        texts = [body.get("instructions") or "", *map(_text, _items(body))]
        return [text for text in texts if "=== Cognee memory" in text]


def _items(body: dict[str, Any]) -> list[dict[str, Any]]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _text(item: dict[str, Any]) -> str:
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _output(move: Move) -> dict[str, Any]:
    if move.command:
        return _call(move, SHELL, {"command": move.command})
    if move.task:
        return _call(move, move.task, {})
    return {
        "type": "message",
        "id": f"msg_{move.number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": move.text, "annotations": []}],
    }


def _call(move: Move, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{move.number}",
        "call_id": f"call_{move.number}",
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }
