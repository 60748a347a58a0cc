"""Whatever is killed or cut, every entry is at the server once, in order."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.fresh import Fresh
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.sender import Sender, Settling, Step
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.crypto import KEY_BYTES, Sealer
from tests.support.bridged import (
    STEM,
    Clock,
    ListServer,
    SmallContext,
    at_once,
    failing,
    payload,
)

OPERATIONS = ("write", "pwrite", "replace", "unlink", "ftruncate", "truncate")
WRITES = {"write", "pwrite"}
OUTCOMES = {
    "stored": lambda store: store(),
    "refused": failing(FailureKind.REFUSED),
    "busy": failing(FailureKind.UNAVAILABLE, status=503),
    "500, stored": failing(FailureKind.SERVER_ERROR, status=500, stored=True),
    "500, not stored": failing(FailureKind.SERVER_ERROR, status=500),
    "no answer, stored": failing(FailureKind.TIMED_OUT, stored=True),
    "no answer, not stored": failing(FailureKind.TIMED_OUT),
}


class Killed(BaseException):
    """The process ends here.

    Attributes:
        torn: The envelope is torn by it.
    """

    torn = False


@contextmanager
def killed_at(operation: int, share: float) -> Iterator[None]:
    """End the process in its n-th change of a file; a write may leave a part of what it was."""
    left = operation

    def guarded(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                end = Killed()
                if name in WRITES:
                    descriptor, data, *place = arguments
                    part = data[: int(len(data) * share)]
                    real(descriptor, part, *place)
                    end.torn = name == "pwrite" and 0 < len(part) < len(data)
                raise end
            return real(*arguments, **options)

        return call

    patched = {name: guarded(name, getattr(os, name)) for name in OPERATIONS}
    with mock.patch.multiple(os, **patched):
        yield


class Bridge(RuleBasedStateMachine):
    """One session's buffer, used by processes that are killed, and whose files are cut."""

    @initialize()
    def begin(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.server = ListServer()
        self.context = SmallContext(self.server, self.clock)
        self.expected: list[str] = []
        self.number = 0
        self.damaged = False
        self.sealer = Sealer(bytes(KEY_BYTES))
        self.start()

    def start(self) -> None:
        """A process begins."""
        limits = BufferLimits(1000, backoff_ms=1)
        self.buffer = Buffer(Path(self.home.name), STEM, self.sealer, limits, now=self.clock)
        self.sender = Sender(
            self.context,  # type: ignore[arg-type]
            Settling(after_timeout=10, after_break=1),
            fresh=Fresh(self.context),  # type: ignore[arg-type]
        )

    @rule(content=st.sampled_from(["A", "B"]), kill=st.integers(0, 6), share=st.floats(0, 1))
    def capture(self, content: str, kill: int, share: float) -> None:
        """An entry is captured; after a kill its event is done again."""
        self.number += 1
        key = f"event {self.number}"
        try:
            with killed_at(kill, share):
                self.buffer.enqueue(payload(content, key=key))
        except Killed:
            self.start()
            self.buffer.enqueue(payload(content, key=key))
        self.expected.append(f"question {content}")
        self.damaged = False

    @rule(
        outcome=st.sampled_from(sorted(OUTCOMES)),
        kill=st.integers(0, 12),
        share=st.floats(0, 1),
        seconds=st.sampled_from([0.0, 2.0, 20.0]),
        check=st.sampled_from([None, None, None, FailureKind.REFUSED]),
    )
    def send(
        self, outcome: str, kill: int, share: float, seconds: float, check: FailureKind | None
    ) -> None:
        self.clock.seconds += seconds
        self.server.answers = [OUTCOMES[outcome]]
        self.server.checks = [None if check is None else ServerFailure(check)]
        self.step(kill, share)

    @rule(stored=st.booleans())
    def killed_while_sending(self, stored: bool) -> None:
        def answer(store: Callable[[], None]) -> None:
            if stored:
                store()
            raise Killed

        self.clock.seconds += 20
        self.server.answers = [answer]
        self.server.checks = []
        self.step(0, 0)

    def step(self, kill: int, share: float) -> Step | None:
        """One attempt; tells how it came out, None where the process was killed."""
        try:
            with killed_at(kill, share):
                done: Step = at_once(self.sender.step(self.buffer, Deadline.after(60)))
        except Killed as end:
            self.damaged = self.damaged or end.torn  # one file in pieces is enough
            self.start()
            return None
        if done is not Step.EMPTY:
            self.damaged = False
        return done

    @rule()
    def another_process(self) -> None:
        self.start()

    @precondition(lambda self: not self.damaged)
    @rule(name=st.sampled_from(["json", "log"]), share=st.floats(0, 1))
    def cut(self, name: str, share: float) -> None:
        """One of the two files loses its end."""
        path = Path(self.home.name) / f"{STEM}.{name}"
        if path.exists():
            os.truncate(path, int(path.stat().st_size * share))
            self.damaged = True

    def teardown(self) -> None:
        try:
            self.finish()
        finally:
            self.home.cleanup()

    def finish(self) -> None:
        """The server is there, and takes what is left."""
        self.server.answers, self.server.checks = [], []
        for _ in range(3 * len(self.expected) + 3):
            self.clock.seconds += 20
            if self.step(0, 0) is Step.EMPTY:
                break
        assert self.server.questions == self.expected
        assert not self.buffer.path.exists()


TestExactlyOnce = Bridge.TestCase
TestExactlyOnce.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
