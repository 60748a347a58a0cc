"""What plugins answered when they were asked to take a leaked value out of what they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.outcomes import flat
from cognee_hooks.results import Scrubbed, ScrubState

if TYPE_CHECKING:
    from cognee_hooks.leak import Leak
    from cognee_hooks.outcomes import Called

_FAILED = "its own cleaning failed ({fault}); what it keeps may hold the value"


def told_by_plugins(called: Called, leak: Leak, agent: str) -> list[Scrubbed]:
    """Return what plugins said, without the value, and which ones failed.

    Args:
        called: The call of ``cognee_scrub``.
        leak: The value.
        agent: Whose state they were asked about.
    """
    rows: list[Scrubbed] = [
        Scrubbed(
            place=leak.cleaned_text(row.place),
            state=row.state,
            count=row.count,
            detail=leak.cleaned_text(row.detail),
        )
        for row in flat(called.value)
    ]
    for outcome in called.outcomes:
        if outcome.fault:
            detail = _FAILED.format(fault=outcome.fault)
            place = f"plugin {outcome.plugin} ({agent})"
            rows.append(Scrubbed(place=place, state=ScrubState.LEFT, detail=detail))
    return rows
