"""The kit finds what is wrong: adapters and commands that misbehave, one way each."""

from __future__ import annotations

import json
import re
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.agents.codex import Codex
from cognee_hooks.agents.cursor import Cursor
from cognee_hooks.agents.fields import origin, text
from cognee_hooks.events import Event, Stop, UserPromptSubmit
from cognee_hooks.results import Origin
from cognee_hooks.testing.agent_conformance import (
    STATES,
    Limits,
    Shape,
    State,
    assert_conforms,
    check_agent,
    installed_command,
    load_samples,
)
from cognee_hooks.testing.loopback import FACT
from cognee_hooks.testing.states import MARK

PROMPT = {"session_id": "s1", "cwd": "/home/user", "prompt": "How are refunds paid out here?"}
STOP = {"session_id": "s1", "cwd": "/home/user", "answer": "By hand."}
SAMPLES = {"prompt": [PROMPT], "stop": [STOP]}
CALM = Limits(recall_seconds=0.3, margin=30.0)
HEALTHY = State(name="healthy")
SHAPE = Shape(context={"prompt": "context"}, speaks=frozenset({"stop"}))


class Simple:
    """An adapter as short as one can be."""

    name = "simple"
    session_prefix = "simple"
    max_context_bytes = 500
    events: Any = ("prompt", "stop")

    def origin(self, payload) -> Any:
        return origin(payload, "session_id")

    def read(self, event, payload, *, session_id) -> Any:
        common = {"session_id": session_id, "agent": self.name}
        if event == "prompt":
            return UserPromptSubmit(**common, prompt=text(payload, "prompt"))
        if event == "stop":
            return Stop(**common, last_assistant_message=text(payload, "answer"))
        return None

    def answer(self, event, context, notice) -> Any:
        if event != "prompt" or not context:
            return self.empty(event)
        whole = context.encode("utf-8", "replace").decode()
        return json.dumps({"context": whole})

    def empty(self, event) -> Any:
        return "{}" if event == "stop" else ""


def messages(agent, samples=SAMPLES, **options) -> str:
    return "\n".join(map(str, check_agent(agent, samples, **options)))


def variant(**members) -> Any:
    return type("Variant", (Simple,), members)()


def test_a_good_adapter_has_no_problems():
    assert_conforms(Simple(), SAMPLES)
    assert_conforms(Simple(), SAMPLES, shape=SHAPE)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"name": "Not A Name"}, "name must be"),
        ({"session_prefix": "a/b"}, "session_prefix must"),
        ({"max_context_bytes": 0}, "max_context_bytes must be"),
        ({"shows_colour": "yes"}, "shows_colour must be"),
        ({"events": ["prompt", "stop"]}, "events must be a tuple"),
        ({"events": ("prompt", "")}, "events must be a tuple"),
        ({"events": ("prompt", "stop", "stop")}, "twice"),
        ({"events": ("prompt", "stop", "end")}, "no sample payload"),
    ],
)
def test_attributes_that_are_wrong_are_reported(members, expected):
    assert expected in messages(variant(**members))


def trusting(self, event, payload, *, session_id):
    if event not in self.events:
        return None
    return UserPromptSubmit(
        session_id=session_id, agent=self.name, prompt=payload["prompt"].strip()
    )


def careless(self, event, payload, *, session_id):
    if event not in self.events:
        return None
    return UserPromptSubmit(session_id=session_id, agent=self.name, prompt=payload.get("prompt"))


