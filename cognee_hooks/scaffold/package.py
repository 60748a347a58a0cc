"""Makes the files of a new plugin package out of templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import PurePosixPath
from string import Template

from cognee_hooks._defaults import BUILT_INS, ESSENTIAL
from cognee_hooks.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LONGEST = 40
_COMMON = "common"
_SUFFIX = ".tmpl"


class PluginKind(StrEnum):
    """What a new plugin is to do."""

    REDACTOR = "redactor"
    """Take something out of everything that leaves the machine."""
    LANE = "lane"
    """Recall from another place."""
    AGENT = "agent"
    """Serve another agent."""
    NOTIFY = "notify"
    """Look on at what happens in a session."""


@dataclass(frozen=True, slots=True)
class NewPackage:
    """A package that is to be written.

    Attributes:
        name: The plugin's name, such as ``employee-ids``.
        kind: What it does.
    """

    name: str
    kind: PluginKind

    def __post_init__(self) -> None:
        """Refuse names that could not be installed, or are taken.

        Raises:
            UsageError: The name cannot be used.
        """
        if not _NAME.fullmatch(self.name) or len(self.name) > _LONGEST:
            raise UsageError(
                f"{self.name!r} cannot be a plugin's name; use lower-case words joined by hyphens, "
                f"{_LONGEST} characters at most, such as employee-ids"
            )
        if self.module.removeprefix("cognee_hooks_") in {*BUILT_INS, *ESSENTIAL}:
            raise UsageError(f"{self.name!r} is the name of a part of cognee-hooks; take another")

    @property
    def distribution(self) -> str:
        """Name of the package for installers."""
        return f"cognee-hooks-{self.name}"

    @property
    def module(self) -> str:
        """Name of the package for imports."""
        return f"cognee_hooks_{self.name.replace('-', '_')}"

    @property
    def class_name(self) -> str:
        """Name of the plugin's class."""
        return "".join(part.capitalize() for part in self.name.split("-"))

    def files(self) -> Mapping[PurePosixPath, str]:
        """Return the content of each file, by its path inside the package's folder."""
        words = {
            "name": self.name,
            "distribution": self.distribution,
            "module": self.module,
            "class_name": self.class_name,
            "variable": self.name.replace("-", "_"),
            "constant": self.name.replace("-", "_").upper(),
        }
        made: dict[PurePosixPath, str] = {}
        for folder in (_COMMON, self.kind.value):
            root = resources.files("cognee_hooks.scaffold").joinpath(folder)
            for each in sorted(root.iterdir(), key=lambda entry: entry.name):
                # A name holds its folders, since a package's data has no folders of its own.
                path = Template(each.name.removesuffix(_SUFFIX)).substitute(words)
                text = Template(each.read_text("utf-8")).substitute(words)
                made[PurePosixPath(path.replace("__in__", "/"))] = text
        return made
