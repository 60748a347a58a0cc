"""What the host writes into the ledger by itself."""

from __future__ import annotations

import pytest

from cognee_hooks.outcomes import Called, Outcome
from cognee_hooks.recording import record_captured, record_injected
from cognee_hooks.redaction import labels_in
from cognee_hooks.redaction.types import sealed
from cognee_hooks.results import Act, AdditionalContext, StoreRequest
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.ledger_file import LedgerRow, ledger_files

SESSION = "claude_1"


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path, "claude-code", tmp_path / "key")


def rows(ledger: Ledger) -> list[LedgerRow]:
    [file] = ledger_files(ledger._folder)
    return list(file.rows())


def captured(ledger: Ledger, **entry) -> list[tuple[Act, str, int]]:
    request = StoreRequest(entry=sealed(entry), session_id=SESSION, dataset="d")
    record_captured(ledger, request)
    return [(row.act, row.what, row.count) for row in rows(ledger)]


def test_an_entry_and_what_was_cut_out_of_it(ledger):
    text = "a [redacted:token], a [redacted:jwt] and a [redacted:token]"
    assert captured(ledger, type="qa", question=text) == [
        (Act.CAPTURED, "qa", 1),
        (Act.REDACTED, "token", 2),
        (Act.REDACTED, "jwt", 1),
    ]


@pytest.mark.parametrize("kind", [None, 3, ["qa"]])
def test_an_entry_of_no_kind_is_recorded_too(ledger, kind):
    assert captured(ledger, type=kind) == [(Act.CAPTURED, "", 1)]


def test_what_did_not_fit_went_to_no_model(ledger):
    fits = AdditionalContext(text="fits", lane="notes")
    other = AdditionalContext(text="fits, too")
    outcomes = (
        Outcome("recall", [fits, AdditionalContext(text="too long")], seconds=0.25),
        Outcome("silent"),
        Outcome("lane", other, seconds=0.5),
    )
    record_injected(ledger, SESSION, Called([], outcomes), "fits\n\nfits, too")
    assert [(row.what, row.size, row.seconds) for row in rows(ledger)] == [
        ("notes", 4, 0.25),
        ("lane", 9, 0.5),
    ]


def test_only_our_own_labels_count():
    assert labels_in("[redacted:a] [redacted:B] [redacted:] redacted:c") == {"a": 1, "": 1}
    assert labels_in("nothing") == {}
