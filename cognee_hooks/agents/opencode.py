"""OpenCode: what our plugin for it sends and takes, for the plugin interface of OpenCode 1.18.

OpenCode has no hook commands; a plugin runs inside of it (``opencode_plugin.js``, part of this
package), which runs the hook command for each event. It picks fields: every payload holds
``sessionID``, ``cwd`` and, while a turn runs, ``turnID``; a sub-agent's holds the session of the
agent that started it, and ``agentID``. Beside those, by name of the event:

* ``session_start``: ``resumed`` (the session is taken up again)
* ``session_end``: nothing more
* ``pre_compact``: ``messages`` (what is to be summarised: ``role`` and ``text``, at most 40)
* ``user_prompt``: ``prompt``
* ``tool_result``: ``tool``, ``callID``, ``args``, ``output`` (its text)
* ``turn_end``: ``text`` (the answer)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document
from cognee_hooks.agents.fields import as_command, flag, mapping, origin, text
from cognee_hooks.agents.turns import spoken, turns_of
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.results import Origin


def _started(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return SessionStart(**common, source="resume" if flag(payload, "resumed") else "startup")


def _user_prompt(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"))


def _tool_result(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PostToolUse(
        **common,
        tool_name=text(payload, "tool"),
        tool_input=mapping({"args": as_command(payload.get("args"))}, "args"),
        tool_response=payload.get("output"),
        tool_use_id=text(payload, "callID"),
    )


def _turn_end(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return Stop(**common, last_assistant_message=text(payload, "text"))


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PreCompact(**common, turns=turns_of(spoken(payload)))


def _session_end(_: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return SessionEnd(**common)


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "session_start": _started,
        "user_prompt": _user_prompt,
        "tool_result": _tool_result,
        "turn_end": _turn_end,
        "pre_compact": _pre_compact,
        "session_end": _session_end,
    }
)


class OpenCode:
    """Adapter for OpenCode. Its answers are read by our own plugin.

    The plugin puts the context of a prompt into the system prompt of all requests of its turn, so
    it does not stay in the conversation. Tools that fail, and lines for the person, do not reach
    plugins.
    """

    name = "opencode"
    session_prefix = "opencode"
    max_context_bytes = 9_500
    events: tuple[str, ...] = tuple(_READERS)

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "sessionID")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events, or None where we do not use it."""
        reader = _READERS.get(event)
        if reader is None:
            return None
        common = {
            "session_id": session_id,
            "agent": self.name,
            "cwd": text(payload, "cwd"),
            "prompt_id": text(payload, "turnID"),
            "agent_id": text(payload, "agentID"),
        }
        return reader(payload, common)

    def answer(self, event: str, context: str, notice: str) -> str:  # noqa: ARG002 - nowhere to show one
        """Return the document for the plugin: ``context``, where there is any.

        Args:
            event: Name of the event.
            context: Text for the model; left out where the event takes none.
            notice: One line for the person, for whom the plugin has no place.
        """
        return document({"context": context} if context and event == "user_prompt" else {})

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing: an empty object."""
        return self.answer(event, "", "")
