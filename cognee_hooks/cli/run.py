"""``cognee-hooks run AGENT EVENT``: one event through a host in this process.

The slow way, which starts an interpreter and loads everything for each event.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli.bounded import Answer, leave, run_bounded
from cognee_hooks.cli.common import add_host_options, find_agent, make_host
from cognee_hooks.cli.stdin import read_payload
from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from cognee_hooks.results import Agent
from cognee_hooks.services.names import safe_session_id
from cognee_hooks.services.process import current_environ

NESTED = "COGNEE_HOOKS_NESTED"
"""Set in the environment of agents that work for us, so that they are not captured in turn."""

MARGIN_SECONDS = 0.5
"""What a process may take beyond the budget of its event: start, redaction, end."""
FLUSH_SECONDS = 4.0
"""Budget for sending what the event left behind."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("agent", metavar="AGENT", help="agent that sends the event")
    parser.add_argument("event", metavar="EVENT", help="its name of the event")
    add_host_options(parser, agent=False)


def run(options: argparse.Namespace) -> int:
    """Pass the event on and print the agent's answer, exit code always 0."""
    begun = Deadline.after(0)
    environ = current_environ()
    agent = find_agent(options.agent)
    answer = Answer(agent.empty(options.event))
    payload = read_payload(sys.stdin.fileno(), Deadline.after(10))
    if payload is None or environ.get(NESTED):
        answer.settle()
        return 0
    host = make_host(
        options.agent,
        options.plugins,
        environ=environ,
        session_id=session_id_of(agent, payload),
        cwd=_cwd(payload),
    )
    agent = find_agent(options.agent, host)
    budget = event_budget(host, options.event)
    limit = Deadline(begun.at + budget)
    hard = Deadline(begun.at + budget + MARGIN_SECONDS)
    run_bounded(lambda: _pass_on(host, agent, options.event, payload, answer, limit), answer, hard)
    leave(0)
    return 0


def session_id_of(agent: Agent, payload: Mapping[str, Any]) -> str:
    """Return our id of the conversation: the agent's prefix and its own id."""
    own = payload.get("session_id")
    if not isinstance(own, str) or not own:
        return ""
    return safe_session_id(f"{agent.session_prefix}_{own}")


def event_budget(host: Host, event: str) -> float:
    """Return the seconds that one event may take in all, sending included."""
    if event == "UserPromptSubmit":
        return host.core.recall_timeout_ms / 1000
    if event == "SessionEnd":
        return host.registry.policies["cognee_session_end"].budget
    return FLUSH_SECONDS


async def _pass_on(
    host: Host,
    agent: Agent,
    event: str,
    payload: Mapping[str, Any],
    answer: Answer,
    limit: Deadline,
) -> None:
    read = agent.read(event, payload, session_id=host.session.session_id)
    if read is not None:
        prompt = await host.dispatch(read, limit)
        notices = " ".join(notice.text for notice in host.notices.take())
        answer.give(agent.answer(event, prompt.context if prompt else "", notices))
    answer.settle()
    lost = await host.close(limit)
    if lost:
        print(
            f"cognee-hooks: {lost} captured entries could not be sent and are gone: "
            f"{host.mode.url} did not take them. See `cognee-hooks doctor`.",
            file=sys.stderr,
        )


def _cwd(payload: Mapping[str, Any]) -> str | None:
    cwd = payload.get("cwd")
    return cwd if isinstance(cwd, str) and cwd.startswith("/") else None
