from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.services import answers
from cognee_hooks.services.answers import Health, SessionDetail, StoredEntry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.text(max_size=3)
            | st.sampled_from(["status", "results", "qas", "traces", "id", "score", "text"]),
            children,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_answer_is_read_or_refused_and_never_raises(document):
    answers.read_health(document)
    answers.read_items(document)
    answers.read_stored(document)
    answers.read_session(document)
    answers.read_dataset(document)
    answers.read_datasets(document)
    answers.read_account(document)


@pytest.mark.parametrize(
    ("document", "health"),
    [
        ({"status": "ready", "health": "healthy", "version": "1.6.5"}, Health("1.6.5", True)),
        ({"status": "not ready", "health": "unhealthy", "version": "1"}, Health("1", False)),
        ({"status": "not ready", "reason": "health check failed"}, Health("", False)),
        ({"health": "healthy"}, Health("", True)),
        ({"health": "healthy", "server": "cognee-hooks embedded"}, Health("", True, True)),
        ({"health": "healthy", "server": ["other"]}, Health("", True)),
        ({"detail": "Not Found"}, None),
        ([], None),
    ],
)
def test_w46_health_is_what_a_cognee_server_says_of_itself(document, health):
    assert answers.read_health(document) == health


def test_w24_items_that_are_no_objects_are_skipped():
    items = answers.read_items([None, 3, "x", {"source": "graph", "text": "memory"}])
    assert [item.text for item in items] == ["memory"]


def test_of_a_recall_no_more_is_read_than_anybody_asks_for():
    assert len(answers.read_items([{"text": "x"}] * 100_000)) == 500


def test_w24_a_list_inside_an_object_is_a_list_of_items():
    assert [item.text for item in answers.read_items({"results": [{"text": "a"}]})] == ["a"]
    assert answers.read_items({"items": []}) is None
    assert answers.read_items("text") is None


@pytest.mark.parametrize(
    ("document", "body"),
    [
        ({"text": "", "content": " c "}, "c"),
        ({"text": " \n", "content": "c"}, "c"),
        ({"text": None, "content": "c"}, "c"),
        ({"text": " t ", "content": "c"}, "t"),
        ({"text": 12.5}, "12.5"),
        ({"text": {"a": 1}}, ""),
        ({}, ""),
    ],
)
def test_w24_a_blank_text_does_not_hide_the_content(document, body):
    (item,) = answers.read_items([document])
    assert item.body == body
    assert item.raw == document


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.5, 0.5), (1, 1.0), (True, None), ("1", None), (float("nan"), None), (10**400, None)],
)
def test_only_a_finite_number_is_a_score(score, expected):
    (item,) = answers.read_items([{"score": score}])
    assert item.score == expected


def test_an_entry_is_stored_when_the_server_says_so():
    good = {"status": "session_stored", "entry_id": "e", "dataset_id": None}
    assert answers.read_stored(good) == StoredEntry("e", "")
    for other in ({"status": "ok"}, {}, [], "<html>", None):
        assert answers.read_stored(other) is None


def test_a_session_has_entries_and_totals():
    document = {"qas": [{"question": "q"}, None], "traces": None, "msg_count": 7, "tool_calls": -1}
    assert answers.read_session(document) == SessionDetail(qas=({"question": "q"},), msg_count=7)
    assert answers.read_session({"qas": []}) is None


def test_datasets_are_read_in_both_spellings():
    own = {"id": "1", "name": "a", "ownerId": "o"}
    found = answers.read_datasets([own, {"id": "2", "owner_id": "p"}, {"name": "x"}, 3])
    assert [(each.id, each.name, each.owner_id) for each in found] == [
        ("1", "a", "o"),
        ("2", "", "p"),
    ]
    assert answers.read_datasets({}) is None


def test_an_account_tells_agents_from_owners():
    account = answers.read_account({"id": "1", "email": "e", "parent_user_id": "2"})
    assert (account.parent_id, account.tenant_id) == ("2", "")
