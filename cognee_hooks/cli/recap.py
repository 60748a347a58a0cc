"""``cognee-hooks recap``: one session in a few lines, from its ledger."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

from cognee_hooks.cli.common import add_json_option, print_json
from cognee_hooks.cli.ledger import chosen
from cognee_hooks.cli.words import ago, counted, local, span
from cognee_hooks.faults import ON_PURPOSE
from cognee_hooks.history.sessions import KnownSession, known_sessions
from cognee_hooks.history.usage import HIT, NOTHING, Usage, entries
from cognee_hooks.history.waiting import waiting_files
from cognee_hooks.printable import one_line
from cognee_hooks.results import Act
from cognee_hooks.services.process import current_environ

NAMED = 4
"""Kinds that a line names."""
_TENTH = 0.1  # seconds; what is shorter is told in milliseconds
_KINDS = {"qa": ("turn", "turns"), "trace": ("tool call", "tool calls")}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "session", nargs="?", default="", help="id or the beginning of one (default: the latest)"
    )
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print what a session captured, recalled and cost."""
    environ, now = current_environ(), time.time()
    sessions = known_sessions(environ)
    if not sessions and not options.session:
        if options.json:
            print_json(None)
        else:
            print("There is no session yet. `cognee-hooks install AGENT` sets an agent up.")
        return 0
    session = chosen(sessions, options.session) if options.session else sessions[0]
    usage = Usage()
    for each, row in entries([session]):
        usage.add(each, row)
    files = waiting_files(environ, {session.stem: session}, now=now)
    waiting = sum(each.entries for each in files if each.file.stem == session.stem)
    if options.json:
        known = {
            "session_id": session.session_id,
            "agent": session.agent,
            "dataset": session.dataset,
            "waiting": waiting,
        }
        kinds = {act.value: dict(found) for act in Act if (found := usage.by_kind(act))}
        print_json({**known, **usage.as_json(), "kinds": kinds})
    else:
        print("\n".join(lines(session, usage, waiting, now)))
    return 0


def lines(session: KnownSession, usage: Usage, waiting: int, now: float) -> list[str]:
    """Return the recap, ten lines at most.

    Args:
        session: The session.
        usage: What was done in it.
        waiting: Captured entries that wait for the server.
        now: Epoch seconds.
    """
    began = session.began or usage.first
    start, spent = (local(began), span(session.last - began)) if began else ("?", "?")
    told = [
        f"Session:    {session.session_id or '?'} ({session.agent or 'unknown agent'})",
        f"Dataset:    {session.dataset or 'not recorded'}",
        f"Time:       {start}, for {spent}, until {ago(session.last, now)}",
        f"Captured:   {_captured(usage)}",
        f"Redacted:   {_redacted(usage)}",
        f"Sent:       {_sent(usage, waiting)}",
        f"Recalled:   {_recalled(usage)}",
        f"Injected:   {_injected(usage)}",
    ]
    if usage.counts[Act.COMPACTED]:
        told.append(f"Compacted:  {counted(usage.counts[Act.COMPACTED], 'time')}")
    synced = counted(usage.counts[Act.SYNCED], "entry", "entries")
    told.append(f"Synced:     {synced if usage.counts[Act.SYNCED] else 'nothing yet'}")
    return told


def _captured(usage: Usage) -> str:
    kinds = usage.by_kind(Act.CAPTURED)
    parts = [counted(count, *_KINDS.get(kind, (kind,))) for kind, count in kinds] or ["nothing"]
    if usage.left_out:
        parts.append(f"{counted(usage.left_out, 'call')} left out by the rules")
    return ", ".join(parts)


def _redacted(usage: Usage) -> str:
    count = usage.counts[Act.REDACTED]
    return f"{counted(count, 'secret')} ({_named(usage, Act.REDACTED)})" if count else "nothing"


def _sent(usage: Usage, waiting: int) -> str:
    parts = [f"{usage.sent} of {usage.counts[Act.CAPTURED]}"]
    parts += [f"{waiting} waiting"] if waiting else []
    aside = usage.counts[Act.QUARANTINED]
    parts += [f"{aside} put aside, which the server refuses"] if aside else []
    if gone := usage.lost - aside:
        reasons = [each for each in usage.by_kind(Act.DROPPED) if each[0] not in ON_PURPOSE]
        parts.append(f"{gone} lost ({_listed(reasons)})")
    return ", ".join(parts)


def _recalled(usage: Usage) -> str:
    count = usage.counts[Act.RECALLED]
    if not count:
        return "memory was not asked"
    parts = [counted(count, "prompt")]
    if usage.answered:
        parts.append(f"{usage.hits} of {usage.answered} had hits ({usage.hit_rate:.0%})")
    if skipped := count - usage.answered:
        reasons = [(what, n) for what, n in usage.by_kind(Act.RECALLED) if _is_reason(what)]
        parts.append(f"{skipped} skipped ({_listed(reasons)})")
    return f"{', '.join(parts)}; {_time(usage.recall_seconds / count)} on average"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= _TENTH else f"{seconds * 1000:.0f} ms"


def _is_reason(what: str) -> bool:
    return what not in {HIT, NOTHING}


def _injected(usage: Usage) -> str:
    count = usage.counts[Act.INJECTED]
    if not count:
        return "nothing"
    size = f"{usage.injected_bytes:,} bytes, about {usage.tokens:,} tokens"
    return f"{counted(count, 'section')}, {size} ({_named(usage, Act.INJECTED)})"


def _named(usage: Usage, act: Act) -> str:
    return _listed(usage.by_kind(act))


def _listed(kinds: Iterable[tuple[str, int]]) -> str:
    return ", ".join(_shortened([f"{what or '?'} {count}" for what, count in kinds]))


def _shortened(names: list[str]) -> Iterator[str]:
    yield from map(one_line, names[:NAMED])
    if len(names) > NAMED:
        yield f"and {len(names) - NAMED} more"