def forgetful(self, event, payload, *, session_id):
    return Stop(session_id="other") if event in self.events else None


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (trusting, "read() raises KeyError('prompt')"),
        (trusting, "raises AttributeError"),
        (careless, "prompt of the event has a wrong type"),
        (forgetful, "must carry the session_id"),
        (lambda self, event, payload, *, session_id: "text", "read() returns str"),
        (lambda self, event, payload, *, session_id: None, "uses no sample"),
        (
            lambda self, event, payload, *, session_id: Stop(session_id=session_id),
            "must return None for an event that it does not know",
        ),
    ],
)
def test_reading_that_goes_wrong_is_reported(read, expected):
    assert expected in messages(variant(read=read))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda self, payload: Origin(), "finds no conversation"),
        (lambda self, payload: Origin(conversation="s", cwd="here"), "no absolute path"),
        (lambda self, payload: None, "origin() gives None"),
        (lambda self, payload: Origin(conversation=payload["session_id"]), "KeyError"),
        (lambda self, payload: Origin(conversation=payload.get("session_id")), "else than text"),
    ],
)
def test_the_origin_is_checked(found, expected):
    assert expected in messages(variant(origin=found))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda self, event, context, notice: context, "not one JSON document"),
        (lambda self, event, context, notice: None, "not text"),
        (lambda self, event, context, notice: {}[event], "KeyError"),
        (lambda self, event, context, notice: '{"decision": "block"}', "never block"),
        (
            lambda self, event, context, notice: json.dumps({"context": context}),
            "half a surrogate pair",
        ),
        (lambda self, event, context, notice: '{"other": "x"}', "knows no other"),
        (lambda self, event, context, notice: '{"context": "cut"}', "arrive unchanged"),
        (lambda self, event, context, notice: "{}", "the same as empty()"),
    ],
)
def test_answers_that_are_wrong_are_reported(answer, expected):
    assert expected in messages(variant(answer=answer), shape=SHAPE)


def test_a_failure_lists_all_problems():
    with pytest.raises(AssertionError, match=r"simple does not conform:\n  \[adapter\] end: there"):
        assert_conforms(variant(events=("prompt", "stop", "end")), SAMPLES)


# -- commands --------------------------------------------------------------------------------------


def program(source: str) -> tuple[str, ...]:
    """A hook command that knows its event and reads what it is sent."""
    return (sys.executable, "-S", "-c", f"import sys; event = sys.argv[1]; {source}", "{event}")


def say(text: str) -> str:
    """Print an answer to the prompt and the right thing to the rest."""
    return f"sys.stdin.read(); print({text!r} if event == 'prompt' else '{{}}', end='')"


GOOD = json.dumps({"context": f"=== Cognee memory ===\n{FACT}\n=== End Cognee memory ==="})


def run_problems(source: str, state: State = HEALTHY, limits: Limits = CALM, **options: Any) -> str:
    return messages(
        Simple(),
        shape=SHAPE,
        command=program(source),
        states=[state],
        limits=limits,
        **options,
    )


def test_a_good_command_has_no_problems():
    assert run_problems(say(GOOD)) == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("sys.exit(2)", "ended with 2, not 0"),
        ("raise ValueError", "traceback"),
        (say("hello"), "not one JSON document"),
        (say(GOOD + "\n\n" + GOOD), "not one JSON document"),
        (say('{"other": "x"}'), "knows no other"),
        (say('{"context": 3}'), "must be text"),
        (say('{"context": "nothing to see"}'), "was told nothing, not memory"),
        (say(""), "was told nothing, not memory"),
        (say('{"context": "=== recall skipped ==="}'), "was told outage, not memory"),
        (say(json.dumps({"context": MARK})), "what a plugin printed reached the agent"),
        ("sys.stdin.read(); print('', end='')", "needs a document"),
        ("sys.stdout.buffer.write(b'\\xff')", "not one JSON document"),
    ],
)
def test_a_bad_command_is_found_out(source, expected):
    assert expected in run_problems(source)


def test_a_slow_command_is_found_out():
    quick = Limits(recall_seconds=0.3, margin=0.7)
    found = run_problems("import time; time.sleep(1.3); " + say(GOOD), limits=quick)
    assert re.search(r"took \d+\.\d s of 1\.0 s", found)


def test_without_memory_the_model_gets_one_line_or_none():
    offline = State(name="offline", mood="", expects="outage")
    empty = State(name="empty memory", mood="empty", expects="nothing")
    line = '{"context": "=== Cognee memory: recall skipped (x) ==="}'
    assert run_problems(say(line), offline) == ""
    assert run_problems(say(""), empty) == ""
    assert "told nothing, not outage" in run_problems(say(""), offline)
    assert "told memory, not nothing" in run_problems(say(GOOD), empty)
    two = '{"context": "recall skipped\\nand more"}'
    assert "more than one line" in run_problems(say(two), offline)


