"""One person's machine for tests: a throw-away home, our installation in it, a server behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from tests.support.agent_process import scrubbed
from tests.support.waiting import wait_until

_ANCHOR = "compaction anchor"
"""In the context of an entry that was made before a compaction."""
_COMMAND_SECONDS = 120
_STOP_SECONDS = 60.0


class AgentMachine:
    """A machine with cognee-hooks on it, as a context manager that leaves no daemon behind.

    Args:
        home: Throw-away home.
        url: The cognee server's address.
        key: Key for it.
        dataset: Dataset of all sessions.
        programs: Folders with programs that the person can start by name.

    Attributes:
        home: As given.
        project: Where the agents work.
        environment: What agents have to know about the server.
    """

    def __init__(self, home: Path, url: str, key: str, dataset: str, *programs: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir()
        self.environment = {
            "PATH": os.pathsep.join([*map(str, programs), os.environ.get("PATH", os.defpath)]),
            "COGNEE_BASE_URL": url,
            "COGNEE_API_KEY": key,
            "COGNEE_PLUGIN_DATASET": dataset,
            # A real server on a busy machine may be slow; how slow is not the subject here.
            "COGNEE_RECALL_TIMEOUT_MS": "9000",
        }
        self.api = httpx.Client(base_url=url, headers={"X-Api-Key": key}, timeout=120)
        self.dataset = dataset
        self._daemon_folder = home / ".cognee-plugin" / "hooks" / "daemon"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.api.close()
        pid = self.daemon()["pid"]
        if not control.stop(self._daemon_folder, Deadline.after(_STOP_SECONDS)):
            os.kill(pid, signal.SIGKILL)

    # -- our commands ------------------------------------------------------------------------

    def command(self, *arguments: str) -> str:
        """Run a ``cognee-hooks`` command as the person would, and return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "cognee_hooks", *arguments],
            cwd=self.project,
            env=scrubbed(self.home, self.environment) | {"PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise subprocess.CalledProcessError(
                done.returncode, done.args, done.stdout, done.stderr
            )
        return done.stdout

    def daemon(self) -> Mapping[str, Any]:
        """What the daemon says about itself; its ``pid`` is None when there is none."""
        return control.ask(self._daemon_folder, "status") or {"pid": None}

    def kill_daemon(self) -> int:
        """End the daemon with SIGKILL, and return its process id."""
        pid: int = self.daemon()["pid"]
        os.kill(pid, signal.SIGKILL)
        return pid

    # -- the server --------------------------------------------------------------------------

    def session(self, session_id: str) -> dict[str, Any]:
        """What the server holds of a session; empty lists where it knows none."""
        answer = self.api.get(f"/api/v1/sessions/{session_id}")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return {"qas": [], "traces": []}
        found: dict[str, Any] = answer.raise_for_status().json()
        return found

    def turns(self, session_id: str) -> list[tuple[str, str]]:
        """Questions and answers of a session, in order, without what compactions left."""
        rows = [each for each in self.session(session_id)["qas"] if _ANCHOR not in each["context"]]
        return [(each["question"], each["answer"]) for each in rows]

    def anchors(self, session_id: str) -> list[str]:
        """What was stored when a session was compacted."""
        rows = self.session(session_id)["qas"]
        return [each["answer"] for each in rows if _ANCHOR in each["context"]]

    def wait_for_turns(self, session_id: str, count: int) -> None:
        """Wait until a session has that many turns, and the daemon has nothing more to send."""
        wait_until(
            lambda: len(self.turns(session_id)) >= count, f"{count} turns of {session_id}", 120
        )
        self.wait_for_journal()

    def wait_for_journal(self, prompts: int = 0) -> None:
        """Wait until the daemon has sent all that it has captured.

        Args:
            prompts: How many prompts may wait for their answer, which they are sent with.
        """
        wait_until(
            lambda: self.daemon().get("kept", prompts + 1) <= prompts, "an empty journal", 120
        )

    def improve(self, session_id: str) -> None:
        """Make a session's entries memory of the dataset, or wait while its own end does that."""
        body = {"dataset_name": self.dataset, "session_ids": [session_id]}

        def done() -> bool:
            result = self.api.post("/api/v1/improve", json=body).raise_for_status().json()
            assert result["status"] in {"completed", "skipped"}, result
            return result["status"] == "completed"

        wait_until(done, f"the improve of {session_id}", 120)
