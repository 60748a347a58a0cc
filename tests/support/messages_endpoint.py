"""The Anthropic Messages wire format, as far as Claude Code asks for it, for a scripted model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.support.scripted_model import Move, ScriptedModel, Turn, server_sent

_REMINDER = "<system-reminder>"
# How Claude Code marks what a hook printed: as context in JSON, or as plain text.
_HOOK_TEXT = re.compile(
    r"^\w+(?::\w+)? hook (?:additional context|success): (.*?)"
    r"(?=\n</system-reminder>|^\w+(?::\w+)? hook (?:additional context|success): |\Z)",
    re.DOTALL | re.MULTILINE,
)


def messages_endpoint(cap: int = 60) -> ScriptedModel:
    """A scripted model for Claude Code; its ``url`` is ``ANTHROPIC_BASE_URL``."""
    return ScriptedModel(Messages(), cap)


class Messages:
    """The wire format: ``POST /v1/messages``, streamed or whole."""

    path = "/messages"

    def turn(self, body: dict[str, Any]) -> Turn:
        """The last words of the user that are neither a reminder nor a tool result."""
        prompt, results = "", 0
        for message in body["messages"]:
            if message["role"] != "user":
                continue
            blocks = _blocks(message["content"])
            count = sum(block["type"] == "tool_result" for block in blocks)
            said = [text for text in _texts(blocks) if not text.startswith(_REMINDER)]
            if count:
                results += count
            elif said:
                prompt, results = "\n".join(said), 0
        return Turn(prompt, results)

    def document(self, move: Move) -> dict[str, Any]:
        """The answer as one message."""
        return {
            "id": f"msg_{move.number}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [_content(move)],
            "stop_reason": _stop_reason(move),
            "stop_sequence": None,
            "usage": {"input_tokens": move.tokens, "output_tokens": 5},
        }

    def stream(self, move: Move) -> str:
        """The answer as a stream with one content block."""
        message = self.document(move) | {"content": [], "stop_reason": None}
        block = _content(move)
        if block["type"] == "text":
            start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = json.dumps(block["input"])
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": arguments}
        stop = {"stop_reason": _stop_reason(move), "stop_sequence": None}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        return server_sent(events)

    def other(self, path: str) -> dict[str, Any] | None:
        """Count tokens; nothing else is there."""
        return {"input_tokens": 10} if path.endswith("/count_tokens") else None

    def injected(self, body: dict[str, Any]) -> list[str]:
        """What hooks printed, without the client's mark, from every place where it may stand."""
        return [
            found
            for message in body["messages"]
            if message["role"] in {"system", "user"}
            for text in _texts(_blocks(message["content"]))
            for found in _HOOK_TEXT.findall(text)
        ]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Texts of content blocks, also of those inside a tool result."""
    for block in blocks:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result" and block.get("content"):
            yield from _texts(_blocks(block["content"]))


def _stop_reason(move: Move) -> str:
    return "tool_use" if move.command or move.task or move.tool else "end_turn"


def _content(move: Move) -> dict[str, Any]:
    if move.command:
        name, given = "Bash", {"command": move.command, "description": "a command of the test"}
    elif move.task:
        name = "Agent"
        given = {
            "description": "a task of the test",
            "prompt": move.task,
            "subagent_type": "general-purpose",
            "run_in_background": False,
        }
    elif move.tool:
        name, given = f"mcp__cognee-hooks__{move.tool}", move.arguments
    else:
        return {"type": "text", "text": move.text}
    return {"type": "tool_use", "id": f"toolu_{move.number}", "name": name, "input": given}
