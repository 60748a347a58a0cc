"""Runs all checks at the same time, each within the time that is left."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from cognee_hooks.doctor import configuration, machine, plugins, server, session
from cognee_hooks.doctor.rows import Masker, failed
from cognee_hooks.guard import attempt, attempt_apart, attempt_await
from cognee_hooks.results import CheckResult
from cognee_hooks.services.keys import only_looking

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.host import Host

SERVER_SECONDS = 5.0
"""Longest that the server is waited for."""
MACHINE_SECONDS = 2.5
"""Longest that the file system is waited for; a network drive may never answer."""


async def examine(host: Host, deadline: Deadline) -> list[CheckResult]:
    """Run all checks.

    Args:
        host: The host to examine; it needs not be started.
        deadline: When to be done. What is not done by then is a row that says so.

    Returns:
        One row a fact, the core's first. Nothing secret is in them.
    """
    with only_looking():
        groups = await asyncio.gather(
            _group("configuration", _now(lambda: configuration.checks(host)), deadline),
            _group("server", server.checks(host, deadline.within(SERVER_SECONDS)), deadline),
            _group("session", _now(lambda: session.checks(host)), deadline),
            _group("plugins", plugins.checks(host, deadline), deadline),
            _group(
                "machine",
                _apart("machine checks", lambda: machine.checks(host)),
                deadline.within(MACHINE_SECONDS),
            ),
        )
    masker = Masker.of(host)
    return [masked(masker, row) for rows in groups for row in rows]


def masked(masker: Masker, row: CheckResult) -> CheckResult:
    """Return a row that is safe to show, whatever a plugin made it of."""
    done = attempt(masker.row, row)
    if done.error is None and isinstance(done.result, CheckResult):
        return done.result
    return failed("plugins", "a plugin's row cannot be shown", "report this to the plugin's author")


async def _group(
    name: str, work: Coroutine[Any, Any, Sequence[CheckResult]], deadline: Deadline
) -> Sequence[CheckResult]:
    try:
        async with asyncio.timeout(deadline.remaining()):
            done = await attempt_await(work)
    except TimeoutError:
        return [failed(name, "its checks were not done in time", _AGAIN)]
    if done.error is not None:
        kind = type(done.error).__name__
        return [failed(name, f"its checks failed ({kind})", "report this with --bundle")]
    rows: Sequence[CheckResult] = done.result
    return rows


_AGAIN = "try again; if that lasts, something that they look at hangs"


async def _now(work: Any) -> Sequence[CheckResult]:
    rows: Sequence[CheckResult] = work()
    return rows


async def _apart(name: str, work: Any) -> Sequence[CheckResult]:
    done = await attempt_apart(name, work)
    if done.error is not None:
        raise done.error
    rows: Sequence[CheckResult] = done.result
    return rows
