from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys

import pytest

from cognee_hooks.cli import ledger as command
from cognee_hooks.cli import main
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.ledger_file import LedgerFile
from cognee_hooks.services.paths import Paths


@pytest.fixture
def ledger(isolated_environment):
    """Records rows; each is a second later than the one before."""
    clock = iter(range(1_750_000_000, 1_750_100_000))
    made: dict[str, Ledger] = {}

    def record(session_id: str, what: str, act: Act = Act.CAPTURED, **more: object) -> None:
        agent = {"claude": "claude-code"}.get(session_id.partition("_")[0], "pi")
        if agent not in made:
            paths = Paths.of(os.environ, agent)
            made[agent] = Ledger(
                paths.ledger_dir, agent, paths.key_file, now=lambda: float(next(clock))
            )
        made[agent].record(session_id, act, what, **more)

    return record


def rows(capsys, *arguments: str) -> list[dict[str, object]]:
    assert main(["ledger", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_without_a_ledger_it_says_so(capsys):
    assert main(["ledger"]) == 0
    assert capsys.readouterr().out == "Nothing is recorded yet.\n"
    assert rows(capsys) == []


def test_rows_of_all_sessions_come_by_time(capsys, ledger):
    ledger("claude_1", "qa", content="four")
    ledger("pi_1", "recall", Act.INJECTED, content="eleven chars", seconds=0.25)
    ledger("claude_1", "password", Act.REDACTED, count=3)
    first, second, third = rows(capsys)
    assert first == {
        "time": 1_750_000_000.0,
        "session_id": "claude_1",
        "agent": "claude-code",
        "act": "captured",
        "what": "qa",
        "count": 1,
        "size": 4,
        "hash": "",
        "seconds": None,
        "prompt": "",
    }
    assert (second["session_id"], second["act"], second["seconds"]) == ("pi_1", "injected", 0.25)
    assert (third["act"], third["count"], third["size"]) == ("redacted", 3, None)


@pytest.mark.parametrize(("count", "shown"), [("2", ["c", "d"]), ("0", [])])
def test_the_latest_rows_are_shown(capsys, ledger, count, shown):
    for session_id, what in (("pi_1", "a"), ("claude_1", "b"), ("pi_1", "c"), ("claude_1", "d")):
        ledger(session_id, what)
    assert [row["what"] for row in rows(capsys, "-n", count)] == shown


def test_sessions_that_are_older_than_what_is_shown_are_not_read(ledger, monkeypatch):
    for number in range(5):
        ledger(f"pi_{number}", "x")
    for session in command.known_sessions(dict(os.environ)):
        row = next(session.ledger.rows())
        os.utime(session.ledger.path, (row.time, row.time))
    read = []
    original = LedgerFile.rows
    monkeypatch.setattr(LedgerFile, "rows", lambda self: read.append(self) or original(self))
    latest = command.latest(command.known_sessions(dict(os.environ)), 2)
    assert [session.session_id for session, _ in latest] == ["pi_3", "pi_4"]
    assert len(read) == 2


def test_one_session_is_chosen_by_its_id_or_the_beginning_of_it(capsys, ledger):
    ledger("pi_1", "a")
    ledger("pi_12", "b")
    ledger("claude_9", "c")
    assert [row["what"] for row in rows(capsys, "--session", "pi_1")] == ["a"]
    assert [row["what"] for row in rows(capsys, "--session", "pi_12")] == ["b"]
    assert [row["what"] for row in rows(capsys, "--session", "cl")] == ["c"]


def test_a_beginning_that_fits_several_sessions_is_refused_with_their_names(capsys, ledger):
    for number in range(7):
        ledger(f"pi_{number}", "a")
    assert main(["ledger", "--session", "pi"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"cognee-hooks: 7 sessions begin with 'pi': (pi_\d, ){4}pi_\d and 2 more\n", err
    )


def test_a_session_that_there_is_not_is_refused(capsys, ledger):
    ledger("pi_1", "a")
    assert main(["ledger", "--session", "codex\x1b[2J"]) == 2
    err = capsys.readouterr().err
    assert "no session with a ledger begins with 'codex'" in err
    assert "\x1b" not in err


def test_people_get_a_table(capsys, ledger):
    ledger("claude_1", "qa", content="four")
    ledger("claude_1", "password", Act.REDACTED, count=3)
    assert main(["ledger"]) == 0
    _, heading, _, first, second, *_ = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        "time",
        "session",
        "act",
        "what",
        "count",
        "bytes",
        "seconds",
        "hash",
    ]
    assert first.split()[2:] == ["claude_1", "captured", "qa", "4"]
    assert second.split()[2:] == ["claude_1", "redacted", "password", "x3"]


@pytest.mark.parametrize("option", ["--json", "-n9"])
def test_nothing_in_a_ledger_reaches_the_terminal_as_a_command(capsys, ledger, option):
    ledger("pi_1", "a\x1b[2Jb\x9b31m\u202ec", content="x")
    assert main(["ledger", option]) == 0
    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\x9b\u202e")


def test_torn_and_alien_lines_are_passed_over(capsys, ledger):
    ledger("pi_1", "a")
    (path,) = Paths.of(os.environ, "pi").ledger_dir.glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"act": "captured", "what"\n\xff\xfe\n[]\n{"act": "exploded"}\n')
    ledger("pi_1", "b")
    assert [row["what"] for row in rows(capsys)] == ["a", "b"]


# -- following ---------------------------------------------------------------------------------


async def test_what_is_added_is_shown_until_interrupted(ledger):
    ledger("pi_1", "before")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cognee_hooks",
        "ledger",
        "--follow",
        "--json",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )

    async def shown() -> list[str]:
        row = json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
        return [row["session_id"], row["what"]]

    try:
        assert await shown() == ["pi_1", "before"]
        ledger("pi_1", "after")
        assert await shown() == ["pi_1", "after"]
        ledger("claude_2", "a session that began later")
        assert await shown() == ["claude_2", "a session that began later"]
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, out, err) == (130, b"", b"")


def test_following_one_session_shows_no_other(capsys, ledger, monkeypatch):
    ledger("pi_1", "a", content="text", seconds=0.5)
    steps = iter(
        [
            lambda: (ledger("pi_1", "b", count=2), ledger("pi_2", "other")),
            lambda: None,
            lambda: signal.raise_signal(signal.SIGINT),
        ]
    )
    monkeypatch.setattr(command.time, "sleep", lambda _: next(steps)())
    assert main(["ledger", "--follow", "--session", "pi_1"]) == 130
    lines = [line.split("  ")[1:] for line in capsys.readouterr().out.splitlines()]
    assert lines == [["pi_1", "captured", "a", "4", "0.500"], ["pi_1", "captured", "b", "x2"]]


def test_a_row_that_comes_while_the_first_ones_are_read_is_shown_once(capsys, ledger, monkeypatch):
    ledger("pi_1", "a")
    original = command.latest

    def latest(sessions, count):
        ledger("pi_1", "between")
        return original(sessions, count)

    monkeypatch.setattr(command, "latest", latest)
    steps = iter([lambda: None, lambda: signal.raise_signal(signal.SIGINT)])
    monkeypatch.setattr(command.time, "sleep", lambda _: next(steps)())
    assert main(["ledger", "--follow", "--json"]) == 130
    shown = [json.loads(line)["what"] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["a", "between"]
