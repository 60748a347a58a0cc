"""Does a redactor keep the promises? Judges it by a corpus, odd texts, and long ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from cognee_hooks.errors import RedactionFailed
from cognee_hooks.guard import attempt
from cognee_hooks.redaction import RedactionPipeline, Redactor
from cognee_hooks.testing.corpus import Sample, samples
from cognee_hooks.testing.problems import Problem

LENGTH = 8_000
"""Characters of the shorter of two texts whose times are compared."""
GROWTH = 4
"""How many times longer the longer text is."""
TOLERATED = 4 * GROWTH
"""How many times longer it may take; in proportion it would be `GROWTH`."""
MEASURABLE_SECONDS = 0.02
_ODD = ("\ud800 half", "\x00\x1b[31m", "a" * 5000, "\n" * 5000, "💥" * 500)
_GROWING = ("a", "1-", "EMP-", "=: ", "\n", "<!-- ")


def check_redactor(
    redactor: Redactor, own: Sequence[Sample] = (), *, allowed: Sequence[str] = ()
) -> list[Problem]:
    """Judge a redactor, alone and together with the built-in rules.

    Args:
        redactor: The redactor.
        own: Samples of what it is there for, and of what only looks like it.
        allowed: Kinds of harmless samples that it may change, because that is its purpose.

    Returns:
        What it does wrong: a secret that stays although the built-in rules cut it, harmless text
        that changes, tags that a second run changes, texts on which it fails, and growth that is
        worse than proportional.
    """
    built = attempt(lambda: RedactionPipeline([redactor]))
    if built.error is not None:
        return [_problem(redactor, f"it cannot be used: {built.error}")]
    pipeline: RedactionPipeline = built.result
    if pipeline.closed_because:
        return [_problem(redactor, f"it cannot be used: {pipeline.closed_because}")]
    return [
        *_judged(redactor, pipeline, [*samples(), *own], frozenset(allowed)),
        *_survives(redactor, pipeline),
        *_grows(redactor, pipeline),
    ]


def _judged(
    redactor: Redactor,
    pipeline: RedactionPipeline,
    corpus: Sequence[Sample],
    allowed: frozenset[str],
) -> Iterator[Problem]:
    for sample in corpus:
        try:
            once = pipeline.redact_blocking(sample.text).value
            twice = pipeline.redact_blocking(once).value
        except RedactionFailed as failure:
            yield _problem(redactor, f"it fails on {sample.kind}: {failure.cause_type}")
            continue
        if sample.secret and sample.secret in once:
            yield _problem(redactor, f"{sample.kind}: what has to go is still there")
        elif not sample.secret and once != sample.text and sample.kind not in allowed:
            yield _problem(redactor, f"{sample.kind}: harmless text was changed")
        if twice != once:
            yield _problem(redactor, f"{sample.kind}: a second run changes the result again")


def _survives(redactor: Redactor, pipeline: RedactionPipeline) -> Iterator[Problem]:
    for text in _ODD:
        try:
            pipeline.redact_blocking(text)
        except RedactionFailed as failure:
            shown = text[:8].encode("unicode_escape").decode()
            yield _problem(redactor, f"it fails on odd text ({shown}…): {failure.cause_type}")


def _grows(redactor: Redactor, pipeline: RedactionPipeline) -> Iterator[Problem]:
    for part in _GROWING:
        short = _seconds(pipeline, part * (LENGTH // len(part)))
        if short is None:
            yield _problem(redactor, f"it does not come to an end on long text ({part!r} again)")
            continue
        long = _seconds(pipeline, part * (LENGTH * GROWTH // len(part)))
        too_long = max(short, MEASURABLE_SECONDS) * TOLERATED
        if long is None or long > too_long:
            yield _problem(
                redactor,
                f"its time grows faster than the text ({part!r} again, {GROWTH} times as often); "
                "use patterns in place of a function, or read the text once",
            )


def _seconds(pipeline: RedactionPipeline, text: str) -> float | None:
    """Return how long a text takes, the best of two; None where it is given up."""
    best: float | None = None
    for _ in range(2):
        started = time.perf_counter()
        try:
            pipeline.redact_blocking(text)
        except RedactionFailed:
            return None
        seconds = time.perf_counter() - started
        best = seconds if best is None else min(best, seconds)
    return best


def _problem(redactor: Redactor, message: str) -> Problem:
    return Problem(f"redactor {redactor.name}", "cognee_register_redactors", message)
