"""Only the pipeline makes Redacted values, and none leaves its process."""

from __future__ import annotations

import copy
import pickle

import pytest

from cognee_hooks.redaction import Redacted, RedactionPipeline


@pytest.fixture(name="value")
def _value() -> Redacted[str]:
    return RedactionPipeline().redact_blocking("harmless words")


@pytest.mark.parametrize("seal", [None, object(), True, "seal"])
def test_nobody_else_can_make_one(seal):
    with pytest.raises(TypeError, match="only the redaction pipeline"):
        Redacted("raw text", seal)


def test_it_does_not_show_its_text(value):
    assert "harmless" not in repr(value) + str(value) + f"{value}"


def test_it_can_be_neither_pickled_nor_copied(value):
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="stay inside"):
            attempt(value)


def test_its_value_cannot_be_replaced(value):
    with pytest.raises(AttributeError):
        value.value = "raw text"
    with pytest.raises(AttributeError):
        value.other = "raw text"
    assert value.value == "harmless words"
