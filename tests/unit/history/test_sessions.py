from __future__ import annotations

import json
import os
import time

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.history import sessions
from cognee_hooks.history.sessions import known_sessions, state_folders
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.ledger_file import LedgerFile
from cognee_hooks.services.paths import Paths


@pytest.fixture
def environ(isolated_environment):
    return dict(os.environ)


def record(environ, agent: str, session_id: str) -> None:
    paths = Paths.of(environ, agent)
    ledger = Ledger(paths.ledger_dir, agent, paths.key_file)
    ledger.record(session_id, Act.CAPTURED, "qa")


def test_without_any_folder_there_is_no_session(environ):
    assert known_sessions(environ) == []


def test_every_agents_folder_is_looked_into_and_those_of_agents_that_plugins_bring(
    environ, isolated_environment
):
    (isolated_environment / ".cognee-plugin/hooks/my-agent").mkdir(parents=True)
    (isolated_environment / ".cognee-plugin/hooks/daemon").mkdir()
    assert [each.agent for each in state_folders(environ)] == [*BUILT_IN, "my-agent"]


def test_sessions_come_with_what_their_ledger_says_the_latest_first(environ):
    record(environ, "pi", "pi_1")
    record(environ, "codex", "codex_1")
    latest = known_sessions(environ)[0].ledger.path
    os.utime(latest, (1, 1))
    first, second = known_sessions(environ)
    assert {first.session_id, second.session_id} == {"pi_1", "codex_1"}
    assert second.ledger.path == latest
    assert first.agent == first.session_id.partition("_")[0]
    assert abs(first.began - time.time()) < 60


def test_a_ledger_that_is_swept_meanwhile_is_passed_over(environ, monkeypatch):
    gone = LedgerFile(Paths.of(environ, "pi").ledger_dir / "gone.jsonl")
    monkeypatch.setattr(sessions, "ledger_files", lambda _: [gone])
    assert known_sessions(environ) == []


@pytest.mark.parametrize("content", [b"", b"torn", b"[]\n", b'{"session_id": 3}\n', b"\xff" * 9])
def test_a_ledger_that_does_not_tell_its_session_is_one_without_a_name(environ, content):
    folder = Paths.of(environ, "pi").ledger_dir
    folder.mkdir(parents=True)
    (folder / "abc.jsonl").write_bytes(content)
    (found,) = known_sessions(environ)
    assert (found.session_id, found.agent, found.began) == ("", "", 0.0)


def test_a_session_id_cannot_hold_what_a_terminal_obeys(environ):
    folder = Paths.of(environ, "pi").ledger_dir
    folder.mkdir(parents=True)
    head = {"session_id": "a\x1b[2Jb\x9bc\nd", "agent": "\x1b]0;x\x07pi"}
    (folder / "abc.jsonl").write_text(json.dumps(head) + "\n")
    (found,) = known_sessions(environ)
    assert (found.session_id, found.agent) == ("abc d", "pi")
