"""Real pi for tests: installed from npm once, driven offline in a throw-away home.

pi sees a scrubbed environment and a scripted model on loopback.
"""

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
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support import npm
from tests.support.agent_process import Completed, Running, scrubbed

PACKAGES = {
    "0.73.1": ("@mariozechner/pi-coding-agent", "dist/cli.js"),
    "1.6.0": ("@earendil-works/pi-coding-agent", "dist/bundle/cli.js"),
}
"""Package and program by version: the last one under the old name, and the newest."""
EXTENSION = Path(__file__).parents[2] / "cognee_hooks" / "agents" / "pi_extension.ts"

_LAUNCHER_LINE = "const LAUNCHER: string[] = [];"
_RECORD_SECONDS = 60.0
_NEWS = ("Cognee Memory Connected", "Cognee memory", "Cognee code graph")
"""How lines begin that no command brought about."""


def install(version: str) -> Path:
    """The program of a version of pi; installs it the first time."""
    package, program = PACKAGES[version]
    return npm.install(f"pi-{version}", f"{package}@{version}") / package / program


class Pi:
    """One version of pi with a home of its own, in which our extension is installed.

    Args:
        version: One of `PACKAGES`.
        home: Throw-away home.
        endpoint_url: Base URL of a chat completions endpoint.
        launcher: What the installer would write into the extension; nothing for an extension that
            is switched off.
        environment: Added to what pi sees.

    Attributes:
        version: The version.
        project: Working directory.
        extension: The extension's file.
    """

    name = "pi"

    def __init__(
        self,
        version: str,
        home: Path,
        endpoint_url: str,
        launcher: list[str],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.version = version
        self.home = home
        self.project = home / "project"
        self.project.mkdir(exist_ok=True)
        self._program = install(version)
        additions = {"PI_OFFLINE": "1", **(environment or {})}
        self._environment = scrubbed(home, additions)
        folder = home / ".pi" / "agent"
        (folder / "extensions").mkdir(parents=True)
        self.extension = folder / "extensions" / "cognee-hooks.ts"
        source = EXTENSION.read_text()
        assert source.count(_LAUNCHER_LINE) == 1
        line = _LAUNCHER_LINE.replace("[];", f"{json.dumps(launcher)};")
        self.extension.write_text(source.replace(_LAUNCHER_LINE, line))
        model = {"id": "small", "contextWindow": 128_000, "maxTokens": 4096}
        provider = {"baseUrl": endpoint_url, "api": "openai-completions", "apiKey": "none"}
        models = {"providers": {"fake": {**provider, "models": [model]}}}
        (folder / "models.json").write_text(json.dumps(models))
        settings = {
            "defaultProvider": "fake",
            "defaultModel": "small",
            "quietStartup": True,
            "enableInstallTelemetry": False,
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def compact_early(self) -> None:
        """Have pi summarise all but the last few words of a session, also of a short one."""
        path = self.home / ".pi" / "agent" / "settings.json"
        compaction = {"reserveTokens": 4000, "keepRecentTokens": 10}
        path.write_text(json.dumps({**json.loads(path.read_text()), "compaction": compaction}))

    def start(self, *arguments: str) -> Running:
        """Begin a run in print mode."""
        return Running(self._command("-p", *arguments), self.project, self._environment, _as_it_is)

    def prompt(self, *arguments: str, seconds: float = 120.0) -> Completed:
        """Run a prompt in print mode to its end."""
        with self.start(*arguments) as running:
            return running.wait(seconds)

    def rpc(self, *arguments: str) -> Rpc:
        """Begin a session that is driven over RPC."""
        return Rpc(self._command("--mode", "rpc", *arguments), self.project, self._environment)

    def _command(self, *arguments: str) -> list[str]:
        return [str(npm.NODE), str(self._program), *arguments]


def _as_it_is(out: str) -> tuple[str, str]:
    return out.strip(), ""


class Rpc:
    """A session of pi in RPC mode, as a context manager that leaves no process behind.

    Attributes:
        records: Everything that pi wrote, one document a line.
    """

    def __init__(self, command: list[str], project: Path, environment: dict[str, str]) -> None:
        self.records: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._looked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    @property
    def pid(self) -> int:
        """Process id of pi."""
        return self._process.pid

    def send(self, **record: Any) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(record).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, seconds: float = _RECORD_SECONDS, **record: Any) -> dict[str, Any]:
        """Send a command and return the record that responds to it."""
        self.send(**record)
        kind = record["type"]
        return self.until(lambda each: each["type"] == "response" and each["command"] == kind)

    def prompt(self, text: str, seconds: float = _RECORD_SECONDS) -> None:
        """Send a prompt and wait for the end of its run."""
        self.ask(type="prompt", message=text)
        self.until(lambda record: record["type"] == "agent_end", seconds)

    def command(self, line: str, seconds: float = _RECORD_SECONDS) -> dict[str, Any]:
        """Type one of our commands and return how its answer is shown, past what we say besides."""
        self.send(type="prompt", message=line)
        while (shown := self.ui("notify", seconds))["message"].startswith(_NEWS):
            pass
        return shown

    def ui(self, method: str, seconds: float = _RECORD_SECONDS) -> dict[str, Any]:
        """Wait for a record in which the extension uses the interface."""
        return self.until(
            lambda each: each["type"] == "extension_ui_request" and each["method"] == method,
            seconds,
        )

    def until(
        self, wanted: Callable[[dict[str, Any]], bool], seconds: float = _RECORD_SECONDS
    ) -> dict[str, Any]:
        """Wait for a record that has not been looked at.

        Raises:
            AssertionError: It did not come in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            while self._looked < len(self.records):
                record = self.records[self._looked]
                self._looked += 1
                if wanted(record):
                    return record
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing came in {seconds} s: {self._kinds()}") from None
            assert line, f"pi ended: {self._kinds()}"
            self.records.append(json.loads(line))

    def end(self, seconds: float = _RECORD_SECONDS) -> int:
        """Close pi's input and wait for its exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(seconds)

    def _kinds(self) -> list[str]:
        return [str(record.get("type")) for record in self.records]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")
