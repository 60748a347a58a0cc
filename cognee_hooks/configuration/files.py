"""Reads YAML configuration files; whatever is wrong with one becomes a sentence."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROJECT_FILE_NAME = ".cognee-hooks.yaml"
MAX_BYTES = 64 * 1024
MAX_SECRET_BYTES = 16 * 1024
_MAX_LEVELS = 40
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file's content.

    Attributes:
        label: What the file is called in messages.
        path: Where it lies; None where there is none.
        values: Its top-level mapping.
        problems: What could not be used.
        exposed: Section and name of each value that other users of the machine can read, which is
            all that stand in the file itself where its mode lets others read it.
    """

    label: str
    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    exposed: frozenset[tuple[str, str]] = frozenset()

    @property
    def plugins(self) -> Mapping[str, Any]:
        """The ``plugins`` mapping: selection, and one mapping for each plugin's options."""
        plugins = self.values.get("plugins")
        return plugins if isinstance(plugins, Mapping) else {}

    def section(self, name: str) -> Mapping[str, Any]:
        """Return the options of a plugin, or with "" those of the core."""
        if not name:
            return {key: value for key, value in self.values.items() if key != "plugins"}
        section = self.plugins.get(name)
        return section if isinstance(section, Mapping) else {}


def find_project_file(start: Path | None, home: Path | None) -> Path | None:
    """Look for a project's own file in ``start`` and its parents, up to the repository's root.

    The home folder itself is no project; a link is not followed, since it may lead anywhere.
    """
    if start is None or not start.is_absolute():
        return None
    for folder in [start, *start.parents][:_MAX_LEVELS]:
        if folder == home:
            return None
        candidate = folder / PROJECT_FILE_NAME
        if _is_plain_file(candidate):
            return candidate
        if os.path.lexists(folder / ".git"):
            return None
    return None


def _is_plain_file(path: Path) -> bool:
    """Say whether a file and no link lies there; a folder that may not be entered means no."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def read_text(path: Path, limit: int) -> str | None:
    """Return a regular file's text; None where it is missing, no file, or larger than ``limit``."""
    try:
        # Not opened as a file object at first: that raises for a folder and leaves it open.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8-sig", "replace") if len(data) <= limit else None


def read_yaml(path: Path | None, label: str, environ: Mapping[str, str] | None) -> ConfigFile:
    """Read a YAML file whose top level is a mapping.

    ``{$env: NAME}`` stands for a variable's value and ``{$file: path}`` for a small file's text, so
    that secrets need not stand in the file. Without an ``environ`` both are refused: a cloned
    repository must not be able to put a variable or a file of the user into a value that is sent.
    """
    if path is None or not os.path.lexists(path):
        return ConfigFile(label, path)
    text = read_text(path, MAX_BYTES)
    if text is None:
        message = f"{path} is no readable file of at most {MAX_BYTES} bytes; it is not used."
        return ConfigFile(label, path, problems=(message,))
    problems: list[str] = []
    value, problem = _loaded(path, text, problems)
    if problem:
        return ConfigFile(label, path, problems=(problem,))
    values = _resolved(value, environ, problems, _MAX_DEPTH)
    exposed = _inline(value) if _readable_by_others(path) else frozenset()
    return ConfigFile(label, path, values, tuple(problems), exposed)


def load_mapping(text: str) -> dict[str, Any] | None:
    """Return what a YAML text says; None where it is not valid, or no names with values."""
    value, problem = _loaded(Path("the text"), text, [])
    return None if problem else value


def compose(text: str) -> Any:
    """Return a YAML text as nodes, which know where they stand; None for an empty one.

    Only for text that `load_mapping` reads.
    """
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _readable_by_others(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except OSError:
        return False


def _inline(value: Mapping[Any, Any]) -> frozenset[tuple[str, str]]:
    """Return section and name of each value that stands in the file itself."""
    plugins = value.get("plugins")
    sections = {**plugins, "": value} if isinstance(plugins, dict) else {"": value}
    return frozenset(
        (section, name)
        for section, table in sections.items()
        if isinstance(table, dict)
        for name, each in table.items()
        if not isinstance(each, dict)
    )


def _loaded(path: Path, text: str, problems: list[str]) -> tuple[Any, str]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        repeated = _RepeatedKeys()
        # Aliases can blow a small file up to any size, and no setting needs one.
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                return None, f"{path} uses YAML aliases, which are not allowed; it is not used."
            repeated.take(event)
            # A tag on text that does not fit it makes the loader raise errors of many kinds.
            if getattr(event, "tag", None):
                return None, f"{path} uses YAML tags, which are not allowed; it is not used."
        value = yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        return None, f"{path} is not valid YAML{where}; it is not used."
    problems.extend(
        f"{path} says {key!r} a second time in line {line}; the last one counts."
        for key, line in repeated.found
    )
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return None, f"{path} must hold names with values; it is not used."
    return value, ""


class _RepeatedKeys:
    """Finds names that stand twice in one mapping, which loaders pass over in silence.

    Attributes:
        found: Each with its line, counted from 1.
    """

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []
        # For each open collection the names seen in it, or None for a list; and whether the next
        # node of a mapping is a name.
        self._open: list[set[str] | None] = []
        self._name_next: list[bool] = []

    def take(self, event: Any) -> None:
        """Take the next event of a YAML parser."""
        kind = type(event).__name__
        if kind in {"MappingEndEvent", "SequenceEndEvent"}:
            self._open.pop()
            self._name_next.pop()
            return
        if kind not in {"ScalarEvent", "MappingStartEvent", "SequenceStartEvent"}:
            return
        if self._open:
            names = self._open[-1]
            if names is not None and self._name_next[-1] and kind == "ScalarEvent":
                if event.value in names:
                    self.found.append((event.value, event.start_mark.line + 1))
                names.add(event.value)
            self._name_next[-1] = not self._name_next[-1]
        if kind != "ScalarEvent":
            self._open.append(set() if kind == "MappingStartEvent" else None)
            self._name_next.append(True)


def _resolved(
    value: Any, environ: Mapping[str, str] | None, problems: list[str], depth: int
) -> Any:
    if depth == 0:
        problems.append("values are nested too deeply; the innermost are not used.")
        return None
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in {"$env", "$file"}:
            return _indirect(*next(iter(value.items())), environ, problems)
        if not all(isinstance(key, str) for key in value):
            problems.append("names that are no text are not used; put them in quotes.")
        return {
            key: _resolved(each, environ, problems, depth - 1)
            for key, each in value.items()
            if isinstance(key, str)
        }
    if isinstance(value, list):
        return [_resolved(each, environ, problems, depth - 1) for each in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    problems.append("a date is not used as a value; put it in quotes.")
    return None


def _indirect(
    kind: str, target: Any, environ: Mapping[str, str] | None, problems: list[str]
) -> str | None:
    name = str(target)
    if environ is None:
        problems.append(f"{kind} is not allowed in a project file; the value is not used.")
        return None
    if kind == "$env":
        if name not in environ:
            problems.append(f"the variable {name} named by $env is not set.")
        return environ.get(name)
    path = Path(name.replace("~", environ.get("HOME", "~"), 1) if name.startswith("~/") else name)
    text = read_text(path, MAX_SECRET_BYTES)
    if text is None:
        problems.append(f"the file {name} named by $file cannot be read.")
        return None
    return text.rstrip("\r\n")
