"""Does an agent adapter keep the promises? A manual for authors of adapters, and the test of them.

An adapter translates between one agent and this package: it reads the payloads that the agent's
hooks get into events (`cognee_hooks.events`), and writes what plugins found into the answer that
the agent takes. Write one in four steps.

1. **Collect payloads.** Let the agent run a hook that saves its standard input, for every event and
   every variant, and keep each as ``<event>.<variant>.json``. Documentation will do where the agent
   cannot be run; say so.
2. **Write a class** with the attributes and methods of `cognee_hooks.results.Agent`. It holds no
   state, imports nothing heavy, and trusts no field of a payload: a missing or odd one is ``""``, 0
   or empty, never an exception. ``read`` returns None for events that are not used. What the agent
   writes through its prompt event is ``machine_made``. A turn that ends without an answer must
   still end, as a ``Stop`` without text, or its prompt is stored with the next turn's answer.
   ``answer`` puts context only where the agent takes it and does not go on because of it;
   ``empty`` is what the agent takes for "nothing to say", which for some agents is a document.
3. **Register it** from a plugin, with the hook ``cognee_register_agents``. From then on
   ``cognee-hooks run <name> <event>`` passes an event on.
4. **Test it** with this kit::

       SAMPLES = load_samples(Path("payloads"))

       def test_the_adapter_conforms():
           assert_conforms(MyAgent(), SAMPLES, command=RUN)

       def test_it_conforms_as_installed():
           calm = [state for state in STATES if not state.plugin]
           assert_conforms(MyAgent(), SAMPLES, command=installed_command(), states=calm)

Without ``command`` the kit looks at the adapter alone, which takes well under a second: payloads
with every field spoiled in turn, unknown events, texts that are hard to write down, the size limit.
With it, the kit plays a whole session through the hook command in each of the states in `STATES`: a
server that is well, empty, slow, gone or refuses the key, a broken configuration, and plugins that
raise, sleep, print, or break on import. Each run must exit with 0 inside its budget, print what the
agent takes for that event and nothing else, and never stop the agent from doing anything; the model
must get what is remembered, or at most one line that says why there is nothing.

`RUN` starts everything anew for each event. `installed_command` is what agents run: it hands the
event to a daemon, which the kit ends again; that daemon looks for plugins where they are installed,
so states that bring one of their own show nothing there.

What the agent takes can be said as a `Shape`; then any other key is a problem too, which some
agents punish by ignoring the whole answer. Give ``check_output`` for what a shape cannot say.

The states need no network beyond loopback, no real home folder, and no variable of the process that
runs the tests.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cognee_hooks.install.command import launcher_argv
from cognee_hooks.results import Agent
from cognee_hooks.testing.adapter_rules import Samples, check_adapter
from cognee_hooks.testing.command_rules import (
    CheckOutput,
    HookCommand,
    Limits,
    Rules,
    check_command,
)
from cognee_hooks.testing.problems import Problem
from cognee_hooks.testing.shapes import SHAPES, Shape
from cognee_hooks.testing.states import STATES, State

__all__ = [
    "LIMITS",
    "RUN",
    "SHAPES",
    "STATES",
    "Limits",
    "Problem",
    "Shape",
    "State",
    "assert_conforms",
    "check_agent",
    "installed_command",
    "load_samples",
]

RUN: tuple[str, ...] = (sys.executable, "-m", "cognee_hooks", "run", "{agent}", "{event}")
"""The hook command that needs nothing but an installed package."""
LIMITS = Limits()
"""What holds where a test says nothing else."""


def check_agent(
    agent: Agent,
    samples: Mapping[str, Sequence[Mapping[str, Any] | Path]],
    *,
    shape: Shape | None = None,
    check_output: CheckOutput | None = None,
    command: Sequence[str] = (),
    states: Sequence[State] = STATES,
    events: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> list[Problem]:
    """Check an adapter, and return what is wrong with it.

    Not to be called from a running event loop: it runs one.

    Args:
        agent: The adapter.
        samples: Payloads, or files that hold one, by the agent's name of their event. Every event
            of the adapter needs one; for a prompt, one that the user typed, of a sentence or more.
        shape: What the agent takes as an answer. Without one, that of the built-in agent of this
            name counts, and for other agents only what holds for all.
        check_output: Gets an event and what a run printed; returns what is wrong, or "".
        command: What the agent runs for an event, such as `RUN`. ``{agent}``, ``{event}`` and
            ``{empty}`` are replaced; nothing is run where it is empty.
        states: The states to play a session in.
        events: The events of that session; those of the adapter by default.
        environ: Further variables for the command.
        limits: How long a run may take.

    Returns:
        The problems, in the order in which they were found; none where all is well.

    Raises:
        OSError: A sample cannot be read, or the command not be started.
        ValueError: A sample is no JSON object.
    """
    payloads = {event: [_payload(each) for each in found] for event, found in samples.items()}
    known = shape or SHAPES.get(agent.name)
    problems = list(check_adapter(agent, payloads, known))
    if not command:
        return problems
    run = HookCommand(argv=command, environ=environ or {}, limits=limits)
    rules = Rules(agent=agent, shape=known, check_output=check_output)
    session = agent.events if events is None else events
    return problems + asyncio.run(check_command(rules, payloads, run, states, session))


def assert_conforms(
    agent: Agent, samples: Mapping[str, Sequence[Mapping[str, Any] | Path]], **options: Any
) -> None:
    """Fail with the list of problems, if there is any.

    Args:
        agent: The adapter.
        samples: Payloads by event.
        options: Those of `check_agent`.

    Raises:
        AssertionError: The adapter does not conform.
    """
    problems = check_agent(agent, samples, **options)
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise AssertionError(f"the adapter {agent.name} does not conform:\n{lines}")


def installed_command() -> tuple[str, ...]:
    """Return the hook command that installers write into an agent's settings.

    Raises:
        InstallRefused: No such command can run here.
    """
    return (*launcher_argv(), "{agent}", "{event}", "{empty}")


def load_samples(folder: Path) -> Samples:
    """Read the payloads in a folder, whose files are named ``<event>[.<variant>].json``.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file holds no JSON object.
    """
    samples: dict[str, list[Mapping[str, Any]]] = {}
    for path in sorted(folder.glob("*.json")):
        samples.setdefault(path.stem.partition(".")[0], []).append(_payload(path))
    return samples


def _payload(sample: Mapping[str, Any] | Path) -> Mapping[str, Any]:
    if isinstance(sample, Mapping):
        return sample
    document = json.loads(sample.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise ValueError(f"{sample} holds no JSON object")  # noqa: TRY004 - it is about content
    return document
