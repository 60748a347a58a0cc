"""A host that sends nothing and changes nothing, to see what an event would do."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cognee_hooks.agents import session_id_of
from cognee_hooks.cli.common import make_host
from cognee_hooks.dryrun import DryRunClient
from cognee_hooks.host import Host
from cognee_hooks.results import Agent
from cognee_hooks.services.process import current_environ

BUDGET_SECONDS = 10.0
"""Longest that one event is followed."""


@contextmanager
def rehearsal(
    options: argparse.Namespace, agent: Agent, payload: Mapping[str, Any]
) -> Iterator[tuple[Host, DryRunClient]]:
    """Give a host with the person's settings and plugins, and with state of its own for the block.

    Args:
        options: Parsed options with ``plugins``.
        agent: Whose event it is.
        payload: What the agent sent; tells conversation and folder.
    """
    client = DryRunClient()
    with tempfile.TemporaryDirectory(prefix="cognee-hooks-rehearsal-") as folder:
        # What the real session knows stays as it is: prompts, counters, breaker.
        state = {
            "COGNEE_HOOKS_STATE_DIR": folder,
            "COGNEE_PI_STATE_DIR": folder,
            "COGNEE_BREAKER_FILE": f"{folder}/breaker.json",
        }
        host = make_host(
            agent.name,
            options.plugins,
            environ={**current_environ(), **state},
            session_id=session_id_of(agent, payload),
            cwd=agent.origin(payload).cwd or None,
            client=client,
        )
        yield host, client
