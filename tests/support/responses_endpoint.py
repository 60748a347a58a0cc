"""The OpenAI Responses wire format, as far as Codex asks for it, for a scripted model."""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_model import Move, ScriptedModel, Turn, server_sent

# User and developer messages that Codex writes itself.
_MACHINE_MADE = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<subagent_notification>",
    "<user_instructions>",
)
_OWN_INSTRUCTIONS = (
    "You are a coding agent running in the Codex CLI",
    "<permissions instructions>",
    "<skills_instructions>",
)
_RESULTS = {"function_call_output", "custom_tool_call_output"}


def responses_endpoint(cap: int = 60) -> ScriptedModel:
    """A scripted model for Codex; its ``url`` with ``/v1`` is a provider's ``base_url``."""
    return ScriptedModel(Responses(), cap)


class Responses:
    """The wire format: ``POST /v1/responses``, always streamed."""

    path = "/responses"

    def turn(self, body: dict[str, Any]) -> Turn:
        """The last user message that Codex did not write itself."""
        prompt, results = "", 0
        for item in body["input"]:
            kind = item.get("type")
            if kind == "message" and item["role"] == "user":
                said = _text(item)
                if not said.startswith(_MACHINE_MADE):
                    prompt, results = said, 0
            elif kind in _RESULTS:
                results += 1
        return Turn(prompt, results)

    def document(self, move: Move) -> dict[str, Any]:
        """The finished response."""
        usage = {
            "input_tokens": move.tokens,
            "input_tokens_details": None,
            "output_tokens": 5,
            "output_tokens_details": None,
            "total_tokens": move.tokens + 5,
        }
        return {"id": f"resp_{move.number}", "output": [_item(move)], "usage": usage}

    def stream(self, move: Move) -> str:
        """The answer as a stream with one output item."""
        response = self.document(move)
        events = [
            {"type": "response.created", "response": {"id": response["id"]}},
            {"type": "response.output_item.done", "output_index": 0, "item": _item(move)},
            {"type": "response.completed", "response": response},
        ]
        return server_sent(events)

    def other(self, path: str) -> dict[str, Any] | None:
        """Nothing else is there; Codex takes a missing list of models well."""
        return None

    def injected(self, body: dict[str, Any]) -> list[str]:
        """Developer messages that Codex did not write: hooks' texts stand there unmarked."""
        return [
            _text(item)
            for item in body["input"]
            if item.get("type") == "message" and item["role"] == "developer"
            if not _text(item).startswith(_OWN_INSTRUCTIONS)
        ]


def _text(item: dict[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in item["content"])


def _item(move: Move) -> dict[str, Any]:
    if move.command:
        return _call(move, "exec_command", {"cmd": move.command})
    if move.task:
        call = _call(move, "spawn_agent", {"message": move.task})
        return call | {"namespace": "multi_agent_v1"}
    if move.tool:
        return _call(move, move.tool, move.arguments) | {"namespace": "mcp__cognee_hooks"}
    content = [{"type": "output_text", "text": move.text, "annotations": []}]
    return {
        "type": "message",
        "id": f"msg_{move.number}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _call(move: Move, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{move.number}",
        "call_id": f"call_{move.number}",
        "name": name,
        "arguments": json.dumps(arguments),
    }
