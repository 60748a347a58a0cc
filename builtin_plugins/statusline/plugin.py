"""Hook implementations of the status line."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.statusline.credits import CreditsFile
from builtin_plugins.statusline.render import SEPARATOR, coloured, fitted
from builtin_plugins.statusline.settings import StatuslineSettings
from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.configuration.values import to_path
from cognee_hooks.results import Act, StatusSegment

HEAD = 100
PENDING = 95
REFUSED = 92
CREDITS = 30
COST = 20

BYTES_A_TOKEN = 4
"""The usual rule of thumb for English text and code."""

_HEADS = {
    "ok": "● cognee: {}",
    "offline": "✕ cognee: offline ({})",
    "auth": "✕ cognee: auth failed ({})",
    "server-error": "✕ cognee: server error ({})",
    "unknown": "cognee: {}",
}
_NO_MODEL_KEY = "✕ cognee: llm key not set ({})"


class StatuslinePlugin:
    """Tells how the connection is and what waits, and renders what all plugins contribute."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(StatuslineSettings)
        paths = context.services.paths
        chosen = to_path(self._settings.credits_file, str(paths.home))
        shared = paths.shared_dir / "claude-code" / "credits.json"
        self._credits = CreditsFile(
            paths.home / chosen if self._settings.credits_file else shared,
            context.services.mode.url,
        )

    @hookimpl
    def cognee_status_segments(self) -> list[StatusSegment]:
        """Tell how the connection is, what waits, and what is left of the credits."""
        segments = [StatusSegment(text=self._head(), priority=HEAD)]
        if waiting := self._context.waiting:
            text = f"{waiting} awaiting replay"
            segments.append(StatusSegment(text=text, priority=PENDING))
        if self._context.services.mode.backend == "cloud" and self._settings.credits:
            segments += self._about_credits()
        if self._settings.cost and (tokens := self._tokens()):
            text = f"~{tokens} tokens of memory"
            segments.append(StatusSegment(text=text, priority=COST, shorter=(f"~{tokens} tokens",)))
        return segments

    @hookimpl(trylast=True)
    def cognee_render_status(
        self, segments: list[StatusSegment], max_width: int, colour: bool
    ) -> str:
        """Render the line."""
        if any(each.priority > HEAD for each in segments):
            # Another plugin knows more about the connection, such as that a server is starting.
            segments = [each for each in segments if each.priority != HEAD]
        if not any(each.priority >= HEAD for each in segments):
            # Our own part has failed; what the line is about must not be missing.
            head = StatusSegment(text=_HEADS["unknown"].format(self._where), priority=HEAD)
            segments = [head, *segments]
        texts = fitted(segments, max_width)
        return coloured(texts) if colour else SEPARATOR.join(texts)

    @property
    def _where(self) -> str:
        context = self._context
        return f"{context.services.mode.backend} · {context.session.dataset}"

    def _head(self) -> str:
        state = self._context.services.health.state
        lacks_key = state == "ok" and self._lacks_model_key()
        return (_NO_MODEL_KEY if lacks_key else _HEADS[state]).format(self._where)

    def _about_credits(self) -> Iterator[StatusSegment]:
        now, billing_url = self._context.now(), self._settings.billing_url
        found = ((REFUSED, self._credits.refusal(now)), (CREDITS, self._credits.balance(now)))
        for priority, note in found:
            if note is not None:
                text, *shorter = note.forms(now, billing_url)
                yield StatusSegment(text=text, priority=priority, shorter=tuple(shorter))

    def _tokens(self) -> str:
        """Return about how many tokens went into the model's context; "" for none."""
        sizes = self._context.ledger.sizes(self._context.session.session_id)
        tokens = -(-sizes.get(Act.INJECTED, 0) // BYTES_A_TOKEN)
        if tokens < 1000:  # noqa: PLR2004
            return str(tokens) if tokens else ""
        return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens // 1000}k"  # noqa: PLR2004

    def _lacks_model_key(self) -> bool:
        """Tell whether the local server has no model for want of a key.

        A server whose address the person chose has keys of its own, and the embedded one needs
        none.
        """
        services = self._context.services
        return (
            services.mode.backend == "local"
            and not services.mode.explicit_url
            and not services.health.embedded
            and not self._settings.llm_api_key
        )
