"""Real cognee servers for tests: installed from the package index, booted on loopback, offline.

Each version lives in a virtual environment of its own (its dependencies are large and pinned
differently from ours), kept beside the test environment so that only the first run installs it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import IO, Self

VERSIONS = ("1.6.0", "1.6.5")

_INSTALL_SECONDS = 900
# The server ends when its standard input does, so it cannot outlive a test run that was killed.
_PROGRAM = """
import os, signal, sys, threading

def watch():
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=watch, daemon=True).start()
import uvicorn
uvicorn.run("cognee.api.client:app", host="127.0.0.1", port=int(sys.argv[1]))
"""
_BOOT_SECONDS = 180
_STOP_SECONDS = 20
_LOG_TAIL = 6000


def install(version: str) -> Path:
    """The Python of an environment that has ``cognee==version``; installs it the first time.

    The environment counts once its marker file is written, so an interrupted installation starts
    over, and a file lock makes parallel test runs wait for one another.

    Args:
        version: A released cognee version.

    Returns:
        Path of that environment's ``python``.

    Raises:
        RuntimeError: The installation failed; the message holds the installer's output.
    """
    folder = Path(sys.prefix) / "share" / "cognee-hooks-tests" / f"cognee-{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    marker = folder / ".complete"
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _uv("venv", "--python", sys.executable, str(folder))
            _uv("pip", "install", "--python", str(python), f"cognee=={version}")
            marker.touch()
    return python


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", "--no-progress", *arguments],
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"uv {' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}")


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class RealCognee:
    """One cognee server process with throw-away data, as a context manager.

    Attributes:
        version: The cognee version.
        url: Base URL of the server.
        log: File that holds the server's output.
        boot_seconds: How long the last start took until ``/health`` answered.
    """

    def __init__(self, version: str, root: Path, model_url: str) -> None:
        self.version = version
        self.log = root / "server.log"
        self.boot_seconds = 0.0
        self._root = root
        self._model_url = model_url
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it is healthy.

        Raises:
            RuntimeError: It ended or stayed silent; the message holds the end of its log.
        """
        python = install(self.version)
        self._root.mkdir(parents=True, exist_ok=True)
        self._output = self.log.open("ab")
        began = time.monotonic()
        self._process = subprocess.Popen(
            [python, "-c", _PROGRAM, str(self._port)],
            cwd=self._root,
            env=self._environment(python),
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while not self._healthy():
            if self._process.poll() is not None or time.monotonic() - began > _BOOT_SECONDS:
                self.stop()
                raise RuntimeError(f"cognee {self.version} did not start:\n{self.log_tail()}")
            time.sleep(0.1)
        self.boot_seconds = time.monotonic() - began

    def stop(self) -> None:
        """End the server: politely, then for good. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process is not None and process.stdin is not None:
            process.stdin.close()
        if self._output is not None:
            self._output.close()
            self._output = None

    def log_tail(self) -> str:
        """The last lines of the server's output, for a failure message."""
        return self.log.read_text(errors="replace")[-_LOG_TAIL:]

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def _environment(self, python: Path) -> dict[str, str]:
        """Everything the server may know: nothing is inherited but the search path."""
        root = self._root
        packages = next((python.parent.parent / "lib").glob("python3*/site-packages"))
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(root),
            "TMPDIR": str(root),
            "LANG": "C.UTF-8",
            "LLM_PROVIDER": "custom",
            "LLM_MODEL": "openai/test-model",
            "LLM_ENDPOINT": self._model_url,
            "LLM_API_KEY": "none",
            "EMBEDDING_PROVIDER": "openai_compatible",
            # A name whose token table ships inside the installed litellm package.
            "EMBEDDING_MODEL": "text-embedding-3-small",
            "EMBEDDING_ENDPOINT": self._model_url,
            "EMBEDDING_API_KEY": "none",
            "EMBEDDING_DIMENSIONS": "384",
            "HF_HUB_OFFLINE": "1",
            "TIKTOKEN_CACHE_DIR": str(packages / "litellm" / "litellm_core_utils" / "tokenizers"),
            "DATA_ROOT_DIRECTORY": str(root / "data"),
            "SYSTEM_ROOT_DIRECTORY": str(root / "system"),
            "CACHE_ROOT_DIRECTORY": str(root / "cache"),
            "COGNEE_LOGS_DIR": str(root / "logs"),
            "DEFAULT_USER_PASSWORD": "default_password",
            "TELEMETRY_DISABLED": "1",
            "COGNEE_SKIP_CONNECTION_TEST": "true",
            "CACHING": "true",
        }
