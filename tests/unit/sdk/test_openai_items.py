"""Items of the OpenAI Agents SDK, which come in many shapes."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from agents import ToolOutputFileContent, ToolOutputImage, ToolOutputText
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cognee_hooks.sdk.openai_items import (
    arguments_of,
    last_of_user,
    last_prompt,
    output_text,
    plain,
)

ITEMS = [
    {"role": "user", "content": "first"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "said"}]},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "look at"},
            {"type": "input_image", "image_url": "data:…"},
            {"type": "input_text", "text": "this"},
        ],
    },
    {"type": "function_call_output", "call_id": "c", "output": "result"},
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Answer(BaseModel):
    port: int


@dataclass
class Own:
    value: int


def test_the_prompt_is_the_last_message_of_the_user():
    assert last_prompt(ITEMS) == "look at\nthis"
    assert last_of_user(ITEMS) == 2


def test_a_message_can_be_looked_for_by_its_text():
    assert last_of_user(ITEMS, "first") == 0
    assert last_of_user(ITEMS, "said") is None


@pytest.mark.parametrize(
    "items", [[], [None], ["text"], [{"role": "user"}], [{"role": "user", "content": [None, 3]}]]
)
def test_input_without_text_of_the_user_has_no_prompt(items):
    assert last_prompt(items) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ("", {}),
        ("  ", {}),
        ("[1]", {"arguments": [1]}),
        ("{torn", {"arguments": "{torn"}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
)
def test_arguments_are_read_however_the_model_wrote_them(text, expected):
    assert arguments_of(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("text", "text"),
        (ToolOutputText(text="text"), {"type": "text", "text": "text"}),
        (
            ToolOutputImage(image_url="data:image/png;base64,AAAA"),
            {"type": "text", "text": "[image]"},
        ),
        (ToolOutputFileContent(file_data="AAAA"), {"type": "text", "text": "[file]"}),
        ({"type": "image", "image_url": "data:…"}, {"type": "text", "text": "[image]"}),
        (Answer(port=1), {"port": 1}),
        ([Answer(port=1), (2, 3)], [{"port": 1}, [2, 3]]),
        ({1: Own(2)}, {"1": str(Own(2))}),
    ],
)
def test_results_become_plain_values(value, expected):
    assert plain(value) == expected


def test_a_result_that_holds_itself_comes_to_an_end():
    value: list[object] = []
    value.append(value)
    assert "…" in json.dumps(plain(value), ensure_ascii=False)


@given(JSON)
def test_every_json_value_stays_json(value):
    json.dumps(plain(value))
    assert isinstance(output_text(value), str)


@pytest.mark.parametrize(
    ("output", "expected"), [("said", "said"), (None, ""), (Answer(port=1), '{"port": 1}')]
)
def test_the_final_output_becomes_text(output, expected):
    assert output_text(output) == expected
