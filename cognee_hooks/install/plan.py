"""What an installer is asked and what it answers: a plan, which changes nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from cognee_hooks.errors import UsageError
from cognee_hooks.services.paths import Paths

PRIVATE_MODE = 0o600
SHARED_MODE = 0o644


class Scope(StrEnum):
    """For whom an agent is set up."""

    USER = "user"
    """One person, in all projects."""
    PROJECT = "project"
    """Everybody in one project; the file is usually under version control."""
    LOCAL = "local"
    """One person in one project."""


class Tools(StrEnum):
    """How an agent that has no tools of ours by itself gets them."""

    SKILLS = "skills"
    """As skills, which tell the model how to call our command line."""
    MCP = "mcp"
    """From our MCP server; what only people call comes as skills nevertheless."""
    NONE = "none"
    """Not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and how to install.

    Attributes:
        environ: The person's environment; agents' own variables move their folders.
        cwd: The project, for scopes other than the user's.
        scope: For whom.
        status_line: Whether a status line is wanted.
        tools: How the agent gets the model's tools, where it takes them.
        plugin_folder: Where to write a plugin for the agent's own plugin manager; None to change
            the agent's settings.
    """

    environ: Mapping[str, str]
    cwd: Path
    scope: Scope = Scope.USER
    status_line: bool = True
    tools: Tools = Tools.SKILLS
    plugin_folder: Path | None = None

    @property
    def home(self) -> Path:
        """The person's home folder."""
        return Paths.of(self.environ, "agent").home

    def folder(self, variable: str, *default: str) -> Path:
        """Return an agent's own folder.

        Args:
            variable: The agent's variable that moves it.
            default: Where it is otherwise, below the home folder.
        """
        value = self.environ.get(variable, "").strip()
        if not value:
            return self.home.joinpath(*default)
        if value == "~" or value.startswith("~/"):
            return self.home / value[2:]
        return self.cwd / value

    def require(self, agent: str, *scopes: Scope) -> None:
        """Refuse what an agent cannot do.

        Args:
            agent: Its name.
            scopes: The scopes that it knows.

        Raises:
            UsageError: The scope is another one, or a plugin folder is asked for.
        """
        if self.scope not in scopes:
            known = ", ".join(scopes)
            raise UsageError(f"{agent} has no scope {self.scope.value!r}; there is: {known}")
        if self.plugin_folder is not None:
            raise UsageError(f"--plugin-folder is not for {agent}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after.

    Attributes:
        path: The file as the agent names it; a symbolic link stays one.
        before: Its content now; None where there is no such file.
        after: Its content then; None to remove it.
        mode: Permissions of a file that is new; others keep theirs.
        wholly_ours: Whether nobody else's words are in it, so that no copy of it is kept.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int = PRIVATE_MODE
    wholly_ours: bool = False

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Something that is done only when the person agrees to it by name.

    Attributes:
        text: What it is and what it allows.
        question: Answered by yes or no.
        grant: Does it, after the files are written; told the time, it returns lines about what was
            done.
        otherwise: What the person can do where they say no.
    """

    text: str
    question: str
    grant: Callable[[datetime], Sequence[str]]
    otherwise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that an installation or its removal does.

    Attributes:
        changes: The files.
        notes: What a person should know, one line each.
        next_steps: What a person has to do afterwards, one line each.
        consents: What needs agreement beyond the change of files.
        empty_folders: Folders of ours that go when nothing is left in them, innermost first.
    """

    changes: Sequence[FileChange]
    notes: Sequence[str] = ()
    next_steps: Sequence[str] = ()
    consents: Sequence[Consent] = ()
    empty_folders: Sequence[Path] = ()

    @property
    def effective(self) -> list[FileChange]:
        """The files that really change."""
        return [each for each in self.changes if each.changes]


@runtime_checkable
class Installer(Protocol):
    """Sets an agent up to call us, and takes that back.

    An adapter of a third party carries one as its attribute ``installer``. Both methods read files
    but change none.
    """

    def install(self, place: Place) -> Plan:
        """Plan the installation; a plan without changes where all is in place.

        Raises:
            InstallRefused: A file cannot be changed safely.
            UsageError: The agent has no such scope.
        """
        ...

    def uninstall(self, place: Place) -> Plan:
        """Plan the removal; a plan without changes where nothing of ours is there.

        Raises:
            InstallRefused: A file cannot be changed safely.
            UsageError: The agent has no such scope.
        """
        ...
