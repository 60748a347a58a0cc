"""The command that an agent runs for an event."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import cognee_hooks
from cognee_hooks.errors import InstallRefused

MARKER = "cognee_hooks/daemon/client.py"
"""Part of every command of ours, whatever interpreter and folder it names. Entries of an agent's
settings that hold it belong to us, and no others do."""

MODULE = "cognee_hooks"
"""Our command line as a module; part of every MCP server's command of ours."""

_THROW_AWAY = (
    "/.cache/uv/",
    "/uv/archive-v",
    "/uv/environments-v",
    "/uv/builds-v",
    "/pipx/.cache/",
)


def hook_argv(agent: str, event: str, empty: str = "") -> list[str]:
    """Return what an agent runs for one event.

    The interpreter's path is not resolved: in a virtual environment it is a link, and only under
    that name does it find the environment's packages.

    Args:
        agent: The adapter's name.
        event: The agent's name of the event.
        empty: What the command prints when nobody answers; most agents take nothing.

    Raises:
        InstallRefused: No command of ours can run here.
    """
    argv = launcher_argv()
    argv += [agent, event]
    return [*argv, empty] if empty else argv


def launcher_argv(*, platform: str = sys.platform, executable: str | None = None) -> list[str]:
    """Return the part of the command that is the same for all events.

    Args:
        platform: As `sys.platform`.
        executable: Interpreter; ours by default.

    Raises:
        InstallRefused: No command of ours can run here.
    """
    if platform == "win32":
        raise InstallRefused(
            "Windows is not supported yet: hooks talk to their daemon over a Unix socket. "
            "Install inside WSL instead. Nothing was changed."
        )
    interpreter = sys.executable if executable is None else executable
    if not interpreter:
        raise InstallRefused(
            "this Python does not know its own path, so no hook could start it. Run the command "
            "with an interpreter that is a file on disk. Nothing was changed."
        )
    argv = [str(Path.cwd() / interpreter), "-I", "-S", str(client_path())]
    for word in argv:
        if not word.isprintable():
            raise InstallRefused(
                f"the path {word!r} holds characters that settings files cannot carry. Install "
                "cognee-hooks in a folder with a plain name. Nothing was changed."
            )
    return argv


def client_path() -> Path:
    """Return the absolute path of the thin client that hooks start."""
    return Path(os.path.abspath(cognee_hooks.__file__)).parent / "daemon" / "client.py"  # noqa: PTH100 -- resolve() would follow links that an upgrade moves


def warnings(environ: Mapping[str, str], *, argv: list[str] | None = None) -> list[str]:
    """Return what a person should know about the place that hooks will start from.

    Args:
        environ: Names the folders in which throw-away environments are made.
        argv: The command; ours by default.
    """
    caches = [environ.get("UV_CACHE_DIR", ""), environ.get("TMPDIR", ""), tempfile.gettempdir()]
    folders = [f"{each.rstrip('/')}/" for each in (*caches, "/tmp", "/var/tmp") if each]  # noqa: S108 -- looked for, not used
    words = launcher_argv() if argv is None else argv
    for word in (words[0], words[-1]):
        if word.startswith(tuple(folders)) or any(each in word for each in _THROW_AWAY):
            text = (
                f"{word} lies in a folder that is cleaned up now and then; when it is gone the "
                "hooks do nothing. Install cognee-hooks where it stays, for example with "
                "`uv tool install`, and run this command again."
            )
            return [text]
    return []


def cli_argv() -> list[str]:
    """Return how agents start our command line: by its script, if that lies beside the interpreter.

    Raises:
        InstallRefused: As `launcher_argv`.
    """
    interpreter = launcher_argv()[0]
    script = Path(interpreter).with_name("cognee-hooks")
    if os.access(script, os.X_OK) and str(script).isprintable():
        return [str(script)]
    return [interpreter, "-P", "-m", MODULE]


def mcp_argv(agent: str) -> list[str]:
    """Return how an agent starts our MCP server.

    Args:
        agent: The adapter's name.

    Raises:
        InstallRefused: As `launcher_argv`.
    """
    return [launcher_argv()[0], "-P", "-m", MODULE, "mcp", "--agent", agent]
