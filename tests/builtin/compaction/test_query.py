from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.compaction.query import MAX_WORDS, query_of
from cognee_hooks.events import Turn


def of(*texts: str) -> str:
    return query_of([Turn(question=text) for text in texts])


# The seeds are the reference's. It takes the first twenty words as they come; here (W38) stop words
# go, each word counts once, and every script has words.
@pytest.mark.parametrize(
    ("seed", "query"),
    [
        pytest.param(
            "We decided the breaker state file is shared Stored the decision.",
            "decided breaker state file shared stored decision",
            id="P1-without-stop-words",
        ),
        pytest.param("the the the a b cc ddd", "ddd", id="P2-without-stop-words"),
        pytest.param("Привет мир, как дела", "привет мир как дела", id="P3-W38"),
    ],
)
def test_the_references_seeds_give_words_that_tell_something(seed, query):
    assert of(seed) == query


@pytest.mark.parametrize("seed", ["", "the and of", "12 3456 7_8", "[redacted:credential]", "a b"])
def test_w38_what_tells_nothing_gives_no_query(seed):
    assert of(seed) == ""


def test_w38_the_newest_turn_comes_first_and_a_word_counts_once():
    assert of("deploy orders", "rollback orders", "Why pelican orders?") == (
        "pelican orders rollback deploy"
    )


def test_question_and_answer_both_count():
    turn = Turn(question="Which pipeline?", answer="BluePelican deploys it.")
    assert query_of([turn]) == "pipeline bluepelican deploys"


def test_only_the_latest_three_turns_count():
    assert of("ancient", "one1x", "two2x", "three3x") == "three3x two2x one1x"


def test_w38_scripts_without_spaces_have_words():
    assert of("数据库 迁移") == "数据库 迁移"


def test_tags_of_what_was_cut_out_are_no_words():
    assert of("login with [redacted:credential] fails") == "login fails"


@given(st.lists(st.text(max_size=200), max_size=5))
def test_a_query_is_short_and_repeats_nothing(texts):
    words = of(*texts).split(" ")
    assert len(words) <= MAX_WORDS
    assert len(set(words)) == len(words)
