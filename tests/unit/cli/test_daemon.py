from __future__ import annotations

import json
import os
import time

import pytest

from cognee_hooks.cli import daemon as command
from cognee_hooks.cli import main
from cognee_hooks.daemon import control
from cognee_hooks.services.paths import Paths

SESSION = {
    "agent": "claude-code",
    "session_id": "claude_1",
    "cwd": "/work/shop",
    "last_event": 0.0,
    "waiting": 3,
}
STATUS = {"pid": 4711, "version": "1.2.3", "began": 0.0, "kept": 0, "sessions": [SESSION]}


@pytest.fixture
def folder(isolated_environment):
    return Paths.of(os.environ, "daemon").daemon_dir


class FakeDaemon:
    """Stands in for a daemon: answers, ends and starts as it is told."""

    def __init__(self, monkeypatch, folder):
        self.status = None
        self.there = False
        self.ends = True
        self.comes_up = STATUS
        self.asked: list[str] = []
        self._folder = folder
        for name in ("ask", "runs", "stop", "start"):
            monkeypatch.setattr(control, name, getattr(self, f"_{name}"))

    def _ask(self, folder, verb):
        assert folder == self._folder
        self.asked.append(verb)
        return self.status

    def _runs(self, folder):
        return self.there

    def _stop(self, folder, deadline):
        self.asked.append("stop")
        assert 1 < deadline.remaining() <= command.STOP_SECONDS
        return self.ends

    def _start(self, folder, environ, deadline):
        self.asked.append("start")
        assert 1 < deadline.remaining() <= command.START_SECONDS
        assert environ["HOME"] == os.environ["HOME"]
        if isinstance(self.comes_up, OSError):
            raise self.comes_up
        return self.comes_up


@pytest.fixture
def daemon(monkeypatch, folder):
    return FakeDaemon(monkeypatch, folder)


# -- status --------------------------------------------------------------------------------------


def test_without_a_daemon_the_status_says_how_it_comes_up(capsys):
    assert main(["daemon", "status"]) == 0
    assert capsys.readouterr().out == (
        "The daemon does not run. The next event of an agent starts it.\n"
    )


def test_without_a_daemon_json_has_the_same_keys(capsys, folder):
    assert main(["daemon", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "pid": None,
        "version": None,
        "sessions": [],
        "folder": str(folder),
    }


def test_the_status_tells_version_process_and_sessions(capsys, daemon):
    daemon.status = {**STATUS, "sessions": [{**SESSION, "last_event": time.time() - 90}]}
    assert main(["daemon", "status"]) == 0
    first, *table = capsys.readouterr().out.splitlines()
    assert first == "The daemon runs: version 1.2.3, process 4711."
    (row,) = (line for line in table if "claude_1" in line)
    agent, session, folder, seconds, *rest = row.split()
    assert (agent, session, folder) == ("claude-code", "claude_1", "/work/shop")
    assert 90 <= int(seconds) < 120
    assert rest == ["s", "ago", "3"]


def test_an_idle_daemon_serves_no_session(capsys, daemon):
    daemon.status = {**STATUS, "sessions": []}
    assert main(["daemon", "status"]) == 0
    assert "It serves no session." in capsys.readouterr().out


def test_json_gives_all_that_the_daemon_says_and_where_it_lies(capsys, daemon, folder):
    daemon.status = STATUS
    assert main(["daemon", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {**STATUS, "folder": str(folder)}


def test_a_daemon_that_is_there_and_says_nothing_is_not_called_absent(capsys, daemon):
    daemon.there = True
    assert main(["daemon", "status"]) == 0
    out = capsys.readouterr().out
    assert "does not answer" in out
    assert "cognee-hooks daemon logs" in out


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"pid": 1, "version": "9"},
        {"pid": 1, "version": "9", "sessions": None},
        {"pid": 1, "version": "9", "sessions": {"a": 1}},
        {"pid": 1, "version": "9", "sessions": [None, 3, {}, {"last_event": "soon"}]},
        {"pid": 1, "version": "9", "sessions": [{**SESSION, "last_event": 1e300}]},
    ],
)
def test_what_a_daemon_of_another_version_says_is_shown_as_far_as_it_is_understood(
    capsys, daemon, status
):
    daemon.status = status
    assert main(["daemon", "status"]) == 0
    assert capsys.readouterr().out.startswith("The daemon runs: version ")


