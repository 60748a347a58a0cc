"""``cognee-hooks doctor``."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from cognee_hooks.cli.agent_checks import check_agent
from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_table,
)
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine, worst
from cognee_hooks.host import Host
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.process import current_environ

BUDGET_SECONDS = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Check the installation; exit code 1 where a check failed."""
    host = make_host(options.agent, options.plugins)
    rows = asyncio.run(_examine(host))
    rows += check_agent(options.agent, current_environ(), Path.cwd())
    if options.json:
        print_json(
            [
                {
                    "name": row.name,
                    "status": row.status.value,
                    "detail": row.detail,
                    "remedy": row.remedy,
                }
                for row in rows
            ]
        )
    else:
        print_table(
            ("check", "", "found", "what to do"),
            [(row.name, row.status.value, row.detail, row.remedy) for row in rows],
        )
    return 1 if worst(rows) is CheckStatus.FAILED else 0


async def _examine(host: Host) -> list[CheckResult]:
    deadline = Deadline.after(BUDGET_SECONDS)
    rows = await examine(host, deadline)
    await host.close(deadline)
    return rows
