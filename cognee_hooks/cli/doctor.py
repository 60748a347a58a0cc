"""``cognee-hooks doctor``: what is wrong, whether faults are survived, what to send to support."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from cognee_hooks.cli import live_plugins
from cognee_hooks.cli.agent_checks import check_agent
from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_table,
)
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import Finding, Masker, findings, worst
from cognee_hooks.guard import attempt_apart
from cognee_hooks.host import Host
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.process import current_environ

BUDGET_SECONDS = 10.0
APART_SECONDS = 4.0
_CLOSING_SECONDS = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    add_json_option(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--drill",
        action="store_true",
        help="play faults against a throw-away server, with your settings and plugins (30 s)",
    )
    what.add_argument(
        "--bundle",
        nargs="?",
        const="",
        metavar="FILE",
        help="write what support needs into FILE, a .tar.gz without secrets",
    )


def run(options: argparse.Namespace) -> int:
    """Check the installation.

    Returns:
        1 where a check failed. Warnings are no failure: memory works, if not as well as it could.
    """
    if options.drill:
        return _drill(options)
    found = look(options.agent, options.plugins)
    if options.bundle is not None:
        from cognee_hooks.cli.bundle import write_bundle

        return write_bundle(options, found)
    rows = [each.row for each in found]
    if options.json:
        print_json([as_json(row) for row in rows])
    else:
        print_table(
            ("check", "", "found → what to do"),
            [(row.name, row.status.value, _text(row.detail, row.remedy)) for row in rows],
        )
    return 1 if worst(rows) is CheckStatus.FAILED else 0


def look(agent: str, plugins: list[str]) -> list[Finding]:
    """Run all checks, those of the agent's side included.

    Args:
        agent: Its name.
        plugins: Values of ``-p``.
    """
    deadline = Deadline.after(BUDGET_SECONDS)
    host = make_host(agent, plugins)
    found, rows = asyncio.run(_look(host, agent, deadline))
    masker = Masker.of(host)
    return [*found, *(Finding(masker.row(row)) for row in rows)]


def _text(found: str, remedy: str) -> str:
    """Return what to do on a line of its own, so that a narrow terminal has room for both."""
    return f"{found}\n→ {remedy}" if remedy else found


def as_json(row: CheckResult) -> dict[str, str]:
    """Return a row as it stands in JSON."""
    return {
        "name": row.name,
        "status": row.status.value,
        "detail": row.detail,
        "remedy": row.remedy,
    }


async def _look(
    host: Host, agent: str, deadline: Deadline
) -> tuple[list[Finding], list[CheckResult]]:
    environ, cwd = current_environ(), Path.cwd()
    limit = deadline.within(APART_SECONDS)
    try:
        found, agents, live = await asyncio.gather(
            findings(host, deadline),
            _apart("agent", limit, lambda: check_agent(agent, environ, cwd, deadline)),
            _apart(
                live_plugins.ROW,
                limit,
                lambda: live_plugins.checks(live_plugins.ask(environ, limit), host),
            ),
        )
    finally:
        await host.close(Deadline.after(_CLOSING_SECONDS))
    return found, [*live, *agents]


async def _apart(
    name: str, limit: Deadline, checks: Callable[[], list[CheckResult]]
) -> list[CheckResult]:
    """Run checks on a thread of their own: files may lie on a drive that hangs."""
    try:
        async with asyncio.timeout(limit.remaining()):
            done = await attempt_apart(f"checks of the {name}", checks)
    except TimeoutError:
        return [_not_done(name, "its checks were not done in time")]
    if done.error is not None:
        return [_not_done(name, f"its checks failed ({type(done.error).__name__})")]
    rows: list[CheckResult] = done.result
    return rows


def _not_done(name: str, why: str) -> CheckResult:
    return CheckResult(
        name=name,
        status=CheckStatus.FAILED,
        detail=why,
        remedy="try again; if that lasts, report it with `cognee-hooks doctor --bundle`",
    )


def _drill(options: argparse.Namespace) -> int:
    # Needs packages that not everybody has; importing it says which.
    from cognee_hooks.drill import Drill
    from cognee_hooks.drill.run import SECONDS

    def tell(name: str) -> None:
        if not options.json and sys.stderr.isatty():
            print(f"… {name}", file=sys.stderr)

    drill = Drill(current_environ(), str(Path.cwd()), plugins=options.plugins, tell=tell)
    rows = asyncio.run(drill.run(Deadline.after(SECONDS)))
    if options.json:
        print_json([row.as_json() for row in rows])
    else:
        print_table(
            ("what goes wrong", "", "found", "this shows → what to do"),
            [(r.name, r.status.value, r.detail, _text(r.proves, r.remedy)) for r in rows],
        )
    return 1 if any(row.status is CheckStatus.FAILED for row in rows) else 0
