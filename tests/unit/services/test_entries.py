from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.services.entries import entry_problem

QA = {"type": "qa", "question": "q", "answer": ""}
TRACE = {"type": "trace", "origin_function": "bash"}
FEEDBACK = {"type": "feedback", "qa_id": "1"}
SKILL = {"type": "skill_run", "selected_skill_id": "1"}


@pytest.mark.parametrize(
    "entry",
    [
        QA,
        QA | {"context": "", "feedback_score": 1, "used_graph_element_ids": {"node_ids": []}},
        QA | {"feedback_score": None, "used_graph_element_ids": None},
        TRACE,
        TRACE | {"status": "error", "method_params": {}, "method_return_value": [1]},
        TRACE | {"method_params": None, "error_message": "e"},
        FEEDBACK,
        FEEDBACK | {"feedback_score": 5},
        SKILL,
        SKILL | {"success_score": 0.5, "feedback": -1},
    ],
)
def test_what_the_server_takes_is_sent(entry):
    assert entry_problem(entry) == ""


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        {},
        {"type": ["qa"]},
        {"type": "note"},
        {"type": "qa", "question": "q"},
        QA | {"answer": None},
        QA | {"context": None},
        QA | {"feedback_score": 0},
        QA | {"feedback_score": 9},
        QA | {"feedback_score": True},
        QA | {"feedback_score": 3.0},
        QA | {"used_graph_element_ids": {"nodes": []}},
        QA | {"used_graph_element_ids": []},
        TRACE | {"origin_function": " \n"},
        {"type": "trace"},
        TRACE | {"status": "ok"},
        TRACE | {"method_params": "ls"},
        TRACE | {"error_message": None},
        {"type": "feedback"},
        FEEDBACK | {"qa_id": ""},
        FEEDBACK | {"feedback_score": 6},
        {"type": "skill_run"},
        SKILL | {"success_score": 1.5},
        SKILL | {"feedback": -2},
        SKILL | {"feedback": True},
        SKILL | {"success_score": "1"},
    ],
)
def test_what_the_server_refuses_is_not_sent(entry):
    assert entry_problem(entry)


VALUES = st.text(min_size=12, max_size=20).map("<{}>".format)
"""Texts of which no reason holds one by chance, such as the name of a field."""


@given(st.dictionaries(st.text(max_size=8), VALUES))
def test_the_reason_repeats_no_value(extra):
    problem = entry_problem(TRACE | {"origin_function": ""} | extra | {"status": "x"})
    assert not any(value in problem for value in extra.values())
