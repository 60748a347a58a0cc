"""P07: killed within any write, or cut at any byte, a buffer holds what was taken, and once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.items import Payload
from builtin_plugins.bridge.limits import BufferLimits
from cognee_hooks.services.crypto import Sealer

STEM = "ab" * 20
URL = "http://127.0.0.1:8011"
CALLS = ("write", "pwrite", "truncate", "ftruncate", "rename", "replace", "unlink")
STORY = "in 0, in 1, in 2, out 0, in 3, in 4, out 1, out 2, out 3, out 4, in 5, in 6, out 5".split(
    ", "
)
"""What happens to entries; in between nothing waits at all."""


class Killed(BaseException):
    """The process is gone; it does nothing any more."""


class Killer:
    """Lets a process die at one of its calls.

    Args:
        at: Which one, counted from 0.
        how: ``before`` it, ``after`` it, or ``half`` way through what it writes.
    """

    def __init__(self, at: int, how: str) -> None:
        self._at = at
        self._how = how
        self.calls = 0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            number, self.calls = self.calls, self.calls + 1
            if number < self._at:
                return function(*arguments, **named)
            if number == self._at and self._how == "after":
                function(*arguments, **named)
            if number == self._at and self._how == "half" and len(arguments) > 1:
                target, data, *rest = arguments
                if isinstance(target, int) and not isinstance(data, int):
                    function(target, bytes(data)[: len(data) // 2], *rest)
            raise Killed

        return called


@contextmanager
def killing(at: int, how: str) -> Iterator[Killer]:
    killer = Killer(at, how)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, killer.wrap(getattr(os, name)))
        with suppress(Killed):
            yield killer


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[], Buffer]:
    """Opens the buffer as a process does that has just started."""
    sealer = Sealer.of(tmp_path / "key")
    limits = BufferLimits(1000)
    return lambda: Buffer(tmp_path / "bridge", STEM, sealer, limits, now=lambda: 1_800_000_000.0)


def payload(name: str) -> Payload:
    return Payload(
        entry={"type": "qa", "question": name, "answer": "x" * 300, "context": ""},
        session_id="s",
        dataset="d",
        url=URL,
        captured_at=1_800_000_000_000,
        key=f"event/{name}",
    )


def take(buffer: Buffer, name: str) -> bool:
    """Hand an entry over; tells whether it is a new one."""
    return buffer.enqueue(payload(name)).seq > 0


def let_go(buffer: Buffer) -> str:
    """Let the head go, as if the server had taken it; returns its name."""
    head = buffer.head(URL)
    assert head is not None
    buffer.begin(head.seq)
    name: str = head.payload.entry["question"]
    buffer.settle(head.seq, "k", name)
    return name


def waiting(buffer: Buffer) -> list[str]:
    names = []
    while buffer.head(URL) is not None:
        names.append(let_go(buffer))
    return names


def tell(buffer: Buffer, done: list[str]) -> None:
    for step in STORY:
        what, name = step.split()
        if what == "in":
            take(buffer, name)
        else:
            let_go(buffer)
        done.append(step)


def names_of(steps: list[str], what: str) -> list[str]:
    return [step.split()[1] for step in steps if step.startswith(f"{what} ")]


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_killed_at_any_call_it_holds_what_was_taken_once_and_in_order(opened, tmp_path, how):
    at = 0
    while True:
        done: list[str] = []
        with killing(at, how):
            tell(opened(), done)
        if len(done) == len(STORY):
            break
        after = opened()
        # The journal has every event that was not done with, and does it again.
        for name in names_of(STORY[: len(done) + 1], "in"):
            take(after, name)
        found = waiting(after)
        taken = names_of(STORY[: len(done) + 1], "in")
        sent = names_of(done, "out")
        maybe = names_of(STORY[len(done) : len(done) + 1], "out")
        due = [name for name in taken if name not in sent]
        assert found in (due, [name for name in due if name not in maybe]), (at, done)
        assert not any(take(opened(), name) for name in taken), (at, done)
        for path in (tmp_path / "bridge").rglob("*"):
            if path.is_file():
                path.unlink()
        at += 1
    assert at > len(STORY)


@pytest.mark.parametrize("suffix", [".json", ".log"])
def test_one_of_its_files_cut_at_any_byte_loses_nothing(opened, tmp_path, suffix):
    buffer = opened()
    for number in range(4):
        take(buffer, str(number))
    let_go(buffer)
    files = {path: path.read_bytes() for path in (tmp_path / "bridge").iterdir() if path.is_file()}
    (cut,) = (path for path in files if path.suffix == suffix)
    for size in range(0, len(files[cut]), 3):
        for path, content in files.items():
            path.write_bytes(content[:size] if path == cut else content)
        after = opened()
        assert not any(take(after, name) for name in "0123"), size
        assert waiting(after) == ["1", "2", "3"], size
