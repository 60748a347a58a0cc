"""What the host itself writes into the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cognee_hooks.redaction import labels_in
from cognee_hooks.results import Act, StoreRequest

if TYPE_CHECKING:
    from cognee_hooks.injection import Injected
    from cognee_hooks.services.ledger import Ledger
    from cognee_hooks.timings import Timings


def record_captured(ledger: Ledger, request: StoreRequest) -> None:
    """Record an entry that is handed over to be stored, and what was cut out of it."""
    text = json.dumps(request.entry.value, ensure_ascii=False)
    ledger.record(request.session_id, Act.CAPTURED, _kind_of(request), content=text)
    for label, count in labels_in(text).items():
        ledger.record(request.session_id, Act.REDACTED, label, count=count)


def record_delivered(ledger: Ledger, request: StoreRequest) -> None:
    """Record an entry that the server has taken."""
    ledger.record(request.session_id, Act.DELIVERED, _kind_of(request))


def record_injected(
    ledger: Ledger, session_id: str, sections: Iterable[Injected], prompt: str
) -> None:
    """Record what the model is told for a prompt.

    Args:
        ledger: The ledger.
        session_id: The session.
        sections: What it is told.
        prompt: The prompt.
    """
    for section in sections:
        ledger.record(
            session_id,
            Act.INJECTED,
            section.lane,
            content=section.text,
            seconds=section.seconds,
            prompt=prompt,
        )


def record_times(ledger: Ledger, session_id: str, timings: Timings) -> None:
    """Record what the calls of plugins took since this was last recorded.

    A session in which nothing was done has no ledger, and gets none for this.

    Args:
        ledger: The ledger.
        session_id: The session.
        timings: What its calls took.
    """
    if not ledger.totals(session_id):
        return
    for plugin, timing in timings.take().items():
        ledger.record(
            session_id,
            Act.RAN,
            plugin,
            count=timing.calls,
            seconds=timing.seconds,
        )


def _kind_of(request: StoreRequest) -> str:
    kind = request.entry.value.get("type")
    return kind if isinstance(kind, str) else ""
