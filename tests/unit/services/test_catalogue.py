from __future__ import annotations

import pytest

from cognee_hooks.errors import UsageError
from cognee_hooks.services.answers import Dataset
from cognee_hooks.services.catalogue import Catalogue

ME, THEM = "me", "somebody"
A = "0f8fad5b-d9cb-469f-a165-70867728950e"
B = "1f8fad5b-d9cb-469f-a165-70867728950e"
C = "2f8fad5b-d9cb-469f-a165-70867728950e"


def catalogue(*rows):
    return Catalogue(tuple(Dataset(*row) for row in rows), ME)


def test_a_name_means_all_datasets_that_have_it_and_an_id_one():
    known = catalogue((A, "dup", ME), (B, "dup", THEM), (C, "dup2", ME))
    assert [row.id for row in known.find("dup")] == [A, B]
    assert [row.id for row in known.find(B.upper())] == [B]
    assert [row.id for row in known.find(B.replace("-", ""))] == [B]
    assert known.find("du") == []
    assert known.names == ["dup", "dup2"]


def test_what_somebody_means_is_one_dataset_or_they_are_told_why_not():
    known = catalogue((A, "dup", ME), (B, "dup", THEM), (C, "notes\n", ME))
    assert known.choose(B) is known.require(B) is known.rows[1]
    assert known.choose("nothing") is None
    with pytest.raises(UsageError, match=r"^Dataset 'nothing' not found. Available: dup, notes.$"):
        known.require("nothing")
    twice = rf"^Ambiguous: 'dup' matches 2 datasets \(dup {A}; dup {B}\) — select its UUID.$"
    with pytest.raises(UsageError, match=twice):
        known.choose("dup")


def test_of_many_datasets_a_sentence_lists_some_and_counts_the_rest():
    assert catalogue().unknown("x") == "Dataset 'x' not found. Available: none."
    many = catalogue(*((A, f"d{number:02}", ME) for number in range(22)))
    assert many.unknown("x").endswith("d18, d19 and 2 more.")


def test_a_name_leads_to_a_dataset_of_our_own_only():
    known = catalogue((A, "notes", THEM), (B, "notes", ME), (C, "theirs", THEM))
    assert known.led_to_by("notes").id == B
    assert known.led_to_by("theirs") is None
    assert known.led_to_by(C).id == C
    assert known.led_to_by("nothing") is None


@pytest.mark.parametrize(
    ("rows", "address"),
    [
        ([(A, "notes", ME)], "notes"),
        ([(A, "notes", "")], "notes"),
        ([(A, "notes", ME), (B, "notes", THEM)], "notes"),
        ([(A, "notes", ME), (B, "notes", ME)], A),
        ([(A, "notes", THEM)], A),
        ([(A, "no.tes", ME)], A),
        ([(A, "", ME)], A),
        ([(A.upper(), C, ME)], A),
    ],
    ids=["own", "no owner", "beside theirs", "twins", "theirs", "dot", "no name", "like an id"],
)
def test_w5_and_w14_what_leads_to_a_dataset_is_its_name_or_its_id(rows, address):
    known = catalogue(*rows)
    assert known.address_of(known.rows[0]) == address


def test_w5_a_name_that_an_account_shares_leads_to_its_owners_dataset():
    rows = (Dataset(A, "notes", THEM), Dataset(B, "notes", ME), Dataset(C, "", THEM))
    known = Catalogue(rows, ME, {"notes": A, "gone": "3" + A[1:]})
    assert known.led_to_by("notes").id == A
    assert known.led_to_by("gone") is None
    assert known.led_to_by("else") is None
    assert known.led_to_by(C).id == C
    assert [known.address_of(row) for row in rows] == ["notes", B, C]
