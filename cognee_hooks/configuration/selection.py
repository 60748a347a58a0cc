"""Which plugins the configuration asks for, and which it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.configuration.files import ConfigFile
from cognee_hooks.configuration.values import to_bool

CONTROL_KEYS = ("block", "only", "require", "require_redactors", "autoload")
"""What stands under ``plugins`` in a configuration file beside the plugins' own sections."""

Lookup = Callable[[str], tuple[str, str]]
"""Gives a variable's text and the label of the source that it stands in."""

Report = Callable[[str, str, str], None]
"""Takes a problem: name, source, message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSelection:
    """What the configuration says about plugins.

    Attributes:
        block: Plugins that are not loaded.
        only: If not None, only these are.
        require: ``name`` or ``name>=version``; a missing one is reported.
        require_redactors: Redactors without which nothing leaves the process.
        autoload: Load installed plugins that nobody asked for by name.
        block_sources: Where each blocked name stands.
        only_source: Where the list of the only ones stands; "" where there is none.
    """

    block: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    require: tuple[str, ...] = ()
    require_redactors: tuple[str, ...] = ()
    autoload: bool = True
    block_sources: Mapping[str, str] = field(default_factory=dict)
    only_source: str = ""


@dataclass(frozen=True, slots=True)
class Selector:
    """Reads a `PluginSelection` out of all sources.

    Attributes:
        config: The user's own file.
        project: The project's file, which may only block.
        lookup: Reads a variable.
        report: Takes what cannot be used.
    """

    config: ConfigFile
    project: ConfigFile
    lookup: Lookup
    report: Report

    def select(self, asked: object) -> PluginSelection:
        """Return the selection.

        Args:
            asked: The values of ``-p``, in order: ``name`` loads a plugin even where it is blocked
                or autoload is off, ``no:name`` leaves it out; the last word on a name counts. What
                the project's own file blocks stays blocked.
        """
        blocked = dict.fromkeys(self._names(self.config, "block"), self.config.label)
        disabled, _ = self.lookup("COGNEE_HOOKS_DISABLE")
        blocked.update(dict.fromkeys(split(disabled), "COGNEE_HOOKS_DISABLE"))
        wanted: dict[str, None] = {}
        for each in self._asked(asked):
            name = each.removeprefix("no:").strip()
            blocked.pop(name, None)
            wanted.pop(name, None)
            if each.startswith("no:"):
                blocked[name] = f"-p {each}"
            else:
                wanted[name] = None
        blocked.update(dict.fromkeys(self._project_blocks(), self.project.label))
        only, only_source = self._only()
        return PluginSelection(
            block=frozenset(blocked),
            only=None if only is None else frozenset((*only, *wanted)),
            require=tuple(dict.fromkeys((*self._names(self.config, "require"), *wanted))),
            require_redactors=self._names(self.config, "require_redactors"),
            autoload=self._autoload(),
            block_sources=blocked,
            only_source=only_source,
        )

    def _asked(self, asked: object) -> list[str]:
        if asked is None:
            return []
        names = [asked] if isinstance(asked, str) else asked
        if isinstance(names, (list, tuple)) and all(isinstance(each, str) for each in names):
            return [each.strip() for each in names if each.removeprefix("no:").strip()]
        self.report("plugins", "argument", "plugins must be a list of names; it is not used.")
        return []

    def _project_blocks(self) -> tuple[str, ...]:
        for key in CONTROL_KEYS[1:]:
            if key in self.project.plugins:
                self.report(
                    f"plugins.{key}",
                    self.project.label,
                    f"a project file can only narrow, so plugins.{key} is not taken from it. Set "
                    "it in your own configuration.",
                )
        names = self._names(self.project, "block")
        recall = self.project.values.get("recall")
        if recall is None:
            return names
        if recall is False:
            return (*names, "recall")
        self.report(
            "recall",
            self.project.label,
            "a project file can only narrow: `recall: false` switches recall off, and nothing else "
            "can be said of it there. Its other settings stand under plugins.recall.",
        )
        return names

    def _only(self) -> tuple[tuple[str, ...] | None, str]:
        text, _ = self.lookup("COGNEE_HOOKS_PLUGINS")
        if names := split(text):
            return names, "COGNEE_HOOKS_PLUGINS"
        if not isinstance(self.config.plugins.get("only"), (str, list)):
            self._names(self.config, "only")
            return None, ""
        return self._names(self.config, "only"), self.config.label

    def _autoload(self) -> bool:
        name = "COGNEE_HOOKS_AUTOLOAD"
        text, source = self.lookup(name)
        if text.strip():
            try:
                return to_bool(text)
            except ValueError as error:
                self.report(name, source, f"{name} {error}; the value is not used.")
        chosen = self.config.plugins.get("autoload")
        if chosen is not None and not isinstance(chosen, bool):
            self.report(
                "plugins.autoload",
                self.config.label,
                "plugins.autoload must be true or false; the value is not used.",
            )
        return chosen if isinstance(chosen, bool) else True

    def _names(self, file: ConfigFile, key: str) -> tuple[str, ...]:
        value: Any = file.plugins.get(key)
        if value is not None and not _is_list_of_names(value):
            message = f"plugins.{key} must be a list of names; it is not used."
            self.report(f"plugins.{key}", file.label, message)
        return names_of(value)


def names_of(value: object) -> tuple[str, ...]:
    """Return the names in a list, or in a text with commas; none where it is neither."""
    if isinstance(value, str):
        return split(value)
    names = value if isinstance(value, list) and _is_list_of_names(value) else []
    return tuple(each.strip() for each in names if each.strip())


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def split(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
