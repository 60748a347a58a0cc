"""Where files lie, worked out from an environment that the caller passes in.

Three kinds of places: our own configuration, data and logs, where the platform keeps such things;
the folder ``~/.cognee-plugin`` and the file ``~/.cognee/.env``, which all cognee plugins share; and
the state of one agent inside that shared folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

APP = "cognee-hooks"
QUARANTINE = "quarantine"
"""Folder, beside the entries that wait, of those that can never be sent."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_FALLBACKS = {"config": ".config", "data": ".local/share", "log": ".local/state"}
_XDG = {"config": "XDG_CONFIG_HOME", "data": "XDG_DATA_HOME", "log": "XDG_STATE_HOME"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Every place that one agent's host uses. Making it touches no file.

    Attributes:
        agent: The agent's name as it stands in paths.
        home: The person's home folder.
        config_dir: Our configuration, shared by all agents.
        data_dir: Key files and the embedded server's database.
        log_dir: Log files.
        env_file: Settings shared with the other cognee plugins.
        state_dir: This agent's state.
        api_key_cache: Owner key of the server, shared with the other cognee plugins.
        breaker_file: Circuit breaker shared by this agent's processes.
        daemon_dir: Socket, log and queue of the daemon, which serves all agents.
        code_dir: Which repositories are indexed, at which server; shared by all agents.
    """

    agent: str
    home: Path
    config_dir: Path
    data_dir: Path
    log_dir: Path
    env_file: Path
    state_dir: Path
    api_key_cache: Path
    breaker_file: Path
    daemon_dir: Path
    code_dir: Path

    @classmethod
    def of(cls, environ: Mapping[str, str], agent: str) -> Self:
        """Work the places out.

        Args:
            environ: The agent's environment. ``HOME`` and the XDG variables place everything;
                ``COGNEE_ENV_FILE``, ``COGNEE_API_KEY_CACHE``, ``COGNEE_BREAKER_FILE``,
                ``COGNEE_CODE_STATE_DIR``, ``COGNEE_HOOKS_STATE_DIR`` and, for pi,
                ``COGNEE_PI_STATE_DIR`` move single ones.
            agent: Short name of the agent, such as ``claude-code``.
        """
        home = _home(environ)
        name = _UNSAFE.sub("-", agent) or "agent"
        shared = home / ".cognee-plugin"
        state = shared / "pi" if name == "pi" else shared / "hooks" / name
        state = _override(environ, home, "COGNEE_HOOKS_STATE_DIR", state)
        root = _override(environ, home, "COGNEE_HOOKS_STATE_DIR", shared / "hooks")
        if name == "pi":
            state = _override(environ, home, "COGNEE_PI_STATE_DIR", state)
        return cls(
            agent=name,
            home=home,
            config_dir=_platform_folder(environ, home, "config"),
            data_dir=_platform_folder(environ, home, "data"),
            log_dir=_platform_folder(environ, home, "log"),
            env_file=_override(environ, home, "COGNEE_ENV_FILE", home / ".cognee" / ".env"),
            state_dir=state,
            api_key_cache=_override(environ, home, "COGNEE_API_KEY_CACHE", shared / "api_key.json"),
            breaker_file=_override(environ, home, "COGNEE_BREAKER_FILE", state / "breaker.json"),
            # The thin client works this place out by itself.
            daemon_dir=root / "daemon",
            code_dir=_override(environ, home, "COGNEE_CODE_STATE_DIR", root / "code-graph"),
        )

    @property
    def config_file(self) -> Path:
        """Our configuration file."""
        return self.config_dir / "config.yaml"

    @property
    def shared_dir(self) -> Path:
        """Folder that all cognee plugins share."""
        return self.home / ".cognee-plugin"

    @property
    def sessions_dir(self) -> Path:
        """Small state of plugins, one folder for each session."""
        return self.state_dir / "sessions"

    @property
    def active_dataset_file(self) -> Path:
        """The dataset that new conversations begin with, where somebody switched."""
        return self.state_dir / "active-dataset.json"

    @property
    def bridge_dir(self) -> Path:
        """Captured entries that wait for the server, one file for each session."""
        return self.state_dir / "bridge"

    @property
    def ledger_dir(self) -> Path:
        """What was done in each session, without any text."""
        return self.state_dir / "ledger"

    @property
    def made_folders_file(self) -> Path:
        """Which folders installations into agents made."""
        return self.daemon_dir.parent / "made-folders.json"

    @property
    def key_file(self) -> Path:
        """Key of what is kept on disk encrypted.

        Its place depends on the home folder only: a terminal that sets XDG variables of its own
        must not make another key for the same state.
        """
        return self.home / _FALLBACKS["data"] / APP / "key"

    @property
    def embedded_dir(self) -> Path:
        """The embedded server's database."""
        return self.data_dir / "embedded"


def _home(environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME", ""))
    if home.is_absolute():
        return home
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run under a user id that nobody knows
        return Path(os.sep)


def _override(environ: Mapping[str, str], home: Path, name: str, default: Path) -> Path:
    """Return the path in a variable, ``~`` and relative ones from the person's home."""
    value = environ.get(name, "").strip()
    if not value:
        return default
    if value == "~" or value.startswith("~/"):
        return home / value[2:].lstrip("/")
    return home / value


def _platform_folder(environ: Mapping[str, str], home: Path, kind: str) -> Path:
    """Return the platform's folder of a kind, below the home that the environment names.

    platformdirs looks at the real environment of this process. In a resident process that serves
    several agents, and in tests, the agent's environment is another one, so only the part below the
    home folder is taken from it.
    """
    explicit = Path(environ.get(_XDG[kind], ""))
    if explicit.is_absolute():
        return explicit / APP
    import platformdirs

    folders = platformdirs.PlatformDirs(APP, appauthor=False)
    found = {
        "config": folders.user_config_path,
        "data": folders.user_data_path,
        "log": folders.user_log_path,
    }[kind]
    try:
        return home / found.relative_to(Path.home())
    except (ValueError, RuntimeError):
        return home / _FALLBACKS[kind] / APP
