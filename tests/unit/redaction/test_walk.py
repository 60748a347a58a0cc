"""Walking values: bounds, keys, foreign objects."""

from __future__ import annotations

import enum
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.redaction import RedactionPipeline
from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.walk import MAX_DEPTH, MAX_NODES, TOO_DEEP, TOO_MANY
from tests.unit.redaction.hostile import Unequal

PIPELINE = RedactionPipeline()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["plain", "words here"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=20,
)


def redact(value):
    return PIPELINE.redact_blocking(value).value


@given(JSON)
def test_a_harmless_value_comes_back_as_it_was(value):
    assert redact(value) == value


def test_what_is_no_json_becomes_the_name_of_its_type():
    class Colour(enum.Enum):
        RED = "hunter2"

    value = [Path("/home/x"), b"bytes", {1, 2}, Colour.RED, float("nan"), float("inf"), (1, "two")]
    assert redact(value) == ["[PosixPath]", "[bytes]", "[set]", "[Colour]", None, None, [1, "two"]]


def test_any_mapping_is_an_object_with_text_keys():
    value = MappingProxyType(OrderedDict([("a", 1), (2, "b"), (None, "c"), (True, "d")]))
    assert redact(value) == {"a": 1, "2": "b", "NoneType": "c", "True": "d"}


def test_a_secret_in_a_key_goes():
    key = "AKIA" + "Q7ZK2M4N6P8R1T3V"
    assert redact({key: "x", "deep": {key: 1}}) == {
        "[redacted:aws-access-key-id]": "x",
        "deep": {"[redacted:aws-access-key-id]": 1},
    }


@pytest.mark.parametrize("empty", [None, "", True, False])
def test_nothing_under_a_secret_key_stays_nothing(empty):
    assert redact({"password": empty}) == {"password": empty}


def test_a_value_that_refuses_to_be_compared_goes_too():
    assert redact({"password": Unequal()}) == {"password": "[redacted:password]"}


def test_redacted_parts_are_taken_as_they_are():
    part = RedactionPipeline(enabled=False).redact_blocking({"password": "kept on purpose"})
    assert redact({"token": part, "list": [part]}) == {
        "token": {"password": "kept on purpose"},
        "list": [{"password": "kept on purpose"}],
    }


def test_a_value_that_is_nested_too_deeply_is_cut_off():
    value = "bottom"
    for _ in range(MAX_DEPTH * 20):
        value = [value]
    after = redact(value)
    depth = 0
    while isinstance(after, list):
        after, depth = after[0], depth + 1
    assert (after, depth) == (TOO_DEEP, MAX_DEPTH)


def test_a_value_that_holds_itself_ends():
    value: dict[str, object] = {"text": "x"}
    value["self"] = value
    assert TOO_DEEP in repr(redact(value))


def test_a_value_with_too_many_parts_is_cut_off():
    many = redact(list(range(MAX_NODES * 2)))
    assert many[0] == 0
    assert many[-1] == TOO_MANY
    wide = redact({str(number): number for number in range(MAX_NODES * 2)})
    assert len(wide) <= MAX_NODES
    assert wide["0"] == 0


def test_a_dozen_names_for_one_thing_are_one_name():
    names = "apiKey ApiKey api_key API_KEY api-key x-api-key api.key APIKEY OPENAI_API_KEY apiKeyV2"
    assert [name for name in names.split() if not kind_of(name)] == []


@pytest.mark.parametrize(
    "name", ["", "_", "42", "key", "monkey", "tokens_used", "\u00e9", "a" * 10_000]
)
def test_other_names_promise_nothing(name):
    assert not kind_of(name)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "DB_PASSWORD", "value": "Swordfish"},
        {"Name": "apiKey", "Value": "plainwords"},
        {"env": [{"name": "A", "value": "b"}, {"name": "SECRET_TOKEN", "value": "Swordfish"}]},
        {"args": ["--user", "bob", "--password", "Swordfish"]},
        {"headers": [["x-api-key", "Swordfish"], ["accept", "text/html"]]},
    ],
)
def test_a_value_that_stands_beside_its_name_goes_whole(value):
    after = repr(redact(value))
    assert "Swordfish" not in after
    assert "plainwords" not in after
    assert "[redacted:" in after
    for kept in ("bob", "text/html", "DB_PASSWORD", "'A'"):
        assert (kept in after) == (kept in repr(value))


@pytest.mark.parametrize(
    "value",
    [
        {"name": "password", "value": None},
        {"name": "password", "value": True},
        {"name": "colour", "value": "red"},
        {"name": ["password"], "value": "x"},
        ["--password"],
        ["--verbose", "word"],
        ["password", "username"],
        ["email", "password", "token"],
    ],
)
def test_lists_and_pairs_without_a_secret_stay(value):
    assert redact(value) == value
