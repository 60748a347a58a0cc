"""What plugins register for the model and for people: commands, tools and recall lanes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cognee_hooks.typed import require, require_callable

WARNING_SIGN = "⚠"
"""Begins the text of a command that is a warning; agents that tell levels apart show it as one."""


class Failure(str):
    """What a command or tool answers where it did not do what was asked.

    It is shown like any other text. Where a failure can be told as one, such as by an exit code, it
    is.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that a plugin adds to the agent and to the command line.

    Attributes:
        name: Lower-case words joined by hyphens.
        help: One line. Options that are named in it, such as ``--top-k``, are completed where the
            agent completes.
        run: Called with the argument text; returns the text to show, which begins with
            `WARNING_SIGN` where something did not work. ``UsageError`` shows as an error.
    """

    name: str
    help: str
    run: Callable[[str], Awaitable[str]]

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "help")
        require_callable(self, "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the model may call.

    Attributes:
        name: Starts with ``cognee_``.
        description: When to use it, for the model.
        parameters: JSON schema of the arguments object.
        run: Called with the arguments; returns the text for the model, as a `Failure` where it
            failed.
        read_only: Whether it only looks things up. Agents that ask a person before a tool is used
            may then do without.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], Awaitable[str]]
    read_only: bool = False

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "description")
        require(self, bool, "read_only")
        require(self, Mapping, "parameters")
        require_callable(self, "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A further source of recalled text beside the memory server.

    Attributes:
        name: Shown in the injection ledger.
        search: Called with the redacted prompt; returns passages, best first.
        priority: See `AdditionalContext`.
    """

    name: str
    search: Callable[[str], Awaitable[list[str]]]
    priority: int = 0

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name")
        require(self, int, "priority")
        require_callable(self, "search")
