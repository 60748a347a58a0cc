from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cognee_hooks.history import waiting as module
from cognee_hooks.history.sessions import known_sessions, state_folders
from cognee_hooks.history.waiting import quarantined_files, waiting_files
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths

NOW = 1_750_000_000.0


@pytest.fixture
def environ(isolated_environment):
    return dict(os.environ)


def put(environ, agent: str, session_id: str, content: object, folder: str = "") -> Path:
    path = Paths.of(environ, agent).bridge_dir / folder / f"{session_file_stem(session_id)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def entry(seconds: float = 0, **more: object) -> dict[str, object]:
    return {"sealed": "abc", "seq": 1, "_buffered_at": int((NOW - seconds) * 1000), **more}


def record(environ, agent: str, session_id: str) -> None:
    paths = Paths.of(environ, agent)
    ledger = Ledger(paths.ledger_dir, agent, paths.key_file)
    ledger.record(session_id, Act.CAPTURED, "qa")


def waiting(environ):
    sessions = {each.stem: each for each in known_sessions(environ)}
    return waiting_files(environ, sessions, now=NOW)


def test_a_folder_that_the_person_chose_is_looked_into_once(environ, tmp_path):
    chosen = environ | {"COGNEE_HOOKS_STATE_DIR": str(tmp_path)}
    assert [each.state_dir for each in state_folders(chosen)] == [tmp_path]
    put(chosen, "codex", "codex_1", {"entries": [entry()]})
    (found,) = waiting(chosen)
    assert found.agent == ""
    record(chosen, "codex", "codex_1")
    (found,) = waiting(chosen)
    assert (found.agent, found.session_id) == ("codex", "codex_1")


def test_without_any_folder_nothing_waits(environ):
    assert waiting(environ) == []


def test_what_waits_is_told_with_session_and_age_the_oldest_first(environ):
    record(environ, "claude-code", "claude_1")
    put(environ, "claude-code", "claude_1", {"entries": [entry(5), entry(60)], "fail_count": 0})
    put(environ, "codex", "codex_1", {"entries": [entry(3600)]})
    codex, claude = waiting(environ)
    assert (codex.agent, codex.session_id, codex.entries) == ("codex", "", 1)
    assert (claude.agent, claude.session_id, claude.entries) == ("claude-code", "claude_1", 2)
    assert (codex.oldest, claude.oldest) == (NOW - 3600, NOW - 60)


def test_entries_that_pi_cognee_left_tell_their_session_themselves(environ):
    put(environ, "pi", "pi_1", {"entries": [entry(1, sessionId="pi_\x1b[2J1")]})
    (found,) = waiting(environ)
    assert (found.agent, found.session_id) == ("pi", "pi_1")


@pytest.mark.parametrize(
    ("failures", "seconds_ago", "retry_in"),
    [(0, 10, None), (1, 10, 50), (2, 10, 110), (1, 61, None), (1, -60, None), (99, 0, 3600)],
)
def test_the_next_try_is_told_while_something_holds_it_back(
    environ, failures, seconds_ago, retry_in
):
    failed = int((NOW - seconds_ago) * 1000)
    content = {"entries": [entry()], "fail_count": failures, "fail_at": failed}
    put(environ, "pi", "pi_1", content)
    (found,) = waiting(environ)
    assert found.retry_at == (None if retry_in is None else NOW + retry_in)


@pytest.mark.parametrize(
    "content",
    ["", '{"entries": [{"sealed": "ab', "[1, 2]", "null", "\x00\xff", '{"entries": {"a": 1}}'],
)
def test_a_torn_or_alien_file_is_named_and_hides_no_other(environ, content):
    bad = put(environ, "pi", "pi_1", content)
    put(environ, "pi", "pi_2", {"entries": [entry()]})
    found = {each.file: each for each in waiting(environ)}
    assert found.pop(bad).problem == "torn, or of another form"
    (good,) = found.values()
    assert (good.entries, good.problem) == (1, "")


def test_a_file_that_is_just_being_written_is_read_again(environ, monkeypatch):
    path = put(environ, "pi", "pi_1", '{"entries": [')
    whole = json.dumps({"entries": [entry()]})
    monkeypatch.setattr(module.time, "sleep", lambda _: path.write_text(whole))
    (found,) = waiting(environ)
    assert (found.entries, found.problem) == (1, "")


def test_nobody_waits_for_files_that_were_torn_long_ago(environ, monkeypatch):
    path = put(environ, "pi", "pi_1", '{"entries": [')
    os.utime(path, (NOW, NOW))
    monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("it waits"))
    (found,) = waiting(environ)
    assert found.problem == "torn, or of another form"


def test_a_file_that_is_no_file_is_named(environ):
    path = put(environ, "pi", "pi_1", "")
    path.unlink()
    os.mkfifo(path)
    (found,) = waiting(environ)
    assert (found.entries, found.problem) == (0, "torn, or of another form")


def test_elements_of_another_form_are_told(environ):
    put(environ, "pi", "pi_1", {"entries": [entry(), 3, None], "fail_count": True, "fail_at": "x"})
    (found,) = waiting(environ)
    assert (found.entries, found.problem) == (1, "2 elements of another form")


@pytest.mark.parametrize("moment", [None, "soon", True, float("inf"), 10**400, -5])
def test_an_entry_that_does_not_tell_when_it_was_captured_has_no_age(environ, moment):
    put(environ, "pi", "pi_1", {"entries": [entry(_buffered_at=moment)]})
    (found,) = waiting(environ)
    assert (found.entries, found.oldest) == (1, None)


def test_what_can_never_be_sent_is_counted_apart(environ):
    record(environ, "pi", "pi_1")
    aside = {"entries": [{"sealed": "x", "_put_aside_at": NOW * 1000}]}
    put(environ, "pi", "pi_1", aside, folder="quarantine")
    assert waiting(environ) == []
    sessions = {each.stem: each for each in known_sessions(environ)}
    (found,) = quarantined_files(environ, sessions, now=NOW)
    assert (found.session_id, found.entries, found.oldest) == ("pi_1", 1, NOW)
