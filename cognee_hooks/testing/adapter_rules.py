"""What the conformance kit asks of an adapter itself, without running anything."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cognee_hooks.agents import session_id_of
from cognee_hooks.events import Event
from cognee_hooks.guard import attempt
from cognee_hooks.results import Agent, Origin
from cognee_hooks.testing.problems import Problem
from cognee_hooks.testing.shapes import Shape, form_problem, value_at

Samples = Mapping[str, Sequence[Mapping[str, Any]]]
"""Payloads by the agent's name of their event."""

SESSION_ID = "kit_s1"
CONTEXT = "=== Cognee memory ===\nconformance\n=== End Cognee memory ==="
NOTICE = "Cognee memory: conformance."
STRANGE_EVENTS = ("", "nonsense", "\ud800", "Stop\n", "x" * 10_000)

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{0,120}")
_HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    float("nan"),
    "",
    "\0",
    "half a pair \ud800",
    "../../etc/passwd",
    "x" * 100_000,
    [],
    [[[{}]]],
    {},
    {"error": [], "content": {"text": 3}, "isError": True, "resultType": 0},
)
"""What stands in the place of each field in turn."""
_TEXTS = (
    "plain",
    'quotes " and \\ and {"continue": false}',
    "lines\nand\ttabs\r\n\u2028\x7f",
    "\U0001f9e0 äöü 記憶",
    "half a pair \ud800",
)


def check_adapter(agent: Agent, samples: Samples, shape: Shape | None) -> Iterator[Problem]:
    """Yield what is wrong with an adapter.

    Args:
        agent: The adapter.
        samples: Payloads.
        shape: What the agent takes as an answer; None checks the form alone.
    """
    yield from _attributes(agent)
    for event in agent.events:
        payloads = samples.get(event, ())
        if not payloads:
            yield _problem(event, "there is no sample payload")
        elif not any(_read(agent, event, payload) for payload in payloads):
            yield _problem(event, "read() uses no sample, but events names the event")
    for event, payloads in samples.items():
        for payload in payloads:
            yield from _sample(agent, event, payload)
            yield from _hostile(agent, event, payload)
    for event in STRANGE_EVENTS:
        yield from _unknown(agent, event)
    for event in (*agent.events, *STRANGE_EVENTS):
        yield from _answers(agent, event, shape)


def _problem(event: str, message: str) -> Problem:
    return Problem("adapter", event[:40].encode("ascii", "replace").decode(), message)


def _attributes(agent: Any) -> Iterator[Problem]:  # what it is said to be is what is checked
    if not _NAME.fullmatch(agent.name):
        yield _problem("", f"name must be lower-case words joined by hyphens, not {agent.name!r}")
    if not _PREFIX.fullmatch(agent.session_prefix):
        yield _problem("", f"session_prefix must fit into an id, not {agent.session_prefix!r}")
    if not isinstance(agent.max_context_bytes, int) or agent.max_context_bytes <= 0:
        yield _problem("", "max_context_bytes must be a number above 0")
    if not isinstance(getattr(agent, "shows_colour", False), bool):
        yield _problem("", "shows_colour must be True or False where it is there")
    if not isinstance(agent.events, tuple) or not all(
        isinstance(event, str) and event for event in agent.events
    ):
        yield _problem("", "events must be a tuple of names")
    elif len(set(agent.events)) != len(agent.events):
        yield _problem("", "events names an event twice")


def _read(agent: Agent, event: str, payload: Mapping[str, Any]) -> Any:
    return attempt(lambda: agent.read(event, payload, session_id=SESSION_ID)).result


