"""``cognee-hooks run AGENT EVENT``: one event through a host in this process.

The slow way, which starts an interpreter and loads everything for each event.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from cognee_hooks.agents import BUILT_IN, session_id_of
from cognee_hooks.cli.bounded import PrintedAnswer, call_bounded, leave, run_bounded, take_stdout
from cognee_hooks.cli.common import add_host_options, find_agent, make_host
from cognee_hooks.cli.stdin import read_payload
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import Event, SessionEnd, UserPromptSubmit
from cognee_hooks.guard import attempt
from cognee_hooks.host import Host
from cognee_hooks.results import NESTED, Agent
from cognee_hooks.services.process import current_environ

MARGIN_SECONDS = 0.5
"""What a process may take beyond the budget of its event: start, redaction, end."""
LOAD_SECONDS = 6.0
"""Longest that reading the configuration and importing plugins may take."""
FLUSH_SECONDS = 4.0
"""Budget for sending what the event left behind."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("agent", metavar="AGENT", help="agent that sends the event")
    parser.add_argument(
        "event", metavar="EVENT", help="the event, by the name that the agent has for it"
    )
    add_host_options(parser, agent=False)


def run(options: argparse.Namespace) -> int:
    """Pass the event on and print the agent's answer, exit code always 0."""
    begun = Deadline.after(0)
    environ = current_environ()
    agent = agent_of(options)
    answer = PrintedAnswer(agent.empty(options.event), take_stdout())
    payload = read_payload(sys.stdin, Deadline.after(10))
    if payload is None or environ.get(NESTED):
        answer.settle()
        return 0
    host = _load(options, environ, agent, payload)
    if host is None:
        answer.settle()
        leave(0)
        return 0
    agent = find_agent(options.agent, host)
    read = attempt(lambda: agent.read(options.event, payload, session_id=host.session.session_id))
    budget = event_budget(host, read.result)
    limit = Deadline(begun.at + budget)
    hard = Deadline(begun.at + budget + MARGIN_SECONDS)
    run_bounded(lambda: _pass_on(host, agent, options.event, payload, answer, limit), answer, hard)
    leave(0)
    return 0


def event_budget(host: Host, event: Event | None) -> float:
    """Return the seconds that one event may take in all, sending included."""
    if isinstance(event, UserPromptSubmit):
        return host.core.recall_seconds
    if isinstance(event, SessionEnd):
        return host.registry.policies["cognee_session_end"].budget
    return FLUSH_SECONDS


async def _pass_on(
    host: Host,
    agent: Agent,
    event: str,
    payload: Mapping[str, Any],
    answer: PrintedAnswer,
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


def _load(
    options: argparse.Namespace,
    environ: Mapping[str, str],
    agent: Agent,
    payload: Mapping[str, Any],
) -> Host | None:
    """Make the host; None where a plugin takes too long to import."""
    try:
        return call_bounded(
            lambda: make_host(
                options.agent,
                options.plugins,
                environ=environ,
                session_id=session_id_of(agent, payload),
                cwd=agent.origin(payload).cwd or None,
            ),
            Deadline.after(LOAD_SECONDS),
        )
    except TimeoutError:
        print(
            f"cognee-hooks: importing the plugins took more than {LOAD_SECONDS:g} s, so this event "
            "was passed over. See `cognee-hooks plugins --all`.",
            file=sys.stderr,
        )
        return None


def agent_of(options: argparse.Namespace) -> Agent:
    """Return the agent that the command line names, be it one that a plugin brings.

    Raises:
        UsageError: No agent has this name.
    """
    if options.agent in BUILT_IN:
        return BUILT_IN[options.agent]
    return find_agent(options.agent, make_host(options.agent, options.plugins))
