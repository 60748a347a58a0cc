from __future__ import annotations

import json

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.testing.shapes import SHAPES, Shape, form_problem, leaves, value_at

ENVELOPE = {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}
codex = SHAPES["codex"]
cursor = SHAPES["cursor"]


def test_every_built_in_agent_has_a_shape():
    assert set(SHAPES) == set(BUILT_IN)


@pytest.mark.parametrize(
    "document",
    [
        {"hookSpecificOutput": ENVELOPE},
        {"systemMessage": "x"},
        {"hookSpecificOutput": ENVELOPE, "systemMessage": "x"},
        {},
    ],
)
def test_an_answer_of_known_keys_fits(document):
    assert codex.problem("UserPromptSubmit", json.dumps(document)) == ""
    assert codex.problem("UserPromptSubmit", "") == ""


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"hookSpecificOutput": ENVELOPE, "extra": 1}, "knows no extra"),
        ({"hookSpecificOutput": {**ENVELOPE, "more": "x"}}, "knows no hookSpecificOutput.more"),
        ({"hookSpecificOutput": {"additionalContext": "x"}}, "hookEventName is missing"),
        ({"hookSpecificOutput": {**ENVELOPE, "hookEventName": "Stop"}}, "must be 'UserPromptSub"),
        ({"systemMessage": 3}, "must be text"),
        ({"hookSpecificOutput": {}}, "knows no hookSpecificOutput here"),
        ([], "not an object"),
    ],
)
def test_an_answer_of_other_keys_does_not(document, expected):
    assert expected in codex.problem("UserPromptSubmit", json.dumps(document))


@pytest.mark.parametrize("output", ["{}", '{"systemMessage": "x"}', "text"])
def test_an_event_that_takes_no_output_takes_none_at_all(output):
    assert codex.problem("Stop", output)
    assert codex.problem("Stop", "") == ""


def test_a_fixed_value_has_to_be_there():
    assert cursor.problem("beforeSubmitPrompt", '{"continue": true}') == ""
    assert "continue is missing" in cursor.problem("beforeSubmitPrompt", "{}")
    assert cursor.problem("stop", "{}") == ""
    assert "knows no followup_message" in cursor.problem("stop", '{"followup_message": "x"}')


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("text", "not one JSON document"),
        ("{} {}", "not one JSON document"),
        ("[" * 100_000, "not one JSON document"),
        ('"text"', "a JSON str"),
        ('{"a": "\\ud800"}', "half a surrogate pair"),
        ('{"continue": false}', "never block"),
        ('{"decision": "block"}', "never block"),
        ('{"hookSpecificOutput": {"permissionDecision": "deny"}}', "never block"),
        ('{"permission": "ask"}', "never block"),
    ],
)
def test_no_agent_takes_anything_but_an_object_that_decides_nothing(output, expected):
    assert expected in form_problem(output)
    assert len(form_problem(output)) < 400


@pytest.mark.parametrize("output", ["", "{}", '{"continue": true, "decision": "allow"}'])
def test_silence_and_consent_are_fine(output):
    assert form_problem(output) == ""


def test_a_place_in_a_document_leads_to_its_value_or_to_none():
    document = {"a": {"b": 1, "c": {}}, "d": [2]}
    assert dict(leaves(document)) == {"a.b": 1, "a.c": {}, "d": [2]}
    assert value_at(document, "a.b") == 1
    assert value_at(document, "d.x") is None
    assert value_at(document, "a.x.y") is None


def test_a_shape_says_nothing_by_default():
    assert Shape().problem("Stop", "") == ""
    assert Shape().problem("Stop", "{}")