def _sample(agent: Agent, event: str, payload: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _outcome(agent, event, payload, "a sample")
    origin = attempt(agent.origin, payload).result
    if isinstance(origin, Origin) and not origin.conversation:
        yield _problem(event, "origin() finds no conversation in a sample")
    read = _read(agent, event, payload)
    if isinstance(read, Event) and (read.session_id, read.agent) != (SESSION_ID, agent.name):
        yield _problem(event, "the event must carry the session_id that was given, and the name")


def _hostile(agent: Agent, event: str, payload: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _outcome(agent, event, {}, "an empty payload")
    for field in payload:
        for value in _HOSTILE:
            spoiled = {**payload, field: value}
            what = f"a payload whose {field} is {str(value)[:30]!a} ({type(value).__name__})"
            yield from _outcome(agent, event, spoiled, what)


def _outcome(agent: Agent, event: str, payload: Mapping[str, Any], what: str) -> Iterator[Problem]:
    """Check what reading one payload comes to."""
    read = attempt(lambda: agent.read(event, payload, session_id=SESSION_ID))
    if read.error is not None:
        yield _problem(event, f"read() raises {read.error!r} for {what}")
    elif read.result is not None and not isinstance(read.result, Event):
        yield _problem(event, f"read() returns {type(read.result).__name__} for {what}")
    elif read.result is not None:
        wrong = _wrong_fields(read.result)
        if wrong:
            yield _problem(event, f"{wrong} of the event has a wrong type for {what}")
    origin = attempt(agent.origin, payload)
    if not isinstance(origin.result, Origin):
        yield _problem(event, f"origin() gives {origin.error or origin.result!r} for {what}")
        return
    found: Mapping[str, Any] = dataclasses.asdict(origin.result)
    cwd = found["cwd"]
    if not all(isinstance(value, str) for value in found.values()):
        yield _problem(event, f"origin() gives something else than text for {what}")
    elif cwd and not cwd.startswith("/"):
        yield _problem(event, f"origin() gives a folder that is no absolute path for {what}")
    elif not _SAFE_ID.fullmatch(session_id_of(agent, payload)):
        yield _problem(event, f"the session id is not safe for {what}")


def _wrong_fields(event: Event) -> str:
    """Return the names of fields whose value is not what the event's class says."""
    kinds: dict[str, Any] = {"str": str, "bool": bool, "Mapping[str, Any]": Mapping}
    return ", ".join(
        each.name
        for each in dataclasses.fields(event)
        if each.type in kinds and not isinstance(getattr(event, each.name), kinds[each.type])
    )


def _unknown(agent: Agent, event: str) -> Iterator[Problem]:
    read = attempt(lambda: agent.read(event, {"prompt": "x"}, session_id=SESSION_ID))
    if read.error is not None or read.result is not None:
        yield _problem(event, "read() must return None for an event that it does not know")


def _answers(agent: Agent, event: str, shape: Shape | None) -> Iterator[Problem]:
    empty = attempt(agent.empty, event)
    said = [("", "")] + [(text, "") for text in _TEXTS] + [("", text) for text in _TEXTS]
    said += [(CONTEXT, NOTICE), ("m" * agent.max_context_bytes, "")]
    if attempt(agent.answer, event, "", "").result != empty.result:
        yield _problem(event, "answer() with nothing to say must be the same as empty()")
    for context, notice in said:
        what = f"answer(context={context[:20]!a}, notice={notice[:20]!a})"
        given = attempt(agent.answer, event, context, notice)
        if not isinstance(given.result, str):
            yield _problem(event, f"{what} gives {given.error or given.result!r}, not text")
            continue
        wrong = answer_problem(event, given.result, shape if event in agent.events else None)
        if wrong:
            yield _problem(event, f"{what}: {wrong}")
        elif event in agent.events and shape and context:
            yield from _context_kept(event, given.result, context, shape)


def _context_kept(event: str, answer: str, context: str, shape: Shape) -> Iterator[Problem]:
    if event not in shape.context or "\ud800" in context:
        return
    document = json.loads(answer) if answer else {}
    if value_at(document, shape.context[event]) != context:
        yield _problem(event, f"the context must arrive unchanged at {shape.context[event]}")


def answer_problem(event: str, output: str, shape: Shape | None) -> str:
    """Say what is wrong with an answer; "" where it is right."""
    return shape.problem(event, output) if shape else form_problem(output)
