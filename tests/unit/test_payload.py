from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.payload import first_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


def arrivals(data: bytes):
    """What is found when the data comes byte by byte and the stream stays open."""
    return [first_object(data[:end], ended=False) for end in range(len(data) + 1)]


@given(document=OBJECTS, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_an_object_is_found_with_its_last_byte_and_not_before(document, ascii_only, indent):
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    *early, last = arrivals(text.encode("utf-8", "replace"))
    assert early == [None] * len(early)
    assert last == json.loads(text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "}"}',
        r'{"a": "{", "b": "}}}"}',
        r'{"a": "\"}", "b": {"c": "\\"}}',
        r'{"a": "\\\"}{"}',
        '{"a": "é}", "b": "日本}"}',
        "{}",
    ],
)
def test_braces_in_strings_complete_nothing(text):
    *early, last = arrivals(text.encode())
    assert not any(early)
    assert last == json.loads(text)


@pytest.mark.parametrize("data", [bytes, bytearray])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \r\n\t", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("after", [b"", b"\n", b"\r\n \t", b" " * 1000])
def test_white_space_and_a_byte_order_mark_around_it_do_not_matter(data, before, after):
    assert first_object(data(before + b'{"a": 1}' + after), ended=False) == {"a": 1}


@pytest.mark.parametrize("after", [b"x", b"[]", b'\n{"b": 2}', b"}", b'{"b"', b"\0", b"\xff"])
def test_what_follows_the_object_is_not_looked_at(after):
    assert first_object(b'{"a": 1}' + after, ended=True) == {"a": 1}


def test_of_two_objects_the_first_counts():
    assert first_object(b'{"a": 1}{"b": 2}', ended=False) == {"a": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"x" + b" " * 1000,
        b"{",
        b'{"a": 1',
        b'{"a": }',
        b"{'a': 1}",
        b"}",
        b"null",
        b"1",
        b'"text"',
        b"[]",
        b'[{"a": 1}]',
        b"\xff\xfe",
        b'x{"a": 1}',
        b"\0{}",
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
@pytest.mark.parametrize("ended", [True, False])
def test_anything_else_is_nothing(data, ended):
    assert first_object(data, ended=ended) is None


@given(data=st.binary(max_size=60), ended=st.booleans())
def test_no_bytes_make_it_fail(data, ended):
    for each in (data, data + b"}", b"{" + data + b"}"):
        assert first_object(each, ended=ended) is None or isinstance(
            first_object(each, ended=ended), dict
        )


@pytest.mark.parametrize("opening", [b'{"a":', b'{"a":['])
def test_a_nesting_without_end_is_nothing(opening):
    deep = opening * 100_000 + b"}"
    assert first_object(deep, ended=False) is None
    assert first_object(deep, ended=True) is None


def test_bytes_that_are_no_utf_8_are_replaced():
    assert first_object(b'{"a": "\xff\xc3"}', ended=False) == {"a": "\ufffd\ufffd"}


def test_halves_of_surrogate_pairs_come_through_as_they_are_for_the_redaction_to_see():
    assert first_object(rb'{"a": "\ud83d"}', ended=False) == {"a": "\ud83d"}


def test_a_large_object_in_small_parts_takes_time_in_proportion():
    def seconds(megabytes: int) -> float:
        document = b'{"a": "' + b"x" * megabytes * 1_000_000 + b'"}'
        data = bytearray()
        started = time.process_time()
        for begin in range(0, len(document), 16_384):
            data += document[begin : begin + 16_384]
            found = first_object(data, ended=False)
        assert found is not None
        return time.process_time() - started

    # Looking through all of it with each part would take minutes.
    assert seconds(16) < 3.0
