"""Draws the status line in another way: a dot, and only what matters."""

from __future__ import annotations

from collections.abc import Sequence

from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.results import StatusSegment

_GREEN, _RED, _END = "\x1b[32m", "\x1b[31m", "\x1b[0m"
_MOST = 2


class QuietStatusLine:
    """The plugin; an installed plugin is asked before the built-in that it takes over from."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    @hookimpl
    def cognee_render_status(
        self, segments: Sequence[StatusSegment], max_width: int, colour: bool
    ) -> str:
        """Return the line.

        Args:
            segments: What all plugins have to say.
            max_width: Cells of the terminal.
            colour: Whether it shows colours.
        """
        offline = self._context.services.health.state == "offline"
        dot = "○" if offline else "●"
        if colour:
            dot = f"{_RED if offline else _GREEN}{dot}{_END}"
        told = sorted(segments, key=lambda each: -each.priority)[:_MOST]
        words = " ".join(each.text for each in told)
        return f"{dot} {words[: max(0, max_width - 2)]}".rstrip()
