"""How far the server of a port is: written by the worker, read by every session."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from cognee_hooks.printable import one_line
from cognee_hooks.services.process_table import is_alive
from cognee_hooks.services.statefile import finite, read_object, write_json

SETTLED_SECONDS = 300.0
"""A server that lived so long was no failed start."""
FIRST_PAUSE, LONGEST_PAUSE = 30.0, 3600.0

_MAX_BYTES = 100_000
_MAX_DETAIL = 1000
_MAX_DOUBLINGS = 20


class Phase(StrEnum):
    """What is going on."""

    NONE = ""
    """Nothing was ever done."""
    CHECKING = "checking"
    INSTALLING = "installing"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"
    """The person stopped it; nothing starts it by itself."""


WORDS: dict[Phase, str] = {
    Phase.CHECKING: "looking whether a server is there",
    Phase.INSTALLING: "installing cognee",
    Phase.STARTING: "waiting for the server to be healthy",
}
"""What a worker is doing, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process, told from later ones of the same id.

    Attributes:
        pid: Its id; 0 for none.
        started: What ``cognee_hooks.services.process_table.start_time`` said of it.
    """

    pid: int = 0
    started: str = ""

    @property
    def alive(self) -> bool:
        """Whether it lives."""
        return self.pid > 0 and is_alive(self.pid, self.started)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """What the file says of the server and of the work on it.

    Attributes:
        phase: What is going on, or how the last attempt ended.
        detail: Why it failed, one line, or "".
        at: When that began, in epoch seconds.
        streak: Attempts since a server last lived for `SETTLED_SECONDS`.
        worker: The process that works on it.
        server: The server, where we started it.
        version: Its version, or "".
    """

    phase: Phase = Phase.NONE
    detail: str = ""
    at: float = 0.0
    streak: int = 0
    worker: Process = Process()
    server: Process = Process()
    version: str = ""

    @property
    def working(self) -> bool:
        """Whether a worker is at it."""
        return self.phase in WORDS and self.worker.alive

    def streak_now(self, now: float) -> int:
        """Return the streak of an attempt that begins now."""
        settled = self.phase is Phase.READY and now - self.at >= SETTLED_SECONDS
        return 1 if settled else self.streak + 1

    def next_try(self) -> float:
        """Return from when on another attempt makes sense, in epoch seconds.

        At once after a server that was healthy ended for the first time; after that, and after
        failures, later and later.
        """
        failures = self.streak - (self.phase is Phase.READY)
        if failures <= 0 or self.phase is Phase.STOPPED:
            return 0.0
        return self.at + min(FIRST_PAUSE * 2.0 ** min(failures - 1, _MAX_DOUBLINGS), LONGEST_PAUSE)


def read(path: Path) -> ServerRecord:
    """Return what a file says, an empty record where it says nothing that can be used."""
    fields = read_object(path, max_bytes=_MAX_BYTES, private=True)
    phase = _text(fields.get("phase"))
    return ServerRecord(
        phase=next((each for each in Phase if each == phase), Phase.NONE),
        detail=one_line(_text(fields.get("detail"))),
        at=finite(fields.get("at")),
        streak=max(0, min(int(finite(fields.get("streak"))), 1000)),
        worker=_process(fields.get("worker")),
        server=_process(fields.get("server")),
        version=one_line(_text(fields.get("version"))),
    )


def write(path: Path, record: ServerRecord) -> None:
    """Replace what a file says.

    Raises:
        OSError: It cannot be written.
    """
    detail = record.detail.encode("utf-8", "replace").decode()[:_MAX_DETAIL]
    write_json(path, asdict(replace(record, detail=detail)), durable=False)


def _text(value: object) -> str:
    return value[:_MAX_DETAIL] if isinstance(value, str) else ""


def _process(value: object) -> Process:
    fields = value if isinstance(value, dict) else {}
    pid = fields.get("pid")
    if isinstance(pid, bool) or not isinstance(pid, int) or pid <= 0:
        return Process()
    return Process(pid=pid, started=_text(fields.get("started")))
