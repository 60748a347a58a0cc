"""The command line as a process, and packages that bring plugins to it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parents[1] / "data" / "claude-code" / "2.1.332"
START_UP = 25.0
"""Seconds that a process may take besides its budget, on a machine that is busy with tests.

What would be wrong takes at least twice as long: tests let servers and plugins hang for a minute.
"""


@dataclass(frozen=True)
class Done:
    """A process that ended."""

    code: int | None
    out: str
    err: str
    seconds: float

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


def payload(name: str, **changes: Any) -> dict[str, Any]:
    """A payload that was captured from Claude Code."""
    document: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return document | changes


async def command(
    *arguments: str, stdin: object = b"", limit: float = 120.0, **environ: str
) -> Done:
    """Run ``cognee-hooks`` and wait for its end.

    Args:
        arguments: Its arguments.
        stdin: What it reads: bytes, or a value that becomes JSON.
        limit: Seconds after which it counts as hanging.
        environ: Variables beside those of the tests.
    """
    data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cognee_hooks",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | environ,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(data), limit)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    seconds = time.monotonic() - started
    return Done(process.returncode, out.decode(), err.decode(), seconds)


def install_plugin(folder: Path, name: str, source: str, plugin: str = "plugin") -> str:
    """Put a package with one plugin into a folder, as an installer would.

    Args:
        folder: Where to.
        name: Name of the plugin and its package.
        source: The module.
        plugin: What in the module the entry point names.

    Returns:
        The value for ``PYTHONPATH`` that makes it installed.
    """
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[cognee_hooks]\n{name} = {name}:{plugin}\n")
    return f"{folder}{os.pathsep}{Path.cwd()}"
