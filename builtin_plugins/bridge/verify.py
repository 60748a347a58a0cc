"""Finds out whether a server stored an entry although it did not say so."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from builtin_plugins.bridge.fingerprint import digest
from builtin_plugins.bridge.marks import TAIL, Tail
from cognee_hooks.services.answers import SessionDetail


def listed(detail: SessionDetail, kind: str) -> Tail:
    """Return what a session lists of a kind, as a tail of our own.

    Args:
        detail: The session as the server shows it.
        kind: ``qa`` or ``trace``.
    """
    rows: Sequence[Mapping[str, Any]] = detail.qas if kind == "qa" else detail.traces
    total = detail.msg_count if kind == "qa" else detail.tool_calls
    prints = [digest(kind, row) for row in rows[-TAIL:]]
    return Tail(max(total, len(prints)), prints)


def was_stored(prints: Collection[str], server: Tail, ours: Tail) -> bool:
    """Tell whether a server holds an entry beyond those that we know it took.

    Equal entries are normal: the same tool called twice. So they are counted, here and there, among
    the latest ones. If the entry was stored it may have pushed an equal one out of the server's
    list; where that can be, the totals decide.

    Args:
        prints: Digests by which the entry may be recognised.
        server: What the server lists.
        ours: What we know it took before.
    """
    known = ours.last[-len(server.last) :] if server.last else []
    there = sum(each in prints for each in server.last)
    here = sum(each in prints for each in known)
    if there != here:
        return there > here
    pushed_out = bool(known) and len(known) == len(server.last) and known[0] in prints
    return pushed_out and server.total > ours.total
