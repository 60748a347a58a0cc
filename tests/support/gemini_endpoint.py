"""The Gemini wire format, as far as Gemini CLI asks for it, for a scripted model."""

from __future__ import annotations

from typing import Any

from tests.support.scripted_model import Move, ScriptedModel, Turn, server_sent

_MACHINE_MADE = ("<session_context>", "<hook_context>")


def gemini_endpoint(cap: int = 60) -> ScriptedModel:
    """A scripted model for Gemini CLI; its ``url`` is ``GOOGLE_GEMINI_BASE_URL``."""
    return ScriptedModel(Gemini(), cap)


class Gemini:
    """The wire format: ``POST /v1beta/models/<model>:streamGenerateContent``."""

    path = ":streamGenerateContent"

    def turn(self, body: dict[str, Any]) -> Turn:
        """The last user text that neither the agent nor a hook wrote."""
        prompt, results = "", 0
        for part in _parts(body):
            said = part.get("text", "")
            if "functionResponse" in part:
                results += 1
            elif said and not said.lstrip().startswith(_MACHINE_MADE):
                prompt, results = said, 0
        return Turn(prompt, results)

    def document(self, move: Move) -> dict[str, Any]:
        """The answer as a whole."""
        part: dict[str, Any] = {"text": move.text}
        if move.command:
            arguments = {"command": move.command, "description": "scripted"}
            part = {"functionCall": {"name": "run_shell_command", "args": arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": move.tokens, "totalTokenCount": move.tokens + 5}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
        }

    def stream(self, move: Move) -> str:
        """The answer as a stream of one piece."""
        return server_sent([self.document(move)])

    def other(self, path: str) -> dict[str, Any] | None:
        """Nothing else is there."""
        return None

    def injected(self, body: dict[str, Any]) -> list[str]:
        """Texts of hooks, which the agent marks."""
        said = [part.get("text", "") for part in _parts(body)]
        return [each for each in said if each.startswith("<hook_context>")]


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        part for each in body["contents"] if each.get("role") == "user" for part in each["parts"]
    ]
