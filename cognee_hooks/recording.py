"""What the host itself writes into the ledger."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cognee_hooks.outcomes import Called, flat
from cognee_hooks.redaction import labels_in
from cognee_hooks.results import Act, AdditionalContext, StoreRequest

if TYPE_CHECKING:
    from cognee_hooks.services.ledger import Ledger


def record_captured(ledger: Ledger, request: StoreRequest) -> None:
    """Record an entry that is handed over to be stored, and what was cut out of it."""
    text = json.dumps(request.entry.value, ensure_ascii=False)
    ledger.record(request.session_id, Act.CAPTURED, _kind_of(request), content=text)
    for label, count in labels_in(text).items():
        ledger.record(request.session_id, Act.REDACTED, label, count=count)


def record_delivered(ledger: Ledger, request: StoreRequest) -> None:
    """Record an entry that the server has taken."""
    ledger.record(request.session_id, Act.DELIVERED, _kind_of(request))


def record_injected(ledger: Ledger, session_id: str, called: Called, context: str) -> None:
    """Record what plugins found for a prompt and the model is told.

    Args:
        ledger: The ledger.
        session_id: The session.
        called: The call of ``cognee_user_prompt_submit``.
        context: What was made of it; a section that did not fit is not in it.
    """
    for outcome in called.outcomes:
        for section in flat([outcome.result]):
            if isinstance(section, AdditionalContext) and section.text in context:
                ledger.record(
                    session_id,
                    Act.INJECTED,
                    section.lane or outcome.plugin,
                    content=section.text,
                    seconds=outcome.seconds,
                )


def _kind_of(request: StoreRequest) -> str:
    kind = request.entry.value.get("type")
    return kind if isinstance(kind, str) else ""
