"""Runs all checks at the same time, each within the time that is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from cognee_hooks.doctor import configuration, machine, plugins, server, session
from cognee_hooks.doctor.rows import Finding, Masker, failed
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
    return [each.row for each in await findings(host, deadline)]


async def findings(host: Host, deadline: Deadline) -> list[Finding]:
    """Run all checks, and tell whose each row is; see `examine`."""
    with only_looking():
        groups = await asyncio.gather(
            _group("configuration", _here(configuration.checks, host), deadline),
            _group("server", server.checks(host, deadline.within(SERVER_SECONDS)), deadline),
            _group("session", _here(session.checks, host), deadline),
            _group("redaction and plugins", plugins.checks(host), deadline),
            _group("checks of plugins", plugins.own_checks(host, deadline), deadline),
            _group("machine", _apart(machine.checks, host), deadline.within(MACHINE_SECONDS)),
        )
    masker = Masker.of(host)
    return [_masked(masker, each) for found in groups for each in found]


async def _group(
    name: str, work: Coroutine[Any, Any, Sequence[Finding | CheckResult]], deadline: Deadline
) -> list[Finding]:
    """Return what one group of checks found; that it hangs or fails is a row, too."""
    try:
        async with asyncio.timeout(deadline.remaining()):
            done = await attempt_await(work)
    except TimeoutError:
        again = "try again; if that lasts, something that they look at hangs"
        return [Finding(failed(name, "its checks were not done in time", again))]
    if done.error is not None:
        found = f"its checks failed ({type(done.error).__name__})"
        return [Finding(failed(name, found, "report this with `cognee-hooks doctor --bundle`"))]
    return [each if isinstance(each, Finding) else Finding(each) for each in done.result]


async def _here(checks: Callable[[Host], list[CheckResult]], host: Host) -> list[CheckResult]:
    return checks(host)


async def _apart(checks: Callable[[Host], list[CheckResult]], host: Host) -> list[CheckResult]:
    """Run checks on a thread of their own, which can be left behind."""
    done = await attempt_apart("checks of the machine", lambda: checks(host))
    if done.error is not None:
        raise done.error
    rows: list[CheckResult] = done.result
    return rows


def _masked(masker: Masker, found: Finding) -> Finding:
    """Return a row that is safe to show, whatever a plugin made it of."""
    done = attempt(masker.row, found.row)
    if done.error is None:
        return Finding(done.result, found.plugin)
    author = "report this to the plugin's author"
    shown = failed(f"plugin {found.plugin}", "a row of its own cannot be shown", author)
    return Finding(shown, found.plugin)
