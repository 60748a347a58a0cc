"""What the conformance kit asks of an agent's hook command, in every state."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import Event, SessionEnd, UserPromptSubmit
from cognee_hooks.guard import attempt
from cognee_hooks.results import Agent
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import Completed
from cognee_hooks.services.process import run as run_program
from cognee_hooks.testing.adapter_rules import SESSION_ID, Samples, answer_problem
from cognee_hooks.testing.loopback import FACT
from cognee_hooks.testing.problems import Problem
from cognee_hooks.testing.shapes import Shape, value_at
from cognee_hooks.testing.states import MARK, State

OUTAGE = "recall skipped"
"""Part of the line that says why there is no memory."""
END_SECONDS = 9.0
OTHER_SECONDS = 4.0
"""Budgets of the end of a session and of all events but a prompt, sending included."""
HANG_SECONDS = 60.0
BOOT_SECONDS = 10.0
"""How long a daemon that a command started may take to listen."""
MIN_PROMPT = 20
"""Characters that a sample prompt needs before memory is expected for it."""

CheckOutput = Callable[[str, str], str]
"""Gets an event and what was printed; says in one line what is wrong, or ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long runs of a hook command may take.

    Attributes:
        recall_seconds: Budget of a prompt.
        margin: Seconds that a process may take besides its budget, its start included; by default
            enough for a machine that is busy with tests.
        parallel: How many states are played at the same time.
    """

    recall_seconds: float = 1.5
    margin: float = 15.0
    parallel: int = 2

    def seconds(self, read: Event | None) -> float:
        """Return what the process may take in all for an event."""
        if isinstance(read, UserPromptSubmit):
            return self.recall_seconds + self.margin
        return (END_SECONDS if isinstance(read, SessionEnd) else OTHER_SECONDS) + self.margin


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCommand:
    """How hooks are run.

    Attributes:
        argv: Program and arguments. ``{agent}``, ``{event}`` and ``{empty}`` are replaced by the
            adapter's name, the event, and the answer that changes nothing; an argument that becomes
            empty is left out.
        environ: Variables of the process beside those of the state.
        limits: How long it may take.
    """

    argv: Sequence[str]
    environ: Mapping[str, str]
    limits: Limits

    def of(self, agent: Agent, event: str) -> list[str]:
        """Return what is run for an event."""
        values = {"{agent}": agent.name, "{event}": event, "{empty}": agent.empty(event)}
        return [each for each in (values.get(part, part) for part in self.argv) if each]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is checked of each run.

    Attributes:
        agent: The adapter.
        shape: What the agent takes as an answer, if that is known.
        check_output: Further check, or None.
    """

    agent: Agent
    shape: Shape | None
    check_output: CheckOutput | None


async def check_command(
    rules: Rules,
    samples: Samples,
    command: HookCommand,
    states: Sequence[State],
    events: Sequence[str],
) -> list[Problem]:
    """Play a session in every state, and return what went wrong."""
    room = asyncio.Semaphore(command.limits.parallel)

    async def play(state: State) -> list[Problem]:
        async with room:
            return await _session(rules, samples, command, state, events)

    played = await asyncio.gather(*map(play, states))
    return [problem for problems in played for problem in problems]


async def _session(
    rules: Rules, samples: Samples, command: HookCommand, state: State, events: Sequence[str]
) -> list[Problem]:
    """Run the hooks of a session one after the other, as an agent does."""
    agent = rules.agent
    problems: list[Problem] = []
    with tempfile.TemporaryDirectory(prefix="ch-") as folder, state.server() as server:
        url = server.url if server else ""
        home = Path(folder)
        environ = state.prepare(
            agent.name, home, url, command.environ, command.limits.recall_seconds
        )
        for event in events:
            payload, read = _chosen(agent, event, samples.get(event, ()))
            started = time.monotonic()
            done = await run_program(
                command.of(agent, event),
                deadline=Deadline.after(HANG_SECONDS),
                cwd=home,
                env=environ,
                input=json.dumps(payload).encode(),
            )
            seconds = time.monotonic() - started
            found = [
                *_process_problems(done, seconds, command.limits.seconds(read)),
                *_output_problems(rules, event, read, done.stdout, state),
            ]
            problems += [Problem(state.name, event, message) for message in found]
        await asyncio.to_thread(_end_daemon, Paths.of(environ, "daemon").daemon_dir, home)
    return problems


