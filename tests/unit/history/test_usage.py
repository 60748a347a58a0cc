from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.usage import BYTES_A_TOKEN, Usage, grouped, tokens_of
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow

SUMS = (
    "captured",
    "redacted",
    "sent",
    "left_out",
    "lost",
    "recalls",
    "answered",
    "hits",
    "injected",
    "injected_bytes",
    "compacted",
    "synced",
)


def session(name: str) -> KnownSession:
    ledger = LedgerFile(Path("/nowhere"))
    return KnownSession(session_id=name, agent="pi", began=0.0, last=0.0, ledger=ledger)


ENTRIES = st.tuples(
    st.sampled_from([session("a"), session("b")]),
    st.builds(
        LedgerRow,
        time=st.floats(0, 2e9),
        act=st.sampled_from(Act),
        what=st.sampled_from(["hit", "nothing", "own_tool", "rejected", "qa", ""]),
        count=st.integers(-2, 50),
        size=st.none() | st.integers(-5, 10_000),
        seconds=st.none() | st.floats(-1, 100),
    ),
)


@given(st.lists(ENTRIES, max_size=30))
def test_groups_add_up_to_the_whole_whatever_they_are_grouped_by(rows):
    whole = Usage()
    for each, row in rows:
        whole.add(each, row)
    total = whole.as_json()
    for by in (lambda each, _: each.session_id, lambda _, row: row.what, lambda _, row: row.act):
        groups = [usage.as_json() for usage in grouped(rows, by).values()]
        assert {name: sum(each[name] for each in groups) for name in SUMS} == {
            name: total[name] for name in SUMS
        }


def test_a_row_that_does_not_tell_when_is_not_the_first():
    usage = Usage()
    for time in (5.0, 0.0, 9.0):
        usage.add(session("a"), LedgerRow(time=time, act=Act.CAPTURED, what="qa"))
    assert (usage.first, usage.last) == (5.0, 9.0)


@given(st.lists(ENTRIES, max_size=30), st.integers(0, 30))
def test_usages_that_were_counted_apart_add_up_to_the_whole(rows, middle):
    whole, first, second = Usage(), Usage(), Usage()
    for index, (each, row) in enumerate(rows):
        whole.add(each, row)
        (first if index < middle else second).add(each, row)
    first.include(second)
    assert first.recall_seconds == pytest.approx(whole.recall_seconds)
    first.recall_seconds = whole.recall_seconds
    assert first == whole


@given(st.lists(ENTRIES, max_size=30))
def test_shares_and_numbers_stay_in_their_bounds(rows):
    usage = Usage()
    for each, row in rows:
        usage.add(each, row)
    assert usage.hit_rate is None or 0 <= usage.hit_rate <= 1
    assert 0 <= usage.hits <= usage.answered <= usage.counts[Act.RECALLED]
    assert usage.left_out + usage.lost == (
        usage.counts[Act.DROPPED] + usage.counts[Act.QUARANTINED]
    )
    assert usage.recall_seconds >= 0
    assert usage.injected_bytes >= 0


def test_a_token_that_has_begun_counts():
    assert [tokens_of(size) for size in (0, 1, BYTES_A_TOKEN, BYTES_A_TOKEN + 1)] == [0, 1, 1, 2]
