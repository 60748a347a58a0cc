from __future__ import annotations

import os
import time

import pytest

from cognee_hooks.services.session_state import KEPT_SECONDS, SessionState, sweep


def test_a_plugin_finds_what_it_wrote_for_the_session(tmp_path):
    SessionState.of(tmp_path, "s1", "capture").write({"pending": "é"})
    assert SessionState.of(tmp_path, "s1", "capture").read() == {"pending": "é"}


def test_sessions_and_plugins_do_not_share_state(tmp_path):
    SessionState.of(tmp_path, "s1", "capture").write({"pending": 1})
    assert SessionState.of(tmp_path, "s2", "capture").read() == {}
    assert SessionState.of(tmp_path, "s1", "recall").read() == {}


def test_without_a_session_nothing_is_kept(tmp_path):
    state = SessionState.of(tmp_path, "", "capture")
    state.write({"pending": 1})
    assert state.read() == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "nul\0", "x" * 5000])
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    state = SessionState.of(tmp_path, name, name)
    assert state.path.parent.parent == tmp_path
    state.write({"ok": True})
    assert state.read() == {"ok": True}


def test_a_damaged_state_is_empty(tmp_path):
    state = SessionState.of(tmp_path, "s1", "capture")
    state.write({"pending": 1})
    state.path.write_bytes(b"{torn")
    assert state.read() == {}


def test_old_state_goes_and_recent_state_stays(tmp_path):
    sessions = tmp_path / "sessions"
    states = [SessionState.of(sessions, name, "capture") for name in ("old", "new")]
    for state in states:
        state.write({"pending": 1})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (sessions / "link").symlink_to(elsewhere)
    long_ago = time.time() - KEPT_SECONDS - 10
    for path in (states[0].path.parent, elsewhere):
        os.utime(path, (long_ago, long_ago))
    sweep(sessions)
    assert [state.read() for state in states] == [{}, {"pending": 1}]
    assert elsewhere.is_dir()


def test_without_any_state_there_is_nothing_to_sweep(tmp_path):
    sweep(tmp_path / "missing")
