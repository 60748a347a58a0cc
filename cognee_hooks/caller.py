"""Who a tool or a command works for: where its questions and its progress go.

One session may be called from several places at once: by its agent, from a terminal, by an MCP
client. The caller goes along with tasks as a context variable, so that each call asks whoever made
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from cognee_hooks.dialogs import Dialogs


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever made a call.

    Attributes:
        dialogs: Asks the person there; None where nobody can be asked, so that the person at the
            agent is.
        progress: Shows how far the work is.
    """

    dialogs: Dialogs | None
    progress: Callable[[str], None]


_CALLER: ContextVar[Caller | None] = ContextVar("_CALLER", default=None)


@contextmanager
def called_by(caller: Caller) -> Iterator[None]:
    """Let the work that begins inside be done for a caller."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


def dialogs_of_caller(otherwise: Dialogs) -> Dialogs:
    """Return who asks the person: the caller's dialogs, or those of the session's agent."""
    caller = _CALLER.get()
    return otherwise if caller is None or caller.dialogs is None else caller.dialogs


def progress_of_caller(otherwise: Callable[[str], None]) -> Callable[[str], None]:
    """Return who shows progress: the caller, or whoever the session has for that."""
    caller = _CALLER.get()
    return otherwise if caller is None else caller.progress
