"""pi in print mode, driven like the other real agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.agent_process import Completed, Running
from tests.support.pi_agent import Pi


class PiDriver(Pi):
    """pi, one process a turn; our extension is there, and waits to be set up by its installer.

    Args:
        version: Version of pi.
        home: Throw-away home.
        endpoint_url: URL of a scripted chat model, without ``/v1``.
        environment: Added to what pi sees.
    """

    def __init__(
        self, version: str, home: Path, endpoint_url: str, environment: Mapping[str, str]
    ) -> None:
        super().__init__(version, home, f"{endpoint_url}/v1", [], environment)
        self.extension.unlink()

    def start(self, text: str, *extra: str) -> Running:
        """Begin a turn in the background; extra arguments are pi's own."""
        command = self._command("-p", "--mode", "json", *extra, text)
        return Running(command, self.project, self._environment, _read_records)

    def prompt(self, text: str, *extra: str) -> Completed:
        """Run one turn to its end."""
        with self.start(text, *extra) as running:
            return running.wait()

    def resume(self, session: str, text: str) -> Completed:
        """Run one more turn of an earlier session."""
        return self.prompt(text, *self.resuming(session))

    def resuming(self, session: str) -> list[str]:
        """The arguments that make a turn part of an earlier session."""
        return ["--session", session]


def _read_records(out: str) -> tuple[str, str]:
    answer = session = ""
    for line in out.splitlines():
        record = json.loads(line)
        message = record.get("message", {})
        if record["type"] == "session":
            session = record["id"]
        elif record["type"] == "message_end" and message["role"] == "assistant":
            parts = message["content"]
            answer = "".join(part["text"] for part in parts if part["type"] == "text")
    return answer, session
