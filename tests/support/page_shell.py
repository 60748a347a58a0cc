"""The shell in which the commands of one page run, one after the other, as a reader types them."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 90.0
"""Seconds after which a command counts as hanging."""
_DONE = "@@ done"
_LEFT_OUT = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
"""Without these, files lie where a page says that they do."""


@dataclass(frozen=True)
class Ran:
    """A command that ended.

    Attributes:
        code: Its exit code.
        output: What it wrote, errors too; the home folder is called ``/home/you``.
    """

    code: int
    output: str


class PageShell:
    """A bash, as a context manager.

    Args:
        home: Its home folder, and where it begins.
        environ: Variables beside those of the tests.
        programs: The folder whose programs are found first; this Python's by default.
    """

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        programs: Path = Path(sys.executable).parent,
    ) -> None:
        self._home = home
        kept = {name: text for name, text in os.environ.items() if name not in _LEFT_OUT}
        self._environ = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{kept['PATH']}",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            **environ,
        }
        self._lines: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            cwd=self._home,
            env=self._environ,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The daemon has a session of its own, so the end of this one would not reach it.
        try:
            if (self._home / ".cognee-plugin" / "hooks" / "daemon").exists():
                self.run("cognee-hooks daemon stop")
        finally:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._reader.join(PATIENCE)

    @property
    def folder(self) -> Path:
        """Where it is."""
        return Path(self.run('printf "%s" "$PWD"', shown=False).output)

    def run(self, command: str, *, shown: bool = True) -> Ran:
        """Run a command, or several lines of them.

        Args:
            command: The lines.
            shown: Call the home folder ``/home/you`` in what they write.

        Raises:
            TimeoutError: They do not come to an end.
        """
        assert self._process.stdin is not None
        done = f"printf '\\n{_DONE} %s\\n' \"$?\""
        self._process.stdin.write(f"{{ {command}\n}} </dev/null\n{done}\n")
        self._process.stdin.flush()
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise TimeoutError(f"{command} hangs after: {''.join(lines)}") from None
            if line.startswith(_DONE):
                break
            lines.append(line)
        output = "".join(lines).removesuffix("\n")
        if shown:
            output = output.replace(str(self._home), "/home/you")
        return Ran(int(line.removeprefix(_DONE)), output)

    def export(self, name: str, value: str) -> None:
        """Set a variable for all that follows."""
        self._environ[name] = value
        self.run(f"export {name}='{value}'")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
