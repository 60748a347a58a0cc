"""Processes of real agents: what they may see, how long they may run, and how they end."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_RUN_SECONDS = 120.0


def scrubbed(home: Path, additions: Mapping[str, str]) -> dict[str, str]:
    """Everything an agent may know: its home, the search path, and what the test adds."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **additions,
    }


@dataclass(frozen=True)
class Completed:
    """A run of an agent that ended.

    Attributes:
        returncode: Exit status; negative for a signal.
        answer: What the agent answered; empty when it did not come to that.
        session: The agent's own id of the session, for `resume`.
        stdout: All of its standard output.
        stderr: All of its standard error.
        seconds: How long it ran.
    """

    returncode: int
    answer: str
    session: str
    stdout: str
    stderr: str
    seconds: float


# Reads answer and session from what an agent printed.
Reader = Callable[[str], tuple[str, str]]


class Running:
    """A run of an agent; a context manager that leaves no process behind."""

    def __init__(
        self, command: list[str], project: Path, environment: dict[str, str], read: Reader
    ) -> None:
        self._read = read
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            _end_group(self._process)
            self._process.communicate()

    @property
    def pid(self) -> int:
        """Process id of the agent."""
        return self._process.pid

    def kill(self) -> None:
        """End the agent, and nothing but the agent, with SIGKILL."""
        self._process.kill()

    def wait(self, seconds: float = _RUN_SECONDS) -> Completed:
        """Wait for the end.

        Raises:
            AssertionError: It took too long; the agent was killed.
        """
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end_group(self._process)
            out, err = self._process.communicate()
            raise AssertionError(f"the agent ran for {seconds} s:\n{out}\n{err}") from None
        answer, session = self._read(out)
        elapsed = time.monotonic() - self._began
        return Completed(self._process.returncode, answer, session, out, err, elapsed)


def _end_group(process: subprocess.Popen[str]) -> None:
    # The agent leads a session of its own, so the group is the agent and its tools' shells.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Conversation:
    """Several turns of Claude Code in one process, as a context manager.

    Attributes:
        messages: Everything that the agent printed, one document a line.
    """

    def __init__(self, command: list[str], project: Path, environment: dict[str, str]) -> None:
        self.messages: list[dict[str, Any]] = []
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        self._process = subprocess.Popen(
            [*command, *streams],
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            _end_group(self._process)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    @property
    def pid(self) -> int:
        """Process id of the agent."""
        return self._process.pid

    def kill(self) -> None:
        """End the agent, and nothing but the agent, with SIGKILL."""
        self._process.kill()

    def say(self, text: str, seconds: float = _RUN_SECONDS) -> str:
        """Send a prompt and wait for its answer.

        Raises:
            AssertionError: No answer came in time, or the agent ended.
        """
        self.send(text)
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no answer to {text!r} in {seconds} s") from None
            assert line, f"the agent ended before it answered {text!r}"
            message = json.loads(line)
            self.messages.append(message)
            if message["type"] == "result":
                answer: str = message["result"]
                return answer

    def send(self, text: str) -> None:
        """Send a prompt and do not wait."""
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
        self._process.stdin.flush()

    def end(self, seconds: float = _RUN_SECONDS) -> int:
        """Say goodbye and wait for the exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(seconds)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")
