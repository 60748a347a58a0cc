"""What the conformance kit reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that an adapter does wrong.

    Attributes:
        where: What was checked: ``adapter``, or the state that the agent was run in.
        event: The agent's name of the event; "" where it is about all of them.
        message: What was expected and what was found, in one line.
    """

    where: str
    event: str
    message: str

    def __str__(self) -> str:
        """Return the problem in one line."""
        return f"[{self.where}] {self.event or 'all events'}: {self.message}"
