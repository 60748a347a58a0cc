"""Every built-in agent keeps the promises of the conformance kit, whatever its hooks run.

They run the thin client, with the daemon behind it; ``cognee-hooks run`` is the slow way. Besides
that, the protocol and latency cases that once went wrong for users: hundreds of prompts without a
server, pipes that stay open, a host that takes one exact shape, and a slow server.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.agents import BUILT_IN, VERIFIED, session_id_of
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Agent
from cognee_hooks.services.process import spawn_detached
from cognee_hooks.testing.agent_conformance import (
    RUN,
    SHAPES,
    STATES,
    Limits,
    Problem,
    State,
    check_agent,
    installed_command,
)
from cognee_hooks.testing.states import CLOSED
from tests.support.agent_samples import samples_of
from tests.support.waiting import PATIENCE, wait_until

PRINTING = [agent for agent in BUILT_IN.values() if agent.name != "pi"]
"""Agents whose hooks run a command; pi's extension talks to the daemon itself."""
ENVIRON = {"PYTHONPATH": str(Path(__file__).parents[2])}
CLIENT = installed_command()
LIMITS = Limits(recall_seconds=4.0, margin=25.0, parallel=3)
"""A process needs a while to start; what would be wrong waits for a minute."""
OUTAGE = "=== Cognee memory: recall skipped ({}) ==="
IDLE_SECONDS = 2.0

agents = pytest.mark.parametrize("agent", PRINTING, ids=lambda agent: agent.name)


def states(*names: str) -> list[State]:
    chosen = [state for state in STATES if state.name in names]
    assert len(chosen) == len(names)
    return chosen


def conforms(agent: Agent, **options: Any) -> list[Problem]:
    return check_agent(
        agent, samples_of(agent.name), command=RUN, environ=ENVIRON, limits=LIMITS, **options
    )


def prompt_event(agent: Agent) -> tuple[str, dict[str, Any]]:
    """The agent's prompt event and a payload of it that the user typed."""
    for event, payloads in samples_of(agent.name).items():
        for payload in payloads:
            read = agent.read(event, payload, session_id="s")
            if isinstance(read, UserPromptSubmit) and not read.machine_made and not read.agent_id:
                return event, dict(payload)
    raise AssertionError("no prompt among the samples")


def test_it_is_said_of_every_agent_how_it_was_verified():
    assert set(VERIFIED) == set(BUILT_IN)
    how = {"driven live", "replayed from captures", "by contract only"}
    assert set(VERIFIED.values()) <= how


@pytest.mark.parametrize("agent", BUILT_IN.values(), ids=lambda agent: agent.name)
def test_the_adapter_keeps_the_rules(agent):
    assert check_agent(agent, samples_of(agent.name)) == []


@agents
def test_prompts_without_the_daemon_get_the_right_answer_in_bad_states(agent):
    chosen = states("offline", "slow", "auth failed", "plugin prints", "plugin breaks on import")
    assert conforms(agent, states=chosen, events=[prompt_event(agent)[0]]) == []


def test_p03_codex_gets_what_it_takes_on_every_event_without_the_daemon():
    # One key too many, or a line of text, and it drops the whole answer.
    chosen = states("healthy", "empty memory", "offline", "broken config", "plugin returns text")
    assert conforms(BUILT_IN["codex"], states=chosen) == []


# -- through the daemon ----------------------------------------------------------------------------


@pytest.fixture
def daemon_environ() -> Iterator[dict[str, str]]:
    """Variables that give clients a daemon of their own, which ends with the test."""
    with tempfile.TemporaryDirectory(prefix="chd-", ignore_cleanup_errors=True) as folder:
        yield {"COGNEE_HOOKS_STATE_DIR": folder}
        daemon = Path(folder, "daemon")
        if (daemon / "socket").exists():
            assert control.stop(daemon, Deadline.after(2 * PATIENCE))


@pytest.fixture
def running_daemon(daemon_environ: dict[str, str]) -> dict[str, str]:
    """The same with the daemon running: how long it takes to come up is no subject here."""
    folder = Path(daemon_environ["COGNEE_HOOKS_STATE_DIR"], "daemon")
    assert control.start(folder, os.environ | daemon_environ, Deadline.after(2 * PATIENCE))
    return daemon_environ


def through_the_daemon(
    environ: dict[str, str], state: State, chosen: Sequence[Agent] = PRINTING
) -> list[Problem]:
    return [
        problem
        for agent in chosen
        for problem in check_agent(
            agent,
            samples_of(agent.name),
            command=CLIENT,
            states=[state],
            environ=environ,
            limits=LIMITS,
        )
    ]


@pytest.mark.parametrize(
    "state", [each for each in STATES if not each.plugin], ids=lambda state: state.name
)
def test_every_event_of_every_agent_is_answered_right_through_the_daemon(state, running_daemon):
    assert through_the_daemon(running_daemon, state) == []


