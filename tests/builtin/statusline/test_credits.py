from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.statusline.credits import (
    FRESH_SECONDS,
    KEPT_SECONDS,
    MAX_BYTES,
    REFUSED_SECONDS,
    Balance,
    CreditsFile,
    age_text,
    balances,
    dollars,
    refusals,
)

NOW = 1_750_000_000.0
URL = "https://tenant-1.aws.cognee.ai"
BILLING = "https://billing.example"


def entry(**changes):
    return {"base_url": URL, "remaining_usd": 5.0, "checked_at": NOW} | changes


def read(*entries, url=URL):
    return list(balances({str(number): each for number, each in enumerate(entries)}, url))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "credits.json"
    credits_file = CreditsFile(path, URL)

    def write(content: object) -> CreditsFile:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return credits_file

    return write


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0m ago"),
        (59, "0m ago"),
        (60, "1m ago"),
        (89, "1m ago"),
        (901, "15m ago"),
        (930, "16m ago"),
        (3569, "59m ago"),
        (3570, "60m ago"),
        (3600, "1h ago"),
        (5399, "1h ago"),
        (5400, "2h ago"),
        (9000, "3h ago"),
        (86399, "24h ago"),
        (86400, "1d ago"),
        (129600, "2d ago"),
    ],
)
def test_an_age_is_told_in_the_unit_that_fits(seconds, text):
    assert age_text(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (14.23, "$14.23"),
        (-158.86, "-$158.86"),
        (1234.5, "$1,234.50"),
        (0.125, "$0.13"),
        (-0.125, "-$0.13"),
        (1.005, "$1.00"),
        (0, "$0.00"),
        (-0.001, "$0.00"),
        (999_999_999_999, "$999,999,999,999.00"),
    ],
)
def test_an_amount_has_two_decimals_and_groups_of_three(amount, text):
    assert dollars(amount) == text


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "12.5",
        True,
        False,
        float("nan"),
        float("inf"),
        float("-inf"),
        10**400,
        1e300,
        [],
        {},
    ],
)
@pytest.mark.parametrize("field", ["remaining_usd", "checked_at"])
def test_w45_only_real_numbers_count(field, value):
    assert read(entry(**{field: value})) == []


@pytest.mark.parametrize("value", [None, "0.02", True, float("nan"), {}])
def test_w45_an_operation_without_a_real_price_is_not_told(value):
    (found,) = read(entry(last_op={"label": "remember", "cost_usd": value}))
    assert found.label == ""


@pytest.mark.parametrize("operation", [None, [], "remember", {"cost_usd": 1}, {"label": 3}])
def test_an_operation_of_another_form_is_not_told(operation):
    (found,) = read(entry(last_op=operation))
    assert found == Balance(5.0, NOW)


def test_a_long_name_of_an_operation_is_cut():
    (found,) = read(entry(last_op={"label": " " + "x" * 100, "cost_usd": 1}))
    assert found.label == "x" * 23


def test_an_entry_is_found_by_its_address_whose_trailing_slashes_do_not_count():
    found = read(
        entry(base_url="https://tenant-2.aws.cognee.ai", remaining_usd=1),
        entry(base_url=f"{URL}//", remaining_usd=2),
        entry(remaining_usd=3),
    )
    assert [each.remaining for each in found] == [2, 3]


@pytest.mark.parametrize("value", [None, "entry", 3, [entry()]])
def test_what_is_no_entry_is_passed_over(value):
    assert len(read(value, entry())) == 1


def test_an_entry_without_an_address_is_not_that_of_a_missing_one():
    assert read(entry(base_url=""), url="") == []


@pytest.mark.parametrize("checked_at", [NOW, NOW * 1000])
def test_seconds_and_milliseconds_are_told_apart(checked_at):
    assert read(entry(checked_at=checked_at))[0].checked_at == NOW


def test_a_balance_from_the_future_is_new():
    assert Balance(5, NOW + 9999).forms(NOW, BILLING) == ("credits: $5.00",)


def test_forms_get_shorter_by_age_and_operation():
    old = Balance(0.5, NOW - FRESH_SECONDS - 1, "improve", 0.11)
    assert old.forms(NOW, BILLING) == (
        f"credits: $0.50 (15m ago) · last improve ~$0.11 · top up: {BILLING}",
        f"credits: $0.50 · last improve ~$0.11 · top up: {BILLING}",
        f"credits: $0.50 · top up: {BILLING}",
    )
    assert Balance(5, NOW, "improve", 0.11).forms(NOW, BILLING) == (
        "credits: $5.00 · last improve ~$0.11",
        "credits: $5.00",
    )


