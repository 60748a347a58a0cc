"""The chain that every outgoing text passes, and the only maker of `Redacted` values."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from cognee_hooks.errors import RedactionFailed
from cognee_hooks.guard import Attempt, Worker
from cognee_hooks.redaction import rules, types
from cognee_hooks.redaction.custom import PatternSet
from cognee_hooks.redaction.spans import Span, merge, replace
from cognee_hooks.redaction.text import cut, sanitise, strip_private
from cognee_hooks.redaction.types import Hit, Pattern, Redacted, Redactor
from cognee_hooks.redaction.walk import Walker, flattened, rebuild

T = TypeVar("T")

MAX_INPUT = 64_000
"""Characters of one string that are looked at; what lies behind is left out. No payload needs more,
and nobody may keep a session busy with redacting."""
_LEFT_OUT = "[left out: text too long]"
_MAX_WORD = 8192
_GROWTH_FACTOR = 2
_GROWTH_MARGIN = 1024


class RedactionPipeline:
    """Runs the stages in a fixed order and lets nothing through when one fails.

    The order: lone surrogates, private marks, secret-looking keys, built-in rules, redactors of
    plugins by name, custom patterns, built-in rules again. Plugins never see what the built-in
    rules know, and cannot bring it back. Cutting to size comes last.

    Args:
        redactors: Redactors of plugins.
        custom_patterns: The user's own patterns in RE2 syntax.
        enabled: False is the documented way to switch the rules off; private marks and lone
            surrogates are still taken care of.
        redactor_timeout: Seconds that a function of a redactor has for one payload.
        closed_because: A reason why nothing may leave from the start.
    """

    def __init__(
        self,
        redactors: Sequence[Redactor] = (),
        custom_patterns: Sequence[str] = (),
        *,
        enabled: bool = True,
        redactor_timeout: float = 0.25,
        closed_because: str = "",
    ) -> None:
        self._enabled = enabled
        self._timeout = redactor_timeout
        self._closed_because = closed_because
        self._redactors = sorted(redactors, key=lambda each: each.name)
        self._patterns = {
            each.name: PatternSet(each.name, _labelled(each)) for each in self._redactors
        }
        custom = [Pattern(regex) for regex in custom_patterns]
        self._custom = PatternSet("COGNEE_CAPTURE_REDACT_PATTERNS", custom)
        self._worker = Worker("redaction")
        self._problems = [each.problem for each in (*self._patterns.values(), self._custom)]
        self._problems = [each for each in self._problems if each]
        if enabled and self._problems and not closed_because:
            self._closed_because = f"Nothing is captured or sent, because {self._problems[0]}."

    @property
    def closed_because(self) -> str:
        """Why nothing may leave the process, in a sentence; "" while all is well."""
        return self._closed_because

    @property
    def problems(self) -> tuple[str, ...]:
        """Patterns that cannot be used."""
        return tuple(self._problems)

    def close(self) -> None:
        """Let the thread of the redactors end; never waits."""
        self._worker.stop()

    async def redact(
        self, value: T, *, max_bytes: int | None = None, flatten: bool = False
    ) -> Redacted[T]:
        """Make a value safe to leave the process.

        Args:
            value: Text or a JSON-like value; `Redacted` parts inside are taken as they are.
            max_bytes: Cut each string that is a value to so many UTF-8 bytes.
            flatten: Turn the values of an object into strings.

        Raises:
            RedactionFailed: Something in the chain failed, or the chain is closed.
        """
        self._check_open()
        skeleton, strings = self._walker().collect(value)
        first = safe = [self._first_stages(text) for text in strings]
        for redactor in self._active():
            if redactor.function is not None:
                done = await self._call(redactor, safe)
                safe = self._judged(redactor, safe, done)
            safe = self._by_patterns(redactor.name, safe)
        return self._finished(skeleton, first, safe, max_bytes, flatten=flatten)

    def redact_blocking(
        self, value: T, *, max_bytes: int | None = None, flatten: bool = False
    ) -> Redacted[T]:
        """Do the same where no event loop runs; waits for redactors of plugins."""
        self._check_open()
        skeleton, strings = self._walker().collect(value)
        first = safe = [self._first_stages(text) for text in strings]
        for redactor in self._active():
            if redactor.function is not None:
                future = self._worker.submit(_apply, redactor.function, safe)
                safe = self._judged(redactor, safe, self._within(future))
            safe = self._by_patterns(redactor.name, safe)
        return self._finished(skeleton, first, safe, max_bytes, flatten=flatten)

    def explain(self, text: str) -> tuple[str, list[Hit]]:
        """Redact a text with the built-in rules and patterns, and say which rule cut what.

        Functions of plugins are not asked, since they cannot say.
        """
        text = strip_private(sanitise(text))
        hits: list[Hit] = []
        if not self._enabled:
            return text, hits
        for find in (rules.find_secrets, *(each.find for each in self._patterns.values())):
            text = self._explained(text, merge(text, find(text)), hits)
        text = self._explained(text, merge(text, self._custom.find(text)), hits)
        return text, hits

    # -- stages ----------------------------------------------------------------------------------

    def _first_stages(self, text: str) -> str:
        if len(text) > MAX_INPUT:
            text = _beginning(text) + _LEFT_OUT
        text = strip_private(sanitise(text))
        return replace(text, rules.find_secrets(text)) if self._enabled else text

    def _by_patterns(self, name: str, texts: list[str]) -> list[str]:
        patterns = self._patterns[name]
        return [replace(text, merge(text, patterns.find(text))) for text in texts]

    def _finished(
        self,
        skeleton: Any,
        first: list[str],
        texts: list[str],
        max_bytes: int | None,
        *,
        flatten: bool,
    ) -> Redacted[Any]:
        if self._enabled:
            texts = [replace(text, merge(text, self._custom.find(text))) for text in texts]
            # What nobody changed since the built-in rules saw it cannot hold anything new for them.
            texts = [
                text if text == known else replace(text, rules.find_secrets(text))
                for text, known in zip(texts, first, strict=True)
            ]
        finish = str if max_bytes is None or flatten else lambda text: cut(text, max_bytes)
        value = rebuild(skeleton, texts, finish)
        if flatten:
            value = flattened(value, max_bytes)
        return types.sealed(value)

    # -- redactors of plugins --------------------------------------------------------------------

    async def _call(self, redactor: Redactor, texts: list[str]) -> Attempt | None:
        assert redactor.function is not None  # noqa: S101 - narrows the type for the reader
        future = self._worker.submit(_apply, redactor.function, texts)
        waiting = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({waiting}, timeout=self._timeout)
        return future.result() if done else None

    def _within(self, future: Future[Attempt]) -> Attempt | None:
        try:
            return future.result(self._timeout)
        except TimeoutError:
            return None

    def _judged(self, redactor: Redactor, before: list[str], done: Attempt | None) -> list[str]:
        """Return what a redactor made of the texts, or raise without any trace of them."""
        if done is None:
            self._closed_because = (
                f"Nothing is captured or sent any more, because the redactor {redactor.name!r} did "
                f"not answer within {self._timeout:g} s. Mend or block its plugin."
            )
            raise RedactionFailed(redactor.name, "timeout")
        if done.error is not None:
            raise RedactionFailed(redactor.name, type(done.error).__name__)
        after: list[Any] = done.result
        for old, new in zip(before, after, strict=True):
            # A subclass could lie about its length, or answer every question with another text.
            if type(new) is not str:
                raise RedactionFailed(redactor.name, f"returned {type(new).__name__}")
            if len(new) > _GROWTH_FACTOR * len(old) + _GROWTH_MARGIN:
                raise RedactionFailed(redactor.name, "grew the text")
        return [sanitise(new) for new in after]

    # -- small things ----------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed_because:
            raise RedactionFailed("the chain", "closed")

    def _active(self) -> list[Redactor]:
        return self._redactors if self._enabled else []

    def _walker(self) -> Walker:
        return Walker(by_name=self._enabled)

    def _explained(self, text: str, spans: Iterable[Span], hits: list[Hit]) -> str:
        found = list(spans)
        hits.extend(Hit(each.rule, each.label, each.start, each.end) for each in found)
        return replace(text, found)


def _beginning(text: str) -> str:
    """Return what is looked at of a long text; a secret at its edge would have lost its shape."""
    kept = text[:MAX_INPUT]
    gap = max(kept.rfind(" "), kept.rfind("\n"))
    return kept[: gap if gap >= MAX_INPUT - _MAX_WORD else -_MAX_WORD]


def _apply(function: Any, texts: list[str]) -> list[Any]:
    return [function(text) for text in texts]


def _labelled(redactor: Redactor) -> list[Pattern]:
    return [
        Pattern(each.regex, redactor.label if each.label == "custom" else each.label, each.group)
        for each in redactor.patterns
    ]
