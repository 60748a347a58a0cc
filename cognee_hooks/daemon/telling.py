"""What the daemon tells of its live sessions: how plugins behave, what was injected.

All of it is in memory only. What plugins gave is printable and bounded where it is made; here only
the whole answer is kept below what `control.ask` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cognee_hooks.plugin_report import reports
from cognee_hooks.printable import brief

if TYPE_CHECKING:
    from cognee_hooks.daemon.live_session import LiveSession

MAX_BYTES = 3 * 1024 * 1024
"""Bytes of an answer; sessions that do not fit are left out, those that began first."""


def plugins(sessions: Iterable[LiveSession]) -> Mapping[str, Any]:
    """Return how the plugins of live sessions behave.

    Args:
        sessions: The sessions, the one that began first first.

    Returns:
        ``sessions``, each with ``session_id``, ``agent`` and ``plugins``
        (`cognee_hooks.plugin_report.PluginReport`); one whose host is still being made has none.
    """
    told: list[Mapping[str, Any]] = []
    left = MAX_BYTES
    for session in reversed(list(sessions)):
        row = _plugins_of(session)
        left -= len(json.dumps(row))
        if left < 0:
            break
        told.append(row)
    return {"sessions": told[::-1]}


def prompts(sessions: Iterable[LiveSession], session_id: str) -> Mapping[str, Any]:
    """Return the latest prompts of a live session, as `host_parts.prompts.Prompts` has them.

    Args:
        sessions: The sessions.
        session_id: Our id of the session, as it began or as it is now.
    """
    for session in sessions:
        if session_id in {session.session_id, session.own_id} and session.prompts is not None:
            return {"prompts": session.prompts.as_json()}
    return {"prompts": []}


def _plugins_of(session: LiveSession) -> Mapping[str, Any]:
    host = session.host
    found = (
        [] if host is None else reports(host.registry.records, host.dispatcher.timings, host.faults)
    )
    return {
        "session_id": session.session_id,
        "agent": brief(session.agent.name),
        "plugins": [each.as_json() for each in found],
    }