def refused(operation="recall", at=NOW, **more):
    return {"base_url": URL, "payment_required": {"op": operation, "at": at}} | more


def test_a_402_is_told_with_and_without_a_balance_beside_it(file):
    assert file({"a": entry(remaining_usd=0), "b": refused()}).refusal(NOW).operation == "recall"
    assert file({"a": entry(remaining_usd=0) | refused("improve")}).balance(NOW).remaining == 0
    assert file({"a": refused(), "b": refused("improve", NOW + 1)}).refusal(NOW).at == NOW + 1


def test_a_402_is_over_when_credits_were_seen_since(file):
    assert file({"a": entry(checked_at=NOW + 1), "b": refused()}).refusal(NOW) is None
    assert file({"a": entry(checked_at=NOW - 1), "b": refused()}).refusal(NOW) is not None
    older = entry(remaining_usd=0, checked_at=NOW + 1)
    assert file({"a": older, "b": refused()}).refusal(NOW) is not None


def test_a_402_of_yesterday_is_not_told(file):
    made = file({"a": refused()})
    assert made.refusal(NOW + REFUSED_SECONDS) is not None
    assert made.refusal(NOW + REFUSED_SECONDS + 1) is None


def test_a_402_of_another_server_is_not_ours(file):
    assert file({"a": refused(base_url="https://other.example")}).refusal(NOW) is None


@pytest.mark.parametrize("operation", [None, 3, "", " ", "x" * 99])
def test_an_operation_without_a_usable_name_is_told_all_the_same(operation):
    (found,) = refusals({"a": refused(operation)}, URL)
    assert found.operation in {"an operation", "x" * 24}


@pytest.mark.parametrize("note", [None, True, [], "recall", {}, {"op": "x"}, {"at": "now"}])
def test_a_note_of_another_form_is_none(note):
    assert list(refusals({"a": entry(payment_required=note)}, URL)) == []


def test_a_file_that_is_gone_says_nothing_any_more(file, tmp_path):
    made = file({"a": entry(), "b": refused()})
    assert made.balance(NOW) is not None
    (tmp_path / "credits.json").unlink()
    assert (made.balance(NOW), made.refusal(NOW)) == (None, None)


def test_a_balance_of_last_week_makes_room_for_a_younger_one(file):
    made = file({"a": entry(remaining_usd=1, checked_at=NOW - KEPT_SECONDS - 1), "b": entry()})
    assert made.balance(NOW).remaining == 5
    assert made.balance(NOW + KEPT_SECONDS).remaining == 5
    assert made.balance(NOW + KEPT_SECONDS + 1) is None


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "3", '"text"', "[" * 50_000, '{"a": ' + "9" * 5000 + "}", "\x00" * 99],
)
def test_a_torn_or_alien_file_has_no_balance(file, content):
    assert file(content).balance(NOW) is None


def test_a_huge_file_has_no_balance(file):
    assert file({"a": entry(), "padding": "x" * MAX_BYTES}).balance(NOW) is None


def test_no_file_and_no_regular_file_have_no_balance(tmp_path):
    path = tmp_path / "credits.json"
    assert CreditsFile(path, URL).balance(NOW) is None
    os.mkfifo(path)
    assert CreditsFile(path, URL).balance(NOW) is None
    path.unlink()
    path.symlink_to(path)
    assert CreditsFile(path, URL).balance(NOW) is None


def test_the_file_is_read_again_only_after_it_changed(file, monkeypatch):
    from builtin_plugins.statusline import credits as module

    reads = []
    original = module.read_object
    monkeypatch.setattr(
        module, "read_object", lambda *args, **more: reads.append(1) or original(*args, **more)
    )
    made = file({"a": entry()})
    assert [made.balance(NOW).remaining for _ in range(5)] == [5.0] * 5
    assert len(reads) == 1
    file({"a": entry(remaining_usd=12)})
    assert made.balance(NOW).remaining == 12
    assert len(reads) == 2


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["base_url", "remaining_usd", "checked_at", "last_op", "label"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_nothing_in_an_entry_breaks_the_reading(value):
    for found in read({"base_url": URL, "remaining_usd": 1, "checked_at": 1, "last_op": value}):
        assert all(isinstance(each, str) for each in found.forms(NOW, BILLING))
    assert all(isinstance(each, Balance) for each in read(value))