def test_nothing_that_the_daemon_says_reaches_the_terminal_as_a_command(capsys, daemon):
    daemon.status = {
        "version": "\x1b[2J1",
        "pid": 1,
        "sessions": [{**SESSION, "cwd": "/\x1b]0;title\x07x"}],
    }
    assert main(["daemon", "status"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out


# -- stop and restart ----------------------------------------------------------------------------


def test_a_stop_is_told(capsys, daemon):
    assert main(["daemon", "stop"]) == 0
    assert daemon.asked == ["stop"]
    assert capsys.readouterr().out.startswith("The daemon is stopped.")


def test_to_stop_a_daemon_that_does_not_run_is_fine(capsys):
    assert main(["daemon", "stop"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("verb", ["stop", "restart"])
def test_a_daemon_that_does_not_end_is_a_failure_that_says_where_to_look(capsys, daemon, verb):
    daemon.ends = False
    assert main(["daemon", verb]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "cognee-hooks: the daemon has not ended within 15 s; see `cognee-hooks daemon logs`\n"
    )
    assert daemon.asked == ["stop"]


def test_a_restart_stops_and_starts(capsys, daemon):
    assert main(["daemon", "restart"]) == 0
    assert daemon.asked == ["stop", "start"]
    assert capsys.readouterr().out == "The daemon runs: version 1.2.3, process 4711.\n"


def test_a_daemon_that_does_not_come_up_again_is_a_failure_that_says_where_to_look(capsys, daemon):
    daemon.comes_up = None
    assert main(["daemon", "restart"]) == 1
    assert capsys.readouterr().err == (
        "cognee-hooks: the daemon has not come up again; see `cognee-hooks daemon logs`\n"
    )


def test_a_daemon_that_cannot_be_started_is_a_failure_that_says_why(capsys, daemon, folder):
    daemon.comes_up = PermissionError(13, "Permission denied")
    assert main(["daemon", "restart"]) == 1
    assert capsys.readouterr().err == (
        f"cognee-hooks: the daemon cannot be started: Permission denied; look at {folder}\n"
    )


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["status", "--nonsense"], ["logs", "-n", "many"], ["stop", "x"]]
)
def test_wrong_usage_ends_with_2(capsys, arguments):
    assert main(["daemon", *arguments]) == 2
    assert capsys.readouterr().err.startswith("cognee-hooks: ")


# -- logs ----------------------------------------------------------------------------------------


@pytest.fixture
def log(folder):
    def write(text: bytes):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "daemon.log").write_bytes(text)

    return write


def shown(capsys, *arguments: str) -> list[str]:
    assert main(["daemon", "logs", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "first"),
    [((), 50), (("-n", "3"), 97), (("-n", "1"), 99), (("-n", "1000"), 0)],
)
def test_the_end_of_the_log_is_shown(capsys, log, arguments, first):
    log("".join(f"line {number}\n" for number in range(100)).encode())
    assert shown(capsys, *arguments) == [f"line {number}" for number in range(first, 100)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ["now"]),
        (3, ["before 1", "before 2", "now"]),
        (9, ["first", "before 1", "before 2", "now"]),
    ],
)
def test_the_end_goes_on_in_what_the_daemon_put_aside(capsys, log, folder, count, expected):
    log(b"now\n")
    (folder / "daemon.log.1").write_text("before 1\nbefore 2\n")
    (folder / "daemon.log.2").write_text("first\n")
    assert shown(capsys, "-n", str(count)) == expected


def test_what_was_put_aside_is_shown_where_nothing_was_written_since(capsys, folder):
    folder.mkdir(parents=True)
    (folder / "daemon.log.1").write_text("before\n")
    assert shown(capsys) == ["before"]


def test_no_lines_are_no_lines(capsys, log):
    log(b"line\n")
    assert shown(capsys, "-n", "0") == []


def test_what_is_in_the_log_reaches_the_terminal_as_text_only(capsys, log):
    log("a\x1b[31mred\x1b[0m b\x07c \x1b]0;title\x07d \u202egnihton".encode() + b" \xff\n")
    (line,) = shown(capsys)
    assert not set(line) & set("\x1b\x07\u202e")
    assert "red" in line


def test_without_a_log_it_says_where_one_would_lie(capsys, folder):
    assert main(["daemon", "logs"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"There is no log yet: {folder / 'daemon.log'}\n"
