"""Which files are ours to clean, and which hold the same texts but are only reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks.services.paths import Paths

_SETTINGS = "your own settings; change the value there, then revoke the old one"
_SHARED = "shared with other cognee plugins, or another one's; clean it there"
_SERVER = "a local server's own data; what its routes delete may stay in its files for a while"
_TRANSCRIPT = "the agent's own file; delete the conversation there"
_AGENT_FOLDERS = (
    ".claude",
    ".codex",
    ".copilot",
    ".cursor",
    ".gemini",
    ".local/share/opencode",
    ".pi",
    ".qwen",
)
_AGENT_VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR")


@dataclass(frozen=True, slots=True)
class Reported:
    """A file or folder that is looked through and not changed.

    Attributes:
        path: The file or folder.
        why: Whose it is and what to do, for people.
    """

    path: Path
    why: str


def own_roots(folders: Iterable[Paths]) -> list[Path]:
    """Return the folders whose every file is ours, none of them inside another one.

    Args:
        folders: The places of every agent.
    """
    found: set[Path] = set()
    for paths in folders:
        found |= {paths.state_dir, paths.daemon_dir.parent, paths.code_dir}
        found |= {paths.log_dir, paths.data_dir, paths.key_file.parent}
    return [each for each in sorted(found) if not found & set(each.parents)]


def reported(folders: Sequence[Paths], environ: Mapping[str, str]) -> list[Reported]:
    """Return what is looked through beside that."""
    places: dict[Path, str] = {}
    for paths in folders:
        places |= dict.fromkeys((paths.config_dir, paths.env_file), _SETTINGS)
        places |= dict.fromkeys((paths.api_key_cache, paths.breaker_file), _SHARED)
        places |= {paths.shared_dir: _SHARED, paths.home / ".cognee": _SERVER}
        places |= {paths.home / each: _TRANSCRIPT for each in _AGENT_FOLDERS}
    moved = (environ.get(each, "") for each in _AGENT_VARIABLES)
    places |= {Path(each): _TRANSCRIPT for each in moved if Path(each).is_absolute()}
    ours = {*own_roots(folders)}
    return [
        Reported(path, why)
        for path, why in places.items()
        if path not in ours and not ours & set(path.parents)
    ]
