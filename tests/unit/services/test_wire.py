from __future__ import annotations

import gzip
import json
import types
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import Body
from cognee_hooks.services.wire import (
    BodyReader,
    Part,
    ServerAnswer,
    ServerCall,
    encode_json,
    parse_body,
)


def _read(body, headers=None, limit=1000, size=100):
    reader = BodyReader(headers or {}, limit)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    return reader.document({"content-type": "application/json"})


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf"), object(), {1, 2}])
def test_what_cannot_be_encoded_is_refused_before_anything_is_sent(value):
    with pytest.raises(ServerFailure) as caught:
        encode_json({"deep": [{"value": value}]})
    assert caught.value.kind is FailureKind.REJECTED
    assert not caught.value.sent
    assert caught.value.__context__ is None


def test_half_a_character_is_refused_as_a_part():
    with pytest.raises(ServerFailure, match="cannot be sent") as caught:
        Part.of("raw_data", "/srv/\udc80")
    assert caught.value.kind is FailureKind.REJECTED
    assert not caught.value.sent


def test_a_cycle_is_refused():
    loop: dict[str, object] = {}
    loop["loop"] = loop
    with pytest.raises(ServerFailure):
        encode_json(loop)


def test_any_mapping_is_an_object():
    body = encode_json({"a": types.MappingProxyType({"é": 1})})
    assert body == '{"a":{"é":1}}'.encode()


@pytest.mark.parametrize(
    "pack", [lambda body: body, gzip.compress, zlib.compress], ids=["plain", "gzip", "zlib"]
)
def test_a_body_is_read_as_it_was_sent(pack):
    encoding = {gzip.compress: "gzip", zlib.compress: "Deflate"}.get(pack, "")
    assert _read(pack(b'{"a": 1}'), {"content-encoding": encoding}) == {"a": 1}


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"x" * 1001, {}),
        (b"", {"content-length": "1001"}),
        (gzip.compress(b"x" * 50_000_000), {"content-encoding": "gzip"}),
    ],
    ids=["as it comes", "announced", "bomb"],
)
def test_a_body_that_is_too_long_is_given_up(body, headers):
    with pytest.raises(ServerFailure, match="1000 bytes") as caught:
        _read(body, headers)
    assert caught.value.kind is FailureKind.MISCONFIGURED


@pytest.mark.parametrize("length", ["", "abc", "-5", "9" * 5000, "٣"])
def test_a_senseless_length_is_ignored(length):
    assert _read(b"1", {"content-length": length}) == 1


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding):
    with pytest.raises(ServerFailure, match="encoding"):
        _read(b"", {"content-encoding": encoding})


def test_a_damaged_compressed_body_is_refused():
    with pytest.raises(ServerFailure, match="damaged"):
        _read(b"no gzip", {"content-encoding": "gzip"})


@pytest.mark.parametrize(
    ("body", "content_type", "document"),
    [
        (b"<html>", "", Body.PAGE),
        (b"  <!DOCTYPE html>", "text/plain", Body.PAGE),
        (b"welcome", "text/html; charset=utf-8", Body.PAGE),
        (b"Internal Server Error", "text/plain", Body.NOT_JSON),
        (b"", "application/json", Body.NOT_JSON),
        (b'{"a": ', "application/json", Body.NOT_JSON),
        (b"[" * 1_000_000, "application/json", Body.NOT_JSON),
        (b"1" * 10_000, "application/json", Body.NOT_JSON),
        (b"\xef\xbb\xbf[1]", "", [1]),
        (b'"\xff"', "", "\ufffd"),
        (b"null", "", None),
    ],
)
def test_a_body_is_json_or_a_page_or_neither(body, content_type, document):
    assert parse_body(body, content_type) == document


def test_lone_surrogates_in_an_answer_are_replaced_and_pairs_joined():
    body = rb'{"k\ud800": ["a\uDC00b", {"x": "\ud83d\ude00", "n": 1}]}'
    assert parse_body(body, "") == {"k\ufffd": ["a\ufffdb", {"x": "😀", "n": 1}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(JSON)
def test_a_parsed_body_can_always_be_sent_again(value):
    document = parse_body(json.dumps(value).encode(), "")
    encode_json({"value": document})


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "application/json"]))
def test_any_bytes_are_survived(body, content_type):
    encode_json(
        {"value": 1 if isinstance(d := parse_body(body, content_type), (Body, float)) else d}
    )


def test_a_request_and_an_answer_show_no_payload():
    call = ServerCall(method="POST", path="/x", json={"a": "payload"}, headers={"X": "payload"})
    answer = ServerAnswer(200, {"x": "payload"}, {"a": "payload"})
    assert "payload" not in repr(call) + repr(answer)
    assert answer.ok
