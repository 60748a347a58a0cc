from __future__ import annotations

import json

import pytest

from builtin_plugins.bridge.items import Vault, is_seq, key_digest, read_item, whole_number
from builtin_plugins.bridge.marks import Marks, Tail, name_key, tail_key
from cognee_hooks.services.crypto import Unreadable
from tests.support.bridged import STEM, other_sealer, payload


def test_an_entry_comes_back_as_it_was(vault):
    sent = payload("\ud800 lone and NaN", dataset="d2", url="")
    item = vault.wrap(7, sent)
    assert vault.unwrap(item) == sent
    assert read_item(json.loads(item.encoded)) == item


def test_nothing_of_an_entry_can_be_seen(vault):
    item = vault.wrap(7, payload("find me", key="event 1"))
    assert b"find" not in item.encoded
    assert b"event" not in item.encoded
    assert b"\n" not in item.encoded
    assert item.key == key_digest("event 1") != ""


def test_an_entry_opens_under_its_number_file_and_key_only(vault, sealer):
    document = json.loads(vault.wrap(7, payload(1)).encoded)
    assert vault.opens(read_item(document))
    moved = read_item({**document, "seq": 8})
    for other, item in (
        (vault, moved),
        (Vault(sealer, "b" * 40), read_item(document)),
        (Vault(other_sealer(), STEM), read_item(document)),
        (vault, read_item({**document, "sealed": "no base64"})),
        (vault, read_item({**document, "sealed": "é"})),
    ):
        assert not other.opens(item)
        with pytest.raises(Unreadable):
            other.unwrap(item)


@pytest.mark.parametrize("inside", [{"entry": "text"}, {}])
def test_what_another_program_sealed_is_not_taken_for_an_entry(vault, inside):
    item = read_item({"sealed": vault.seal("3", inside), "seq": 3})
    with pytest.raises(Unreadable):
        vault.unwrap(item)


def test_what_is_no_object_is_not_opened(vault, sealer):
    import base64

    for text in (b"[]", b"{", b"[" * 100_000):
        sealed = base64.b64encode(sealer.seal(text, f"{STEM}/part")).decode()
        with pytest.raises(Unreadable):
            vault.open("part", sealed)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"sealed": "x"},
        {"sealed": 1, "seq": 1},
        {"sealed": "x", "seq": 0},
        {"sealed": "x", "seq": True},
        {"sealed": "x", "seq": 1.0},
        {"sealed": "x", "seq": 1 << 60},
        {"sealed": "x", "seq": 1, "key": 5},
        {"sealed": "x", "seq": 1, "sessionId": "s"},
    ],
)
def test_what_is_no_entry_of_ours_is_not_read_as_one(document):
    assert read_item(document) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, 5), (5.7, 5), (-1, 0), (True, 0), ("5", 0), (None, 0), (float("nan"), 0), (1e300, 0)],
)
def test_numbers_of_a_file_are_whole_and_not_negative(value, expected):
    assert whole_number(value) == expected
    assert not is_seq(value) or value == expected


# -- marks -------------------------------------------------------------------------------------


def test_marks_come_back_as_they_were():
    from builtin_plugins.bridge.marks import SendAttempt

    marks = Marks(revision=4, next_seq=9, complete=False)
    marks.attempts[3] = SendAttempt(running=True, until=5, checks=2)
    marks.add("k:qa", "print")
    marks.rename("n", "s1__2")
    marks.took("key")
    assert Marks.from_json(json.loads(json.dumps(marks.to_json()))) == marks


def test_marks_never_grow_without_an_end():
    marks = Marks()
    for number in range(300):
        marks.add(f"{number}:qa", "print")
        marks.rename(str(number), "s")
        marks.took(str(number))
        marks.took("")
        marks.add("same", str(number))
    assert len(json.dumps(marks.to_json())) < 8000
    assert marks.tail("same") == Tail(300, [str(number) for number in range(280, 300)])
    assert marks.tail("unknown") == Tail()
    assert marks.taken[-1] == "299"


def test_each_server_session_and_kind_has_a_tail_of_its_own():
    keys = {
        tail_key(url, session, kind)
        for url in ("http://a", "http://b")
        for session in ("s", "t")
        for kind in ("qa", "trace")
    }
    assert len(keys) == 8
    assert name_key("u", "s", "d") != name_key("u", "s", "e")
