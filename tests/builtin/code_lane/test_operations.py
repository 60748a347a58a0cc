from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.code_lane.operations import OPERATIONS, arguments_of, checked_question
from cognee_hooks.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operation": "traverse"}, "traverse needs 'start'"),
        ({"operation": "find_path", "source": "A"}, "find_path needs 'source' and 'target'"),
        ({"operation": "impact_analysis", "targets": []}, "impact_analysis needs 'targets'"),
        ({"operation": "explore"}, "explore needs 'name'"),
        ({}, "Provide a seed"),
        ({"seed": "  "}, "Provide a seed"),
        ({"operation": "banana"}, "there is no operation 'banana'"),
    ],
)
def test_what_is_missing_is_named(arguments, message):
    with pytest.raises(UsageError, match=message):
        checked_question(arguments)


@pytest.mark.parametrize(
    ("arguments", "seed", "query"),
    [
        (
            {"operation": "impact_analysis", "targets": ["p"]},
            "p",
            {"operation": "impact_analysis", "targets": ["p"]},
        ),
        (
            {"operation": "query_facts", "kind": "route", "limit": 50},
            "query_facts",
            {"operation": "query_facts", "kind": "route", "limit": 50},
        ),
        ({"operation": "delta"}, "", {"operation": "delta"}),
        ({"seed": "X"}, "X", None),
    ],
)
def test_vectors_71_to_74_questions_as_the_server_gets_them(arguments, seed, query):
    question = checked_question(arguments)
    assert (question.seed, question.code_query) == (seed, query)


@pytest.mark.parametrize(
    ("text", "seed", "query"),
    [
        ("DELTA", "", {"operation": "delta"}),
        ('{"operation":"explore","name":"U"}', "U", {"operation": "explore", "name": "U"}),
        ("PaymentService", "PaymentService", None),
        ('{"some": "object"}', '{"some": "object"}', None),
    ],
)
def test_vectors_75_and_76_a_command_is_a_name_delta_or_an_operation(text, seed, query):
    question = checked_question(arguments_of(text))
    assert (question.seed, question.code_query) == (seed, query)


def test_vector_77_a_broken_operation_is_told_from_a_name():
    with pytest.raises(UsageError, match="does not parse"):
        arguments_of('{"operation"')


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_w9_quotes_around_an_operation_are_removed(quote):
    text = quote + '{"operation": "impact_analysis", "targets": ["p", "q"]}' + quote
    question = checked_question(arguments_of(text))
    assert question.seed == "p"
    assert question.code_query == {"operation": "impact_analysis", "targets": ["p", "q"]}


def test_w9_an_operation_in_a_command_is_checked_like_that_of_a_tool():
    with pytest.raises(UsageError, match="traverse needs 'start'"):
        checked_question(arguments_of('{"operation": "traverse"}'))


@pytest.mark.parametrize("word", ["backward", "Backward", "upstream"])
def test_w8_backward_is_what_the_server_calls_reverse(word):
    question = checked_question({"operation": "traverse", "start": "a", "direction": word})
    assert question.code_query["direction"] == "reverse"


def test_keys_that_an_operation_does_not_read_are_replaced_by_those_that_it_does():
    query = checked_question(
        {"operation": "explore", "seed": "PaymentService", "limit": 5}
    ).code_query
    assert query == {"operation": "explore", "name": "PaymentService", "max_nodes": 5}
    query = checked_question({"operation": "impact_analysis", "seeds": ["a"]}).code_query
    assert query == {"operation": "impact_analysis", "targets": ["a"]}
    query = checked_question({"operation": "subgraph", "targets": "a", "max_depth": "2"}).code_query
    assert query == {"operation": "subgraph", "seeds": ["a"], "depth": 2}


def test_of_a_list_where_one_name_is_wanted_the_first_counts():
    question = checked_question({"operation": "explore", "name": ["a", "b"], "direction": ["both"]})
    assert question.code_query == {"operation": "explore", "name": "a", "direction": "both"}


def test_the_servers_own_spelling_of_a_delta_is_understood():
    question = checked_question(arguments_of('{"operation": "delta", "repo": "shop"}'))
    assert question.seed == "shop"
    assert question.code_query == {"operation": "delta", "name": "shop"}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "seed name start source target targets kind file direction limit max_depth text".split()
)


@given(st.sampled_from([*OPERATIONS, "", "x"]), st.dictionaries(KEYS, ANYTHING))
def test_arguments_of_any_kind_give_a_question_or_one_error(operation, arguments):
    try:
        question = checked_question({**arguments, "operation": operation})
    except UsageError:
        return
    assert isinstance(question.seed, str)


@given(st.text(max_size=100))
def test_any_command_text_is_survived(text):
    try:
        checked_question(arguments_of(text))
    except UsageError:
        return
