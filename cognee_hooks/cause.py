"""Which event the work under way comes from, so that work that is done again is known as such.

A daemon that is killed in the middle of an event leaves it to the next one, which does it again
from the start. Whatever an entry is stored for therefore has a key that is the same each time: the
event's id, the plugin, and how many entries that plugin has stored for the event before. Who keeps
entries takes none under a key that it has taken before.

The event goes along with tasks and threads as a context variable, since capture works in the
background, behind the hook that it was called by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Cause:
    """One event, and how many entries each plugin has stored for it."""

    def __init__(self, ident: str) -> None:
        self.ident = ident
        self.stored: Counter[str] = Counter()


_CAUSE: ContextVar[_Cause | None] = ContextVar("_CAUSE", default=None)


@contextmanager
def caused_by(ident: str) -> Iterator[None]:
    """Let the work that begins inside come from an event.

    Args:
        ident: Names the event, also when it is done again; "" where it has no lasting name.
    """
    token = _CAUSE.set(_Cause(ident) if ident else None)
    try:
        yield
    finally:
        _CAUSE.reset(token)


def next_key(plugin: str) -> str:
    """Return the key of the next entry that a plugin stores; "" where no event is known."""
    cause = _CAUSE.get()
    if cause is None:
        return ""
    number = cause.stored[plugin]
    cause.stored[plugin] += 1
    return f"{cause.ident}/{plugin}/{number}"