def _end_daemon(folder: Path, home: Path) -> None:
    """End the daemon that the command may have started, unless it is one that others share."""
    if not folder.is_relative_to(home) or not folder.exists():
        return
    # It may still be on its way.
    until = Deadline.after(BOOT_SECONDS)
    while not (folder / "socket").exists():
        if until.expired:
            return
        time.sleep(0.05)
    control.stop(folder, Deadline.after(HANG_SECONDS))


def _chosen(
    agent: Agent, event: str, payloads: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Event | None]:
    """Return the first sample that becomes an event, a prompt for which memory is due if any."""
    chosen: tuple[Mapping[str, Any], Event | None] = (payloads[0] if payloads else {}, None)
    for payload in payloads:
        read = attempt(lambda each=payload: agent.read(event, each, session_id=SESSION_ID)).result
        if _wants_memory(read):
            return payload, read
        if chosen[1] is None and isinstance(read, Event):
            chosen = payload, read
    return chosen


def _wants_memory(read: Event | None) -> bool:
    return (
        isinstance(read, UserPromptSubmit)
        and not (read.machine_made or read.replayed or read.agent_id)
        and len(read.prompt) >= MIN_PROMPT
        and not read.prompt.startswith("/")
    )


def _process_problems(done: Completed, seconds: float, budget: float) -> list[str]:
    found = []
    if done.returncode is None:
        found.append(f"the command did not end within {HANG_SECONDS:g} s")
    elif done.returncode != 0:
        found.append(f"the command ended with {done.returncode}, not 0: {_text(done.stderr)!r}")
    elif seconds > budget:
        found.append(f"the command took {seconds:.1f} s of {budget:.1f} s")
    if b"Traceback" in done.stderr:
        found.append(f"the command wrote a traceback: {_text(done.stderr)[-300:]!r}")
    return found


def _output_problems(
    rules: Rules, event: str, read: Event | None, output: bytes, state: State
) -> list[str]:
    # A line's end behind the document is no other output.
    document = _text(output).removesuffix("\n")
    if MARK in document:
        return [f"what a plugin printed reached the agent: {document[:200]!r}"]
    wrong = answer_problem(event, document, rules.shape)
    if not wrong and rules.check_output is not None:
        wrong = rules.check_output(event, document)
    if not wrong and not document and rules.agent.empty(event):
        wrong = "nothing was printed, but the agent needs a document"
    if wrong:
        return [wrong]
    if not _wants_memory(read) or not _takes_context(rules, event):
        return []
    return _memory_problems(_context(rules, event, document), state.expects)


def _takes_context(rules: Rules, event: str) -> bool:
    if rules.shape is not None:
        return event in rules.shape.context
    return MARK in rules.agent.answer(event, MARK, "")


def _context(rules: Rules, event: str, document: str) -> str:
    """Return the text for the model; where the shape does not say where it is, the document."""
    if rules.shape is None or not document:
        return document
    found = value_at(json.loads(document), rules.shape.context[event])
    return found if isinstance(found, str) else ""


def _memory_problems(context: str, expects: str) -> list[str]:
    told = "memory" if FACT in context else "outage" if OUTAGE in context else "nothing"
    if expects not in {told, "anything"}:
        return [f"the model was told {told}, not {expects}: {context[:200]!r}"]
    if told == "outage" and "\n" in context:
        return [f"an outage takes more than one line: {context[:200]!r}"]
    return []


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
