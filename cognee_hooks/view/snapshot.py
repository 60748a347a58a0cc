"""Makes what the page's program gets of what was read: JSON that is safe to show and bounded."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cognee_hooks.history.listing import Listed
from cognee_hooks.history.usage import Usage
from cognee_hooks.history.waiting import Waiting
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerRow
from cognee_hooks.view.plugin_rows import plugin_rows
from cognee_hooks.view.prompts import prompts_of
from cognee_hooks.view.sources import Conversations, Everything, OneConversation, RecordedSession
from cognee_hooks.view.tidy import count, epoch_seconds, label, seconds

MAX_SESSIONS = 1000
MAX_FILES = 500
MAX_PROBLEMS = 100
MAX_ACTS = 500
MAX_KINDS = 200

_STEM = re.compile(r"[0-9a-f]{40}")
_PROBLEM_BYTES = 500


def key_of(each: Listed) -> str:
    """Return the name of a conversation in addresses.

    It is compared with, never made a path; so what a stranger's file is called may be anything.
    """
    if _STEM.fullmatch(each.stem):
        return each.stem
    return hashlib.sha1(os.fsencode(each.stem), usedforsecurity=False).hexdigest()


def summary(seen: Everything, version: str) -> dict[str, Any]:
    """Return what the overview, the buffer and the list of plugins show.

    Args:
        seen: What was read.
        version: Our own version.
    """
    found = seen.conversations
    status = found.status
    return {
        "version": version,
        "now": found.now,
        "daemon": {
            "running": None if found.silent else status is not None,
            "pid": count((status or {}).get("pid")) or None,
            "version": label((status or {}).get("version")),
        },
        "totals": _totals(found),
        "sessions": [
            session(each, found.recorded.get(each.stem)) for each in _live_first(found.listed)
        ],
        "buffer": {
            "waiting": _files(found.waiting),
            "quarantined": _files(found.quarantined),
        },
        "plugins": plugin_rows(seen.installed.records, seen.plugins, found.recorded.values()),
        "problems": _bounded(_problems(seen), MAX_PROBLEMS),
    }


def session(each: Listed, recorded: RecordedSession | None) -> dict[str, Any]:
    """Return one conversation.

    Args:
        each: The conversation.
        recorded: What its ledger tells; None where it has none.
    """
    return {
        "key": key_of(each),
        "session_id": label(each.session_id),
        "agent": label(each.agent),
        "dataset": label(each.known.dataset) if each.known else None,
        "live": each.live,
        "began": epoch_seconds(each.began),
        "last": epoch_seconds(each.last),
        "waiting": count(each.waiting),
        **_numbers(recorded.usage if recorded else Usage()),
    }


def detail(seen: OneConversation) -> dict[str, Any]:
    """Return what the view of one conversation shows."""
    usage = seen.recorded.usage if seen.recorded else Usage()
    return {
        "session": session(seen.listed, seen.recorded),
        "prompts": prompts_of(seen.prompts, seen.rows),
        "acts": [_act(row) for row in _latest(seen.rows)],
        "redactions": [
            {"kind": label(kind), "count": count(times)}
            for kind, times in usage.by_kind(Act.REDACTED)[:MAX_KINDS]
        ],
    }


def _live_first(rows: Iterable[Listed]) -> list[Listed]:
    return sorted(rows, key=lambda each: not each.live)[:MAX_SESSIONS]


def _numbers(usage: Usage) -> dict[str, Any]:
    return {
        "captured": count(usage.counts[Act.CAPTURED]),
        "redacted": count(usage.counts[Act.REDACTED]),
        "sent": count(usage.sent),
        "lost": count(usage.lost),
        "recalls": count(usage.counts[Act.RECALLED]),
        "injected": count(usage.counts[Act.INJECTED]),
        "injected_bytes": count(usage.injected_bytes),
        "tokens": count(usage.tokens),
    }


def _totals(found: Conversations) -> dict[str, Any]:
    usage = Usage()
    for each in found.recorded.values():
        usage.include(each.usage)
    return {
        "sessions": len(found.listed),
        "waiting": count(sum(each.waiting for each in found.listed)),
        "hit_rate": usage.hit_rate,
        **_numbers(usage),
    }


def _files(files: Iterable[Waiting]) -> list[dict[str, Any]]:
    return [
        {
            "session_id": label(each.session_id),
            "agent": label(each.agent),
            "entries": count(each.entries),
            "oldest": epoch_seconds(each.oldest),
            "retry_at": epoch_seconds(each.retry_at),
            "problem": label(each.problem),
        }
        for each in list(files)[:MAX_FILES]
    ]


def _problems(seen: Everything) -> Iterator[str]:
    found = seen.conversations
    for file in (*found.waiting, *found.quarantined):
        if file.problem:
            yield f"{file.file} cannot be read as a whole: {file.problem}."
    for each in found.recorded.values():
        if not each.known.session_id:
            yield f"{each.known.ledger.path} is torn, or no ledger: it does not name its session."
    if found.silent:
        yield (
            "The daemon does not answer: it is just starting or ending, or stands still. If that "
            "lasts, see `cognee-hooks daemon logs`. Events are kept meanwhile."
        )
    if found.left_out:
        yield f"{found.left_out} older ledgers are not counted here; `cognee-hooks stats` has them."
    if len(found.listed) > MAX_SESSIONS:
        yield f"Only {MAX_SESSIONS} of {len(found.listed)} sessions are listed."
    if found.status is not None and seen.plugins is not None and "error" in seen.plugins:
        yield "The daemon is of another version, and does not tell how plugins do."
    yield from seen.installed.problems


def _bounded(sentences: Iterable[str], most: int) -> list[str]:
    found = [said for each in sentences if (said := label(each, _PROBLEM_BYTES))]
    return found if len(found) <= most else [*found[: most - 1], f"{len(found) - most + 1} more."]


def _latest(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    # What plugins took is told of all sessions together; it is nothing that happened.
    events = [row for row in rows if row.act is not Act.RAN]
    return sorted(events, key=lambda row: row.time, reverse=True)[:MAX_ACTS]


def _act(row: LedgerRow) -> dict[str, Any]:
    return {
        "time": epoch_seconds(row.time),
        "act": row.act.value,
        "what": label(row.what),
        "count": count(row.count),
        "bytes": None if row.size is None else count(row.size),
        "seconds": seconds(row.seconds),
    }
