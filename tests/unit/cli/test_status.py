from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import suppress

import pytest

from cognee_hooks.cli import main
from cognee_hooks.cli import status as command
from cognee_hooks.daemon import control
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths

CLOSED = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", CLOSED)


@pytest.fixture
def daemon(monkeypatch):
    """What the daemon says, and whether there is one."""
    said: dict[str, object] = {"reply": None, "there": False}
    monkeypatch.setattr(control, "ask", lambda folder, verb: said["reply"])
    monkeypatch.setattr(control, "runs", lambda folder: said["there"])
    return said


def put(session_id: str, content: object, folder: str = "") -> str:
    path = Paths.of(os.environ, "pi").bridge_dir / folder / f"{session_file_stem(session_id)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def record(session_id: str, *acts: Act) -> None:
    paths = Paths.of(os.environ, "pi")
    ledger = Ledger(paths.ledger_dir, "pi", paths.key_file)
    for act in acts:
        ledger.record(session_id, act, "x")


def shown(capsys) -> list[str]:
    assert main(["status"]) == 0
    return capsys.readouterr().out.splitlines()


def report(capsys):
    assert main(["status", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# -- daemon ------------------------------------------------------------------------------------


def test_without_a_daemon_it_says_how_one_comes_up(capsys):
    assert shown(capsys)[0] == "Daemon:     does not run; the next event of an agent starts it"


def test_a_daemon_that_is_there_and_says_nothing_is_not_called_absent(capsys, daemon):
    daemon["there"] = True
    assert "does not answer" in shown(capsys)[0]
    found = report(capsys)["daemon"]
    assert (found["running"], found["answers"], found["version"]) == (True, False, None)


def test_a_daemon_that_runs_is_told_with_its_sessions(capsys, daemon):
    daemon["reply"] = {"version": "1.2", "pid": 47, "kept": 2, "sessions": [{}, {}]}
    spool = Paths.of(os.environ, "daemon").daemon_dir / "spool"
    spool.mkdir(parents=True)
    (spool / "1.event").touch()
    (spool / "2.event.new").touch()
    assert shown(capsys)[0] == (
        "Daemon:     runs, version 1.2, process 47, 2 sessions; keeps 3 events"
    )
    assert report(capsys)["daemon"] == {
        "running": True,
        "answers": True,
        "version": "1.2",
        "pid": 47,
        "sessions": 2,
        "events_kept": 2,
        "events_spooled": 1,
    }


@pytest.mark.parametrize(
    "reply", [{"did": 1}, {"version": 3, "pid": "x", "kept": None, "sessions": 5}]
)
def test_a_daemon_of_another_version_is_shown_as_far_as_it_is_understood(capsys, daemon, reply):
    daemon["reply"] = reply
    assert shown(capsys)[0] == "Daemon:     runs, version None, process None, 0 sessions"


# -- server ------------------------------------------------------------------------------------


def test_a_server_that_is_well_is_told_with_its_version(capsys, embedded_server, monkeypatch):
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", embedded_server.url)
    lines = shown(capsys)
    assert lines[1] == "Mode:       local (no other server is set)"
    assert lines[2].startswith(f"Server:     {embedded_server.url} — reachable in ")
    assert lines[2].endswith(" ms (version 1.6.5)")
    assert not any("says what to do" in line for line in lines)
    found = report(capsys)["server"]
    assert (found["state"], found["mode"], found["version"]) == ("ok", "local", "1.6.5")


def test_a_server_that_is_away_does_not_make_the_command_fail(capsys):
    lines = shown(capsys)
    assert lines[2].startswith(f"Server:     {CLOSED} — ✕ unreachable (nothing listens")
    assert lines[-1] == "`cognee-hooks doctor` says what to do about the server."


def test_a_server_that_does_not_answer_is_waited_for_a_little_only(capsys, monkeypatch):
    monkeypatch.setattr(command, "LOOK_SECONDS", 0.3)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        held = []

        def accept():
            while not over.is_set():
                with suppress(TimeoutError):
                    held.append(server.accept()[0])

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            monkeypatch.setenv("COGNEE_LOCAL_API_URL", url)
            found = report(capsys)["server"]
        finally:
            over.set()
            thread.join()
            for each in held:
                each.close()
    assert found["state"] == "offline"
    assert 200 <= found["milliseconds"] < 10_000


def test_a_cloud_without_an_address_is_said_to_lack_it(capsys, monkeypatch):
    monkeypatch.setenv("COGNEE_BACKEND", "cloud")
    assert shown(capsys)[2].endswith("no address: COGNEE_BASE_URL is not set")
    assert report(capsys)["server"]["state"] == "no address"


def test_no_secret_of_the_settings_is_shown(capsys, monkeypatch):
    secret = "s3" + "cret" * 5
    monkeypatch.setenv("COGNEE_BASE_URL", f"http://me:{secret}@127.0.0.1:9/?api_key={secret}")
    monkeypatch.setenv("COGNEE_API_KEY", secret)
    assert main(["status"]) == 0
    assert main(["status", "--json"]) == 0
    out, err = capsys.readouterr()
    assert secret not in out + err


# -- what waits --------------------------------------------------------------------------------


def test_where_nothing_waits_it_says_so(capsys):
    assert "Waiting:    nothing" in shown(capsys)
    found = report(capsys)
    assert (found["waiting"], found["quarantined"], found["totals"]) == ([], [], {})


def test_what_waits_is_told_by_session_with_age_and_next_try(capsys):
    now = time.time()
    record("pi_1", Act.CAPTURED, Act.BUFFERED)
    content = {
        "entries": [{"_buffered_at": (now - 3700) * 1000}, {"_buffered_at": now * 1000}],
        "fail_count": 3,
        "fail_at": now * 1000,
    }
    path = put("pi_1", content)
    lines = shown(capsys)
    assert "Waiting:    2 entries in 1 file" in lines
    (row,) = (line for line in lines if "pi_1" in line)
    assert row.split()[:9] == ["pi_1", "pi", "2", "1", "h", "ago", "in", "3", "min"]
    (found,) = report(capsys)["waiting"]
    assert (found["file"], found["session_id"], found["entries"]) == (path, "pi_1", 2)
    assert abs(found["oldest"] - (now - 3700)) < 60
    assert abs(found["retry_at"] - (now + 240)) < 60


def test_a_torn_file_is_named_and_is_no_failure(capsys):
    path = put("pi_1", '{"entries": [')
    put("pi_2", {"entries": [{"_buffered_at": 1}]})
    text = "".join(line.strip() for line in shown(capsys))
    assert path in text.replace(" ", "")
    problems = {each["file"]: each["problem"] for each in report(capsys)["waiting"]}
    assert problems[path] == "torn, or of another form"


def test_what_can_never_be_sent_is_told_apart(capsys):
    put("pi_1", {"entries": [{"_put_aside_at": 1000}]}, folder="quarantine")
    lines = shown(capsys)
    assert "Waiting:    nothing" in lines
    assert "Aside:      1 entry in 1 file, which can never be sent" in lines
    (found,) = report(capsys)["quarantined"]
    assert (found["entries"], found["oldest"]) == (1, 1.0)


def test_what_all_sessions_did_is_counted(capsys):
    record("pi_1", Act.CAPTURED, Act.CAPTURED, Act.INJECTED)
    record("pi_2", Act.CAPTURED)
    assert "Recorded:   3 captured, 1 injected; see `cognee-hooks ledger`" in shown(capsys)
    assert report(capsys)["totals"] == {"captured": 3, "injected": 1}


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_nothing_in_a_file_reaches_the_terminal_as_a_command(capsys, option):
    put("pi_1", {"entries": [{"sessionId": "a\x1b[2Jb\x9b31m"}]})
    assert main(["status", *option]) == 0
    assert not set(capsys.readouterr().out) & set("\x1b\x9b")


def test_it_shows_the_rows_that_agents_show(capsys):
    rows = {row["label"]: row["text"] for row in report(capsys)["rows"]}
    assert {"Mode", "Server", "API key", "Dataset", "Federation", "Recall", "Sync"} <= set(rows)
    assert not {"Session", "Queue"} & set(rows)
    text = "\n".join(shown(capsys))
    assert all(f"{label}:" in text for label in rows)
