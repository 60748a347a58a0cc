"""What an agent's adapter is, which plugins may register as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an event of an agent comes from, in the agent's own words.

    Attributes:
        conversation: The agent's id of the conversation; "" where the payload has none.
        cwd: Absolute path of its working directory; "" where the payload has none.
    """

    conversation: str = ""
    cwd: str = ""


NESTED = "COGNEE_HOOKS_NESTED"
"""Set in the environment of agents that work for us, so that they are not captured in turn."""


class Agent(Protocol):
    """An agent adapter: payloads in, answers out. It holds no state.

    Attributes:
        name: Short name, such as ``claude-code``.
        session_prefix: Starts our session ids, such as ``claude``.
        max_context_bytes: UTF-8 bytes of injected text that the agent takes whole.
        events: The agent's own names of the events that we are called for, in the order of a
            session.

    An adapter may have ``shows_colour = True`` where the agent shows colours in its status line;
    without it the line is plain text. It may have ``session_variables``, the names of variables in
    which the agent tells what it runs its id of the conversation, and ``outlives_sessions = True``
    where one process of the agent serves many conversations and stays when they are over.
    """

    name: str
    session_prefix: str
    max_context_bytes: int
    events: tuple[str, ...]

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        ...

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Any:
        """Turn a payload into one of our events.

        Args:
            event: The agent's name of the event.
            payload: What the agent sent.
            session_id: Our id of the conversation.

        Returns:
            The event (`cognee_hooks.events`), or None for one that we do not use.
        """
        ...

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return what goes to the agent's standard input: one document, or "".

        Args:
            event: The agent's name of the event.
            context: Text for the model; "" for none.
            notice: One line for the person; "" for none.
        """
        ...

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing."""
        ...