def test_an_own_check_is_asked_too():
    found = run_problems(
        say(GOOD), check_output=lambda event, output: f"odd {event}" if event == "stop" else ""
    )
    assert found == "[healthy] stop: odd stop"


def test_without_a_shape_memory_is_looked_for_where_the_adapter_puts_context():
    good = {"command": program(say(GOOD)), "states": [HEALTHY], "limits": CALM}
    assert messages(Simple(), **good) == ""
    bad = {**good, "command": program(say('{"context": "no"}'))}
    assert "not memory" in messages(Simple(), **bad)


def test_arguments_are_filled_in():
    source = (
        "import json, sys; "
        "print(json.dumps({'context': ' '.join(sys.argv)}) if sys.argv[2] == 'prompt' else '{}')"
    )
    seen = []
    command = (sys.executable, "-S", "-c", source, "{agent}", "{event}", "{empty}")
    check_agent(
        Simple(),
        SAMPLES,
        command=command,
        states=[HEALTHY],
        limits=CALM,
        check_output=lambda event, output: seen.append((event, output)) or "",
    )
    assert seen == [("prompt", '{"context": "-c simple prompt"}'), ("stop", "{}")]


def test_a_command_runs_in_an_environment_of_its_own(monkeypatch):
    monkeypatch.setenv("COGNEE_API_KEY", "of the developer")
    monkeypatch.setenv("SOME_TOKEN", "secret")
    source = "import os, json; print(json.dumps({'context': json.dumps(dict(os.environ))}))"
    seen: list[dict] = []

    def look(event: str, output: str) -> str:
        seen.append(json.loads(json.loads(output)["context"]))
        return ""

    check_agent(
        Simple(),
        SAMPLES,
        command=program(source),
        states=[HEALTHY],
        events=["prompt"],
        limits=CALM,
        environ={"EXTRA": "1"},
        check_output=look,
    )
    [environ] = seen
    assert environ["COGNEE_API_KEY"] == "conformance"
    assert environ["COGNEE_BASE_URL"].startswith("http://127.0.0.1:")
    assert environ["EXTRA"] == "1"
    assert "SOME_TOKEN" not in environ
    assert environ["HOME"].startswith("/tmp/ch-")


def processes_with(mark: str) -> list[str]:
    """Processes in whose environment a text stands."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in file.read_bytes():
                found.append(file.parent.name)
    return found


def test_the_daemon_that_a_command_starts_ends_with_the_state():
    mark = f"mark-{uuid.uuid4()}"
    seen: list[int] = []

    def look(event: str, output: str) -> str:
        seen.append(len(processes_with(mark)))
        return ""

    problems = check_agent(
        Codex(),
        {"Stop": [{"session_id": "s1", "cwd": "/"}]},
        command=installed_command(),
        states=[HEALTHY],
        events=["Stop", "Stop"],
        environ={"COGNEE_MARK": mark},
        check_output=look,
    )
    assert [problem for problem in problems if problem.where != "adapter"] == []
    assert seen == [1, 1]
    assert processes_with(mark) == []


def test_states_are_told_apart_by_name():
    assert len({state.name for state in STATES}) == len(STATES)


# -- samples ---------------------------------------------------------------------------------------


def test_samples_are_read_by_the_event_in_their_name(tmp_path):
    (tmp_path / "stop.json").write_text(json.dumps(STOP))
    (tmp_path / "prompt.first.json").write_text(json.dumps(PROMPT))
    (tmp_path / "prompt.second.json").write_text(json.dumps(PROMPT))
    samples = load_samples(tmp_path)
    assert {event: len(found) for event, found in samples.items()} == {"prompt": 2, "stop": 1}
    files = {"prompt": [tmp_path / "prompt.first.json"], "stop": [tmp_path / "stop.json"]}
    assert check_agent(Simple(), files) == []


def test_a_sample_that_is_no_object_is_refused(tmp_path):
    (tmp_path / "stop.json").write_text("[]")
    with pytest.raises(ValueError, match="holds no JSON object"):
        load_samples(tmp_path)


def test_built_in_agents_are_known_by_name():
    assert "no sample" in messages(Codex(), {"Stop": [{"session_id": "s"}]})
    assert isinstance(Cursor().read("stop", {}, session_id="s"), Event)
