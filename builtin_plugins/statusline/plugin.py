"""Hook implementations of the status line."""

from __future__ import annotations

from builtin_plugins.statusline.render import fitted
from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.results import StatusSegment

HEAD = 100
PENDING = 90

_HEADS = {
    "ok": "● cognee: {}",
    "offline": "✕ cognee: offline ({})",
    "auth": "✕ cognee: auth failed ({})",
    "server-error": "✕ cognee: server error ({})",
    "unknown": "cognee: {}",
}


class StatuslinePlugin:
    """Tells how the connection is and what waits, and renders what all plugins contribute."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    @hookimpl
    def cognee_status_segments(self) -> list[StatusSegment]:
        """Tell how the connection is, and what waits for the server."""
        context = self._context
        where = f"{context.services.mode.backend} · {context.session.dataset}"
        head = _HEADS[context.services.health.state].format(where)
        segments = [StatusSegment(text=head, priority=HEAD)]
        if context.waiting:
            waiting = f"{context.waiting} awaiting replay"
            segments.append(StatusSegment(text=waiting, priority=PENDING))
        return segments

    @hookimpl(trylast=True)
    def cognee_render_status(self, segments: list[StatusSegment], max_width: int) -> str:
        """Render the line."""
        return fitted(segments, max_width)
