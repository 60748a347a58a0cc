from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks import events
from cognee_hooks.agents import BUILT_IN, session_id_of
from cognee_hooks.agents.pi import CONTEXT_EVENTS, Pi
from cognee_hooks.daemon.thin_client import VERSION

DATA = Path(__file__).parents[2] / "data" / "pi"
PAYLOADS = sorted(DATA.glob("*/*.json"))
EXTENSION = Path(__file__).parents[3] / "cognee_hooks" / "agents" / "pi_extension.ts"
SID = "pi_s1"
KINDS = {
    "session_start": events.SessionStart,
    "before_agent_start": events.UserPromptSubmit,
    "message_end": events.UserPromptSubmit,
    "agent_end": events.Stop,
    "agent_settled": events.Stop,
    "session_before_compact": events.PreCompact,
    "session_compact": events.SessionStart,
    "session_shutdown": events.SessionEnd,
}
agent = Pi()


def ids(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def payload(name: str, version: str = "1.6.0") -> dict:
    return json.loads((DATA / version / f"{name}.json").read_text())


def read(name: str, **changes: object):
    document = payload(name) | changes
    return agent.read(name.partition(".")[0], document, session_id=SID)


def test_it_is_registered_under_its_name():
    assert BUILT_IN["pi"].session_prefix == "pi"
    assert BUILT_IN["pi"].max_context_bytes <= 10_000


@pytest.mark.parametrize("path", PAYLOADS, ids=ids)
def test_every_captured_payload_becomes_an_event(path):
    name = path.stem.partition(".")[0]
    document = json.loads(path.read_text())
    event = agent.read(name, document, session_id=SID)
    if path.stem == "session_shutdown.reload":
        assert event is None
        return
    failed = path.stem.endswith("failed")
    tool = events.PostToolUseFailure if failed else events.PostToolUse
    assert type(event) is KINDS.get(name, tool)
    assert (event.session_id, event.agent) == (SID, "pi")
    assert event.cwd == "/home/user/project"
    assert event.transcript_path == document["sessionFile"]
    assert event.prompt_id == document.get("promptId", "")


@pytest.mark.parametrize("path", PAYLOADS, ids=ids)
def test_every_captured_payload_says_where_it_comes_from(path):
    document = json.loads(path.read_text())
    origin = agent.origin(document)
    assert origin.conversation == document["sessionId"]
    assert origin.cwd == "/home/user/project"
    assert session_id_of(agent, document) == f"pi_{document['sessionId']}"
    assert re.fullmatch(r"[0-9]{20}-[0-9]+-[0-9]+|e1", document["eventId"])


def test_there_are_payloads_of_every_event():
    assert {path.stem.partition(".")[0] for path in PAYLOADS} == set(agent.events)


@pytest.mark.parametrize(
    ("reason", "resumed", "source"),
    [
        ("startup", False, "startup"),
        ("startup", True, "resume"),  # pi --continue
        ("reload", False, "startup"),
        ("reload", True, "resume"),
        ("new", False, "startup"),
        ("resume", True, "resume"),
        ("resume", False, "resume"),
        ("fork", True, "fork"),
        ("", False, "startup"),
        ("unheard of", True, "resume"),
    ],
)
def test_a_start_says_whether_the_session_is_a_new_one(reason, resumed, source):
    event = read("session_start.startup", reason=reason, resumed=resumed)
    assert event.source == source
    assert event.model == "small"


def test_after_a_compaction_the_session_starts_again():
    assert read("session_compact").source == "compact"


def test_a_prompt_is_the_users_unless_an_extension_made_it():
    event = read("before_agent_start")
    assert event.prompt.startswith("Please read the notes")
    assert not event.machine_made
    assert read("before_agent_start.custom").machine_made


def test_a_prompt_that_comes_while_the_agent_works_is_a_prompt():
    event = read("message_end")
    assert event.prompt == "And what comes next?"
    assert event.prompt_id
    assert not event.machine_made


def test_a_tool_call_carries_what_went_in_and_came_out():
    event = read("tool_execution_end.bash")
    assert event.tool_name == "bash"
    assert event.tool_input == {"command": "ls; echo done"}
    assert event.tool_response == "notes.txt\ndone\n"
    assert event.tool_use_id.startswith("call_")
    assert event.duration_ms >= 0


def test_a_failed_call_carries_its_error():
    assert "code 3" in read("tool_execution_end.bash-failed").error
    refused = read("tool_execution_end.unheard_of-failed")
    assert (refused.tool_name, refused.error) == ("unheard_of", "Tool unheard_of not found")


@pytest.mark.parametrize("version", ["0.73.1", "1.6.0"])
def test_the_end_of_a_turn_carries_the_answer(version):
    name = "agent_end" if version == "0.73.1" else "agent_settled"
    event = agent.read(name, payload(name, version), session_id=SID)
    assert event.last_assistant_message == "I read notes.txt and replaced beta by gamma."


@pytest.mark.parametrize(
    ("reason", "instructions", "trigger"),
    [
        ("manual", None, "manual"),
        ("threshold", None, "auto"),
        ("overflow", None, "auto"),
        (None, None, "auto"),
        (None, "keep names", "manual"),  # releases that give no reason
    ],
)
def test_a_compaction_says_whether_a_person_asked_for_it(reason, instructions, trigger):
    event = read("session_before_compact", reason=reason, customInstructions=instructions)
    assert (event.trigger, event.custom_instructions) == (trigger, instructions or "")


def test_a_session_ends_for_a_reason():
    assert read("session_shutdown.quit").reason == "quit"
    assert read("session_shutdown.new").reason == "new"
    assert read("session_shutdown.quit", reason=None).reason == "other"


def test_loading_the_extensions_again_ends_nothing():
    assert read("session_shutdown.reload") is None


def test_an_unknown_event_is_not_used():
    assert agent.read("turn_end", payload("agent_end"), session_id=SID) is None


@pytest.mark.parametrize("event", agent.events)
def test_context_is_given_only_where_the_extension_can_use_it(event):
    answer = json.loads(agent.answer(event, "remembered", "careful"))
    assert answer.pop("notice") == "careful"
    assert answer == ({"context": "remembered"} if event in CONTEXT_EVENTS else {})
    assert agent.answer(event, "", "") == agent.empty(event) == "{}"


@given(
    st.sampled_from([*agent.events, "unheard_of"]),
    st.dictionaries(
        st.sampled_from(sorted({key for path in PAYLOADS for key in json.loads(path.read_text())})),
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()),
    ),
)
def test_payloads_of_any_shape_do_no_harm(event, document):
    agent.origin(document)
    read = agent.read(event, document, session_id=SID)
    assert read is None or isinstance(read, events.Event)


# -- what the installer and reviewers rely on in the extension ------------------------------------


def test_the_extension_is_small_and_begins_as_the_installer_expects():
    source = EXTENSION.read_text()
    lines = source.splitlines()
    assert len(lines) < 225
    assert lines[0] == '// cognee-hooks extension for pi; installed by "cognee-hooks install pi"'
    assert lines.count("const LAUNCHER: string[] = [];") == 1


def test_the_extension_has_the_packages_version():
    assert f'const VERSION = "{VERSION}";' in EXTENSION.read_text().splitlines()


def test_the_extension_imports_nothing_but_node():
    imported = re.findall(r'^import (type )?.* from "(.*)";$', EXTENSION.read_text(), re.MULTILINE)
    assert len(imported) == EXTENSION.read_text().count("import ")
    assert all(types or name.startswith("node:") for types, name in imported)


def test_the_extension_keeps_nothing_between_sessions_in_its_module():
    # Newer releases of pi keep a module when they switch the session, older ones do not.
    module = EXTENSION.read_text().partition("export default")[0]
    assert not re.search(r"^(let|var) ", module, re.MULTILINE)
