"""The OpenAI chat completions wire format, as far as pi asks for it, for a scripted model."""

from __future__ import annotations

import json
from typing import Any

from tests.support.chat_endpoint import text_of
from tests.support.scripted_model import Move, ScriptedModel, Turn, server_sent

# pi puts what an extension injects into a message of the user's.
_INJECTED = "=== Cognee memory"


def chat_model(cap: int = 60) -> ScriptedModel:
    """A scripted model for pi; its ``url`` with ``/v1`` is a provider's ``baseUrl``."""
    return ScriptedModel(Chat(), cap)


class Chat:
    """The wire format: ``POST /v1/chat/completions``, always streamed."""

    path = "/chat/completions"

    def turn(self, body: dict[str, Any]) -> Turn:
        """The last user message that no extension wrote."""
        prompt, results = "", 0
        for message in body["messages"]:
            text = text_of(message)
            if message["role"] == "user" and not text.startswith(_INJECTED):
                prompt, results = text, 0
            elif message["role"] == "tool":
                results += 1
        return Turn(prompt, results)

    def document(self, move: Move) -> dict[str, Any]:
        """The answer as one completion."""
        return _chunk(move) | {"choices": [{"index": 0, "message": _message(move)}]}

    def stream(self, move: Move) -> str:
        """The answer in one chunk, and how it ended in another."""
        reason = "tool_calls" if move.command else "stop"
        said = {"index": 0, "delta": _message(move), "finish_reason": None}
        ended = {"index": 0, "delta": {}, "finish_reason": reason}
        usage = {"prompt_tokens": move.tokens, "completion_tokens": 5, "total_tokens": 15}
        chunks = [_chunk(move) | {"choices": [each]} for each in (said, ended)]
        chunks[-1]["usage"] = usage
        return f"{server_sent(chunks)}data: [DONE]\n\n"

    def other(self, path: str) -> dict[str, Any] | None:
        """Nothing else is there."""
        return None

    def injected(self, body: dict[str, Any]) -> list[str]:
        """What our extension injected."""
        texts = [text_of(each) for each in body["messages"] if each["role"] == "user"]
        return [text for text in texts if text.startswith(_INJECTED)]


def _chunk(move: Move) -> dict[str, Any]:
    ident = f"chatcmpl-{move.number}"
    return {"id": ident, "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


def _message(move: Move) -> dict[str, Any]:
    if not move.command:
        return {"role": "assistant", "content": move.text}
    call = {
        "index": 0,
        "id": f"call_{move.number}",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": move.command})},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}
