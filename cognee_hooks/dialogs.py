"""Questions to the person at the agent, where the agent can show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cognee_hooks.deadline import Deadline


class Dialogs(Protocol):
    """Shows questions. Where nobody can answer, the answer is no."""

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask a yes-or-no question; see `PluginContext.confirm`."""
        ...

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person choose; see `PluginContext.select`."""
        ...


class NoDialogs:
    """For agents that can show no questions."""

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:  # noqa: ARG002 - protocol
        """Answer no."""
        return False

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:  # noqa: ARG002 - protocol
        """Choose nothing."""
        return None
