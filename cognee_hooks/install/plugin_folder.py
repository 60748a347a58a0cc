"""Writes a folder that Claude Code's own plugin manager installs: a marketplace with one plugin.

The plugin is read in place, so the folder has to stay where it is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cognee_hooks
from cognee_hooks.install.files import read, refused
from cognee_hooks.install.plan import SHARED_MODE, FileChange, Plan

MARKETPLACE = "cognee-hooks"
PLUGIN = "memory"

_ABOUT = "Lasting memory for coding agents, kept by a cognee server."


class PluginFolder:
    """A folder of ours.

    Args:
        folder: Absolute path.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manifest = folder / ".claude-plugin" / "marketplace.json"
        self._plugin = folder / "plugins" / PLUGIN

    @property
    def skills(self) -> Path:
        """The folder of the plugin's skills."""
        return self._plugin / "skills"

    @property
    def servers(self) -> Path:
        """The file that names the plugin's MCP servers."""
        return self._plugin / ".mcp.json"

    def install(self, entries: Mapping[str, Any]) -> Plan:
        """Plan to write the folder, or to bring it up to date.

        Args:
            entries: Our entry for each event.

        Raises:
            InstallRefused: The folder belongs to something else.
        """
        if not self._is_ours() and self._folder.exists() and any(self._folder.iterdir()):
            raise refused(
                self._folder, "this folder holds other files. Name a new or an empty folder"
            )
        folder = shlex.quote(str(self._folder))
        return Plan(
            changes=[
                FileChange(
                    path=path,
                    before=read(path),
                    after=(json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode(),
                    mode=SHARED_MODE,
                    wholly_ours=True,
                )
                for path, content in self._contents(entries).items()
            ],
            notes=[
                "Do not also install into Claude Code's settings: every hook would run twice.",
                "A plugin cannot bring a status line.",
            ],
            next_steps=[
                f"claude plugin marketplace add {folder}",
                f"claude plugin install {PLUGIN}@{MARKETPLACE}",
            ],
        )

    def uninstall(self) -> Plan:
        """Plan to remove our files, and folders in which nothing is left.

        Raises:
            InstallRefused: The folder belongs to something else.
        """
        paths = list(self._contents({}))
        if any(read(path) is not None for path in paths) and not self._is_ours():
            raise refused(self._folder, "this folder is not a plugin of cognee-hooks")
        folders = sorted(
            {parent for path in paths for parent in path.parents if self._is_inside(parent)},
            key=lambda each: len(each.parts),
            reverse=True,
        )
        return Plan(
            changes=[
                FileChange(path=path, before=read(path), after=None, wholly_ours=True)
                for path in paths
            ],
            next_steps=[
                f"claude plugin uninstall {PLUGIN}@{MARKETPLACE}",
                f"claude plugin marketplace remove {MARKETPLACE}",
            ],
            empty_folders=folders,
        )

    def _contents(self, entries: Mapping[str, Any]) -> dict[Path, dict[str, Any]]:
        version = cognee_hooks.__version__
        about = {"version": version, "description": _ABOUT}
        # The manifest is first, so that a folder that was half written is still known as ours.
        return {
            self._manifest: {
                "name": MARKETPLACE,
                "owner": {"name": "cognee-hooks"},
                "description": _ABOUT,
                "plugins": [{"name": PLUGIN, "source": f"./plugins/{PLUGIN}", **about}],
            },
            self._plugin / ".claude-plugin" / "plugin.json": {"name": PLUGIN, **about},
            self._plugin / "hooks" / "hooks.json": {
                "hooks": {event: [entry] for event, entry in entries.items()}
            },
        }

    def _is_inside(self, folder: Path) -> bool:
        return folder == self._folder or self._folder in folder.parents

    def _is_ours(self) -> bool:
        try:
            manifest = json.loads(read(self._manifest) or b"")
        except (ValueError, RecursionError):
            return False
        return isinstance(manifest, dict) and manifest.get("name") == MARKETPLACE
