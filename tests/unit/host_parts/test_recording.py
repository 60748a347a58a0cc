"""What the host writes into the ledger by itself."""

from __future__ import annotations

import pytest

from cognee_hooks.host_parts.recording import record_captured, record_injected, record_times
from cognee_hooks.injection import Injected
from cognee_hooks.redaction import labels_in
from cognee_hooks.redaction.types import sealed
from cognee_hooks.results import Act, StoreRequest
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.ledger_file import LedgerRow, ledger_files
from cognee_hooks.timings import Timings

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


def test_what_the_model_is_told_can_be_put_together_by_its_prompt(ledger):
    (ledger._folder / "key").write_bytes(b"k" * 32)
    (ledger._folder / "key").chmod(0o600)
    for prompt in ("first", "second"):
        told = [
            Injected(plugin="recall", lane=lane, text="fits", seconds=0.25)
            for lane in ("recall", "notes")
        ]
        record_injected(ledger, SESSION, told, prompt)
    found = rows(ledger)
    assert [(row.act, row.what, row.size, row.seconds) for row in found] == [
        (Act.INJECTED, "recall", 4, 0.25),
        (Act.INJECTED, "notes", 4, 0.25),
    ] * 2
    one, two, three, four = (row.prompt for row in found)
    assert one == two != three == four
    assert "first" not in ledger_files(ledger._folder)[0].path.read_text()


def test_what_plugins_took_is_recorded_once_for_each(ledger):
    timings = Timings()
    for hook in ("cognee_stop", "lane"):
        timings.add("notes", hook, 0.25, 1.0)
    record_times(ledger, SESSION, timings)
    assert ledger_files(ledger._folder) == []  # nothing was done in this session
    ledger.record(SESSION, Act.RECALLED, "hit")
    for _ in range(2):
        record_times(ledger, SESSION, timings)
    timings.add("notes", "cognee_stop", 0.5, 1.0)
    record_times(ledger, SESSION, timings)
    found = [row for row in rows(ledger) if row.act is Act.RAN]
    assert [(row.what, row.count, row.seconds) for row in found] == [
        ("notes", 2, 0.5),
        ("notes", 1, 0.5),
    ]


def test_only_our_own_labels_count():
    assert labels_in("[redacted:a] [redacted:B] [redacted:] redacted:c") == {"a": 1, "": 1}
    assert labels_in("nothing") == {}
