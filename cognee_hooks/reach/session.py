"""What goes to a session that is reached, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.printable import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool or a command.

    Attributes:
        name: The tool's registered name, or the command's, registered or as agents offer it.
        arguments: The tool's arguments.
        text: What was written behind the command; None for a tool.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call came to.

    Attributes:
        text: Safe to show to people and models.
        failed: Whether what was asked for was not done.
    """

    text: str
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Which session answers.

    Attributes:
        agent: Name of its agent.
        session_id: Our id of the conversation.
        dataset: Its dataset.
        live: Whether an agent is in it.
        found: How it was found, in a few words.
    """

    agent: str
    session_id: str
    dataset: str
    live: bool
    found: str = ""

    @property
    def sentence(self) -> str:
        """Which session is used, in one line."""
        where = f"{self.agent}, dataset {self.dataset}"
        if self.live:
            text = f"in the live session {self.session_id} ({where}), {self.found}"
        else:
            text = f"no live session of an agent was found, so in one of its own ({where})"
        return one_line(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What can be called.

    Attributes:
        tools: ``name``, ``description`` and ``parameters`` (a JSON schema) of each.
        commands: Help by name, as agents offer it.
    """

    tools: list[Mapping[str, Any]]
    commands: Mapping[str, str]

    def has_command(self, name: str) -> bool:
        """Tell whether there is a command of this name, registered or as agents offer it."""
        return name in self.commands or f"cognee-{name}" in self.commands
