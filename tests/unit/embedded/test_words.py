from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.embedded.words import index_terms, match_expression, overlap, query_words

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=200)


@given(TEXTS)
def test_any_text_makes_a_query_that_sqlite_accepts(text: str):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize='porter unicode61')")
    connection.execute("INSERT INTO t VALUES (?)", (text,))
    expression = match_expression(query_words(text))
    if expression:
        connection.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()
    connection.close()


@given(TEXTS)
def test_words_hold_letters_and_digits_only_and_are_bounded(text: str):
    words = query_words(text)
    assert len(words) <= 64
    assert len(set(words)) == len(words)
    assert not any(re.search(r"[\W_]", word) for word in words)


def test_stop_words_are_dropped():
    assert query_words("What does the AlphaService use?") == ["alphaservice", "alpha", "service"]
    assert query_words("what is that") == []


def test_the_query_language_cannot_be_spoken():
    expression = match_expression(query_words('a" OR text:x NEAR(y) AND -z*'))
    assert expression.count('"') % 2 == 0
    assert "text:" not in expression


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("calls process_refund in HTTPServer2", "http server 2"),
        ("plain words", ""),
        ("記憶サーバー", "記憶 憶サ サー ーバ バー"),
        ("字", "字"),
    ],
)
def test_parts_of_names_and_pairs_of_characters_are_indexed_beside_the_text(text: str, terms: str):
    assert index_terms(text) == terms


def test_overlap_counts_whole_words_and_parts_of_names():
    assert overlap(query_words("payment topaz"), "PaymentService uses topazes") == 1
