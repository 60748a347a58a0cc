from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import jsonlines
from cognee_hooks.services.jsonlines import talking_to
from cognee_hooks.services.process_table import is_alive
from tests.support.waiting import PATIENCE, until

ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()\n"


def program(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def talk(source: str, seconds: float = 2 * PATIENCE):
    return talking_to(
        program(source), deadline=Deadline.after(seconds), env=dict(os.environ), cwd=Path.cwd()
    )


async def test_messages_go_both_ways():
    async with talk(ECHO) as line:
        await line.send({"a": "ü\n"})
        assert await line.receive() == {"a": "ü\n"}


async def test_lines_that_are_no_objects_are_passed_over():
    async with talk("print('x'); print('[1]'); print('[' * 100000); print('{\"a\": 1}')") as line:
        assert await line.receive() == {"a": 1}
        with pytest.raises(EOFError):
            await line.receive()


async def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(jsonlines, "MAX_LINE", 1000)
    with pytest.raises(ValueError, match="limit"):
        async with talk("print('x' * 100000)") as line:
            await line.receive()


async def test_silence_ends_at_the_deadline_and_the_program_with_it(tmp_path):
    started = time.monotonic()
    script = 'sleep 80 & echo "$$ $!" > pids; wait'
    with pytest.raises(TimeoutError):
        async with talking_to(
            ["sh", "-c", script], deadline=Deadline.after(2.0), env=dict(os.environ), cwd=tmp_path
        ) as line:
            await line.receive()
    assert time.monotonic() - started < PATIENCE
    pids = [int(each) for each in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    await until(lambda: not any(map(is_alive, pids)))


async def test_a_program_that_does_not_end_by_itself_is_ended(monkeypatch):
    monkeypatch.setattr(jsonlines, "_GRACE_SECONDS", 0.05)
    async with talk("import time; time.sleep(80)"):
        started = time.monotonic()
    assert time.monotonic() - started < PATIENCE


async def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        async with talking_to(
            [str(tmp_path / "none")], deadline=Deadline.after(1), env={}, cwd=tmp_path
        ):
            pass
