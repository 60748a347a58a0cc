"""A scripted session of an agent, and what has to be in memory after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.support.command import payload

LONG = 24
"""Tool calls of a long session: more than the server lists of one kind."""
SAME = "the same output again"

Stored = tuple[str, str, str]
"""What tells entries apart: kind, question or tool, answer or outcome."""


def stored(entry: dict[str, Any]) -> Stored:
    """Return what tells a stored entry apart from others."""
    if entry["type"] == "qa":
        return "qa", entry["question"], entry["answer"]
    return "trace", entry["origin_function"], entry["method_return_value"]


def short(entry: Stored | None) -> str:
    """Return an entry in few words, for a person."""
    return "" if entry is None else f"{entry[0]} {entry[1][:30]!r} {entry[2][:40]!r}"


@dataclass(eq=False)
class Step:
    """One event of the agent.

    Attributes:
        event: Claude Code's name of it.
        payload: What the agent sends.
        entry: What is stored because of it; None for nothing.
        certain: Whether it has to be: set to False when it could not even be taken.
        pid: Process that handed it over, 0 before that; names of kept events end with it.
    """

    event: str
    payload: dict[str, Any]
    entry: Stored | None = None
    certain: bool = True
    pid: int = 0


@dataclass
class Script:
    """One session, step by step.

    Attributes:
        conversation: The agent's id of it.
        steps: Its events.
    """

    conversation: str
    steps: list[Step] = field(default_factory=list)

    @property
    def session_id(self) -> str:
        """Our id of it."""
        return f"claude_{self.conversation}"

    def doubt(self, step: Step) -> None:
        """Note that a step may have been lost, and with a prompt its answer."""
        step.certain = False
        if step.event == "UserPromptSubmit":
            rest = self.steps[self.steps.index(step) :]
            next(each for each in rest if each.event == "Stop").certain = False

    @property
    def expected(self) -> list[Step]:
        """Steps that leave an entry, in order."""
        return [step for step in self.steps if step.entry is not None]


def draw_script(random: Random, conversation: str, most: int = 99) -> Script:
    """Make up a session: some turns, each with some tool calls; most of them end.

    Args:
        random: Decides.
        conversation: The agent's id of it.
        most: Entries that it has at most.
    """
    script = Script(conversation)
    add = script.steps.append
    who = {"session_id": conversation}
    add(Step("SessionStart", payload("SessionStart.startup", **who)))
    long = random.random() < 0.06 and most > LONG
    number = 0
    for turn in range(1 if long else random.randint(1, 3)):
        prompt_id = f"{conversation}-{turn}"
        for _ in range(LONG if long else random.randint(0, 3)):
            number += 1
            add(_tool(random, who | {"prompt_id": prompt_id}, f"{conversation} call {number}"))
        _around(script, random, who | {"prompt_id": prompt_id}, f"{conversation} turn {turn}")
    if random.random() < 0.8:
        add(Step("SessionEnd", payload("SessionEnd.other", **who)))
    return script


def _around(script: Script, random: Random, who: dict[str, Any], mark: str) -> None:
    """Put a prompt before the tool calls of its turn, and its answer after them."""
    question, answer = f"What about {mark}?", f"This is about {mark}."
    if random.random() < 0.2:
        question, answer = "Is it done?", "It is done."  # as people ask again and again
    if random.random() < 0.2:
        answer += " \u00e4\u03a9\U0001f41f\n\n  with lines  \n of its own" * random.randint(1, 60)
    calls = [step for step in script.steps if step.payload.get("prompt_id") == who["prompt_id"]]
    position = script.steps.index(calls[0]) if calls else len(script.steps)
    prompt = Step("UserPromptSubmit", payload("UserPromptSubmit", prompt=question, **who))
    script.steps.insert(position, prompt)
    done = payload("Stop", last_assistant_message=answer, **who)
    script.steps.append(Step("Stop", done, ("qa", question, answer)))


def _tool(random: Random, who: dict[str, Any], mark: str) -> Step:
    command = f"look at {mark}"
    match random.randrange(5):
        case 0:  # the very same call with the very same outcome
            command = output = SAME
        case 1:  # more than the server keeps of an argument, which is cut there
            output = f"long {mark}"
            description = "x y " * 600
            call = {"command": command, "description": description}
            return _succeeded(who, call, output)
        case 2:
            return _failed(who, command, f"  Exit code 3\n{mark} \u2014 failed ")
        case 3:
            output = "\n".join(f"{mark} line {line}" for line in range(30))
        case _:
            output = f"seen {mark}"
    return _succeeded(who, {"command": command, "description": "look"}, output)


def _succeeded(who: dict[str, Any], call: dict[str, Any], output: str) -> Step:
    sent = payload("PostToolUse.Bash", tool_input=call, **who)
    sent["tool_response"] = sent["tool_response"] | {"stdout": output}
    outcome = f"{call['command']}\n{output}"
    return Step("PostToolUse", sent, ("trace", "Bash", outcome))


def _failed(who: dict[str, Any], command: str, error: str) -> Step:
    call = {"command": command, "description": "look"}
    sent = payload("PostToolUseFailure.Bash", tool_input=call, error=error, **who)
    outcome = f"{command}\n{error.strip()}"
    return Step("PostToolUseFailure", sent, ("trace", "Bash", outcome))


class Mismatch(AssertionError):
    """What is in memory is not what was captured, and never will be."""


class Missing(Mismatch):
    """Not everything is in memory that was captured; it may still come."""


def compare(expected: Sequence[Step], found: Sequence[Stored], buffered: int) -> int:
    """Compare what a session has to hold with what it holds.

    Args:
        expected: Steps that leave an entry, in their order.
        found: What is stored, in the order in which it was.
        buffered: Entries that still wait on this machine, and may lack at the end.

    Returns:
        How many entries are not stored although they are certain: they wait.

    Raises:
        Missing: Some are not there that do not wait either.
        Mismatch: One is stored twice, foreign, or out of order.
    """
    reached = {0}  # how far `expected` may be accounted for; uncertain steps leave a choice
    for number, entry in enumerate(found):
        before, reached = reached, _next(expected, reached, entry)
        if not reached:
            due = [short(step.entry) for step in expected[max(before) :]][:2]
            raise Mismatch(f"entry {number} of {len(found)} is {short(entry)}, due is {due}")
    missing = min(sum(step.certain for step in expected[each:]) for each in reached)
    if missing > buffered:
        lost = [step.entry for step in expected[max(reached) :] if step.certain]
        raise Missing(f"{missing} are missing, {buffered} wait; first: {short(lost[0])}")
    return missing


def _next(expected: Sequence[Step], reached: set[int], entry: Stored) -> set[int]:
    """Return how far `expected` may be accounted for with one more entry."""
    further = set()
    for start in reached:
        for position in range(start, len(expected)):
            if expected[position].entry == entry:
                further.add(position + 1)
            if expected[position].certain:
                break
    return further
