"""What is known of a conversation with an agent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The conversation that a host serves.

    Attributes:
        agent: Short name of the agent, such as ``claude-code``.
        session_id: Our id, safe for the server and for file names; "" where there is no session,
            such as in ``cognee-hooks plugins``.
        cwd: Working directory, or "".
        dataset: Dataset that the session reads and writes.
        max_context_bytes: UTF-8 bytes of context that the agent takes whole.
    """

    agent: str
    session_id: str
    cwd: str
    dataset: str
    max_context_bytes: int = 9_500
