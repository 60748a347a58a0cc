"""One rendering of the status line: from what plugins contribute to one safe line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cognee_hooks.guard import attempt
from cognee_hooks.outcomes import flat
from cognee_hooks.printable import one_line
from cognee_hooks.results import StatusSegment

if TYPE_CHECKING:
    from cognee_hooks.dispatch import Dispatcher

MAX_CHARACTERS = 500
"""A segment is a few words; what is longer is cut before anybody measures it."""


async def render_status(
    dispatcher: Dispatcher, *, max_width: int, colour: bool, otherwise: str
) -> str:
    """Return the status line; it never raises.

    Args:
        dispatcher: Calls the plugins.
        max_width: Terminal cells.
        colour: Whether colours are shown.
        otherwise: The line where no renderer gives one.
    """
    called = await dispatcher.call("cognee_status_segments")
    segments = sorted(_segments(called.value), key=lambda each: -each.priority)
    rendered = await dispatcher.call(
        "cognee_render_status", segments=segments, max_width=max_width, colour=colour
    )
    return one_line(otherwise if rendered.value is None else rendered.value, colour=colour)


def _segments(results: Iterable[Any]) -> Iterator[StatusSegment]:
    """Yield what plugins returned, one by one and made safe; what is empty is passed over."""
    for each in flat(results):
        # A plugin's own kind of segment may do anything when it is looked at.
        safe = attempt(_made_safe, each).result
        if safe is not None and safe.text:
            yield safe


def _made_safe(segment: StatusSegment) -> StatusSegment:
    return StatusSegment(
        text=_safe(segment.text),
        priority=int(segment.priority),
        shorter=tuple(_safe(each) for each in segment.shorter),
    )


def _safe(text: str) -> str:
    return one_line(text[:MAX_CHARACTERS])
