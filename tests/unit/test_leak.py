from __future__ import annotations

import base64
import json
import pickle
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.leak import MARKER, Leak

VALUE = "hunter2-" + 'Zq81"/\\é' + "\nkappa"
LEAK = Leak(VALUE)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
values = st.text(st.characters(exclude_categories=("Cs",)), min_size=6, max_size=40)


@pytest.mark.parametrize(
    "spelling",
    [
        VALUE,
        repr(VALUE),
        json.dumps(VALUE),
        json.dumps(VALUE, ensure_ascii=False),
        json.dumps(VALUE).replace("/", "\\/"),
        json.dumps(VALUE).replace("e9", "E9"),
        json.dumps(json.dumps(VALUE)),
        json.dumps({"text": json.dumps({VALUE: 1}, ensure_ascii=False)}, ensure_ascii=False),
        quote(VALUE),
        quote(VALUE, safe=""),
        quote(VALUE).replace("%C3%A9", "%c3%a9").replace("%5C", "%5c").replace("%0A", "%0a"),
    ],
)
def test_every_spelling_is_found_and_replaced(spelling: str):
    data = f"before {spelling} after".encode()
    assert LEAK.count(data) == 1
    cleaned = LEAK.cleaned_bytes(data).decode()
    assert MARKER in cleaned
    assert "kappa" not in cleaned


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_stays_base64_of_the_same_length(before: int, encode):
    data = encode(b"x" * before + VALUE.encode() + b"~~?>")
    cleaned = LEAK.cleaned_bytes(data)
    assert len(cleaned) == len(data)
    decoded = base64.b64decode(cleaned, altchars=b"-_" if encode != base64.b64encode else None)
    assert decoded[:before] == b"x" * before
    assert decoded.endswith(b"~?>")
    assert b"kappa" not in decoded


@given(value=values, before=texts, after=texts)
def test_nothing_of_any_value_is_left_in_text_or_json(value: str, before: str, after: str):
    if value in MARKER or MARKER in value:
        return
    leak = Leak(value)
    for text in (before + value + after, json.dumps([before + value + after])):
        cleaned = leak.cleaned_bytes(text.encode())
        assert value.encode() not in cleaned
        assert not leak.is_in(cleaned)


@given(value=values, document=st.recursive(texts | st.integers() | st.none(), st.lists))
def test_json_values_lose_it_in_keys_and_texts_and_keep_the_rest(value: str, document: object):
    leak = Leak(value)
    whole = {"kept": document, f"key {value}": [value, 1]}
    cleaned = leak.cleaned(whole)
    assert leak.count_in(cleaned) == 0 or value in MARKER
    if not leak.count_in(document):
        assert cleaned["kept"] == document


def test_a_number_that_holds_it_becomes_a_text():
    assert Leak("4929123456").cleaned({"card": 4929123456, "on": True}) == {
        "card": MARKER,
        "on": True,
    }


def test_it_comes_back_when_what_was_around_it_meets_only_as_stars():
    leak = Leak("abcabd")
    data = leak.masked(b"abcabdabcabd--abcabcabdabd")
    assert len(data) == 26
    assert b"abcabd" not in data


def test_the_value_is_in_no_representation():
    assert VALUE not in repr(LEAK)
    with pytest.raises(TypeError, match="stays inside"):
        pickle.dumps(LEAK)
