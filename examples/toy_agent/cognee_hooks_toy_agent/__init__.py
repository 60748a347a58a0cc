"""Serves the toy agent: its payloads into events, what plugins found into its answers.

The toy agent runs a hook with one JSON object on standard input, for the events ``start``,
``prompt``, ``tool``, ``failure``, ``answer`` and ``end``. What a hook prints for ``prompt`` is one
JSON object: ``memory`` goes to the model, ``note`` to the person. For other events it prints none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cognee_hooks import hookimpl
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.results import Agent, Origin

EVENTS = ("start", "prompt", "tool", "failure", "answer", "end")


class ToyAgent:
    """Translates. It holds no state, and trusts no field of a payload."""

    name = "toy-agent"
    session_prefix = "toy"
    max_context_bytes = 8_000
    events: tuple[str, ...] = EVENTS

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return Origin(conversation=_text(payload, "conversation"), cwd=_folder(payload))

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events; None where it is not used."""
        common: dict[str, Any] = {
            "session_id": session_id,
            "agent": self.name,
            "cwd": _folder(payload),
        }
        if event == "start":
            return SessionStart(**common)
        if event == "prompt":
            return UserPromptSubmit(**common, prompt=_text(payload, "text"))
        if event in {"tool", "failure"}:
            return _call(event, payload, common)
        if event == "answer":
            return Stop(**common, last_assistant_message=_text(payload, "text"))
        return SessionEnd(**common) if event == "end" else None

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document to print."""
        if event != "prompt" or not (context or notice):
            return self.empty(event)
        return json.dumps({"memory": _whole(context), "note": _whole(notice)})

    def empty(self, event: str) -> str:  # noqa: ARG002 - other agents' empty answers differ by event
        """Return the answer that changes nothing; this agent takes no output for it."""
        return ""


class ToyAgentPlugin:
    """The plugin; its entry point names this class."""

    @hookimpl
    def cognee_register_agents(self) -> Agent:
        """Return the adapter."""
        return ToyAgent()


def _call(event: str, payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    arguments = payload.get("arguments")
    common["tool_name"] = _text(payload, "tool")
    common["tool_input"] = arguments if isinstance(arguments, Mapping) else {}
    if event == "failure":
        return PostToolUseFailure(**common, error=_text(payload, "error"))
    return PostToolUse(**common, tool_response=payload.get("result"))


def _folder(payload: Mapping[str, Any]) -> str:
    """Return the folder where it can be one: an absolute path."""
    folder = _text(payload, "folder")
    return folder if folder.startswith("/") and "\0" not in folder else ""


def _whole(text: str) -> str:
    """Return text without halves of characters, which many agents cannot read."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""