@pytest.mark.parametrize(
    "state", [each for each in STATES if each.plugin], ids=lambda state: state.name
)
def test_the_daemon_contains_what_plugins_do(state, daemon_environ, tmp_path):
    environ = state.prepare("daemon", tmp_path, "", daemon_environ, LIMITS.recall_seconds)
    pid = spawn_detached([sys.executable, "-P", "-m", "cognee_hooks.daemon"], env=environ)
    socket = Path(daemon_environ["COGNEE_HOOKS_STATE_DIR"], "daemon", "socket")
    wait_until(socket.exists, "the daemon")
    # The clients know nothing of the plugin.
    calm = State(name=state.name, expects=state.expects)
    chosen = [BUILT_IN["codex"]] if state.name == "plugin sleeps" else PRINTING
    assert through_the_daemon(daemon_environ, calm, chosen) == []
    # It would wait for plugins that sleep.
    os.kill(pid, signal.SIGKILL)
    socket.unlink()


# -- three hundred prompts without a server -------------------------------------------------------


@agents
async def test_p01_three_hundred_prompts_without_a_server_are_all_let_through(
    agent, isolated_environment
):
    event, payload = prompt_event(agent)
    environ = {"HOME": str(isolated_environment), "COGNEE_BASE_URL": CLOSED, "COGNEE_API_KEY": "k"}
    session = session_id_of(agent, payload)
    told = set()
    for _ in range(300):
        # A host of its own each, as each prompt has a process of its own.
        host = Host(agent.name, environ=environ, session_id=session, entry_points=())
        async with asyncio.timeout(PATIENCE):
            prompt = await host.dispatch(
                agent.read(event, payload, session_id=session), Deadline.after(4)
            )
        answer = agent.answer(event, prompt.context, "")
        assert SHAPES[agent.name].problem(event, answer) == ""
        told.add(prompt.context)
        assert await host.close(Deadline.after(4)) == 0
    lines = {OUTAGE.format(why) for why in ("server unreachable", "circuit breaker open")}
    assert told == (lines if event in SHAPES[agent.name].context else {""})


# -- pipes that stay open -------------------------------------------------------------------------


WAYS = {"run": RUN, "client": CLIENT}
ways = pytest.mark.parametrize("way", WAYS)


async def hook(
    way: str, environ: dict[str, str], agent: Agent, event: str, data: bytes
) -> tuple[int | None, bytes, float]:
    """Run a hook whose standard input stays open behind what is written."""
    values = {"{agent}": agent.name, "{event}": event, "{empty}": agent.empty(event)}
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(values.get(part, part) for part in WAYS[way]),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={
            **os.environ,
            **ENVIRON,
            **environ,
            "COGNEE_BASE_URL": CLOSED,
            "COGNEE_API_KEY": "k",
        },
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(data)
    try:
        async with asyncio.timeout(2 * PATIENCE):
            out = await process.stdout.read()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process.stdin.close()
    return process.returncode, out, time.monotonic() - started


@ways
async def test_p02_a_payload_counts_as_soon_as_it_is_complete(way, daemon_environ):
    for agent in PRINTING:
        event, payload = prompt_event(agent)
        data = json.dumps(payload).encode()
        # Who waits for the pipe's end is never quicker; who does not, may be slow now and then.
        for _ in range(5):
            code, out, seconds = await hook(way, daemon_environ, agent, event, data)
            assert code == 0
            assert SHAPES[agent.name].problem(event, out.decode()) == ""
            if seconds < IDLE_SECONDS:
                break
        assert seconds < IDLE_SECONDS
        assert (b"recall skipped" in out) is (event in SHAPES[agent.name].context)


@ways
async def test_p02_a_pipe_that_says_nothing_or_half_of_it_is_given_up(way, daemon_environ):
    # Nothing of the agent matters here but its empty answer.
    chosen = list({agent.empty(prompt_event(agent)[0]): agent for agent in PRINTING}.values())
    for data in (b"", b'{"session_id": "s1", "prom'):
        runs = await asyncio.gather(
            *(hook(way, daemon_environ, agent, prompt_event(agent)[0], data) for agent in chosen)
        )
        for agent, (code, out, seconds) in zip(chosen, runs, strict=True):
            assert code == 0
            assert out.decode() == agent.empty(prompt_event(agent)[0])
            assert seconds < PATIENCE


# -- a slow server --------------------------------------------------------------------------------


@agents
async def test_p04_the_search_for_a_key_shares_the_prompts_budget(agent, isolated_environment):
    # No key is set, so one has to be asked for; every route answers after a minute.
    event, payload = prompt_event(agent)
    read = agent.read(event, payload, session_id="s")
    with states("slow")[0].server() as server:
        environ = {
            "HOME": str(isolated_environment),
            "COGNEE_LOCAL_API_URL": server.url,
            "COGNEE_RECALL_TIMEOUT_MS": "600",
        }
        host = Host(agent.name, environ=environ, session_id="s", entry_points=())
        started = time.monotonic()
        prompt = await host.dispatch(read)
        seconds = time.monotonic() - started
        await host.close(Deadline.after(0.2))
    assert seconds < PATIENCE
    wanted = event in SHAPES[agent.name].context
    assert prompt.context == (OUTAGE.format("server not responding") if wanted else "")
