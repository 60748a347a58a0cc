"""Corners of the rules that no corpus reaches."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.redaction import Pattern, RedactionPipeline, Redactor, rules
from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.spans import Span, merge, replace

BODY = "\n".join(["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVoxMjM0NTY3ODkw"] * 4)
END = "-----END " + "RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"


def redact(text: str) -> str:
    return replace(text, rules.find_secrets(text))


def test_a_passphrase_of_plain_words_goes_whole():
    assert redact("password: quartz fjord cobalt walrus\n") == "password: [redacted:password]\n"


def test_a_sentence_under_the_name_of_a_password_stays():
    text = "password: must have twelve letters or more\n"
    assert redact(text) == text


def test_the_end_of_a_private_key_whose_beginning_is_missing_goes():
    assert redact(f"{BODY}\n{END}\nafter") == "[redacted:private-key]\nafter"


@pytest.mark.parametrize("text", [f"{END}\n", f"no key before\n{END}\n"])
def test_the_mere_end_mark_of_a_private_key_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "INSERT INTO users (name, password) VALUES ('bob', 'Fjord!19x')",
            "INSERT INTO users (name, password) VALUES ('bob', '[redacted:password]')",
        ),
        (
            "INSERT INTO users (name, colour) VALUES ('bob', 'a1b2c3d4')",
            "INSERT INTO users (name, colour) VALUES ('bob', 'a1b2c3d4')",
        ),
        (
            "INSERT INTO users (id, password, token) VALUES (1)",
            "INSERT INTO users (id, password, token) VALUES (1)",
        ),
        (
            "INSERT INTO users (id, password) VALUES (f((1), 2)",
            "INSERT INTO users (id, password) VALUES (f((1), 2)",
        ),
    ],
)
def test_values_of_an_insert_go_by_their_columns(text, expected):
    assert redact(text) == expected


@pytest.mark.parametrize("name", ["PASS_WORD", "pass-phrase", "passCode", "pass.word"])
def test_names_of_passwords_may_be_written_apart(name):
    assert kind_of(name) == "password"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("my_superpassword", "password"), ("dbpasswd", "password"), ("AUTH_TOK", "credential")],
)
def test_names_may_be_written_together_or_short(name, kind):
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    "escaped", ["\\u001b[32m", "\\x1b[32m", "\\033[32m", "\\e[32m", "\x1b[32m", "\u200b"]
)
def test_colours_inside_a_secret_are_looked_through(escaped):
    half = len(JWT) // 2
    assert redact(f"x {JWT[:half]}{escaped}{JWT[half:]} y") == "x [redacted:jwt] y"


@pytest.mark.parametrize("layers", range(3))
def test_a_string_in_a_string_is_read_as_what_it_means(layers):
    text = '<add key="dbPassword" value="Fjord!' + '19" />\n\tx\\u003d"1"'
    for _ in range(layers):
        text = '{"output": "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"}'
    after = redact(text)
    assert "Fjord" not in after
    assert after.replace("[redacted:password]", "Fjord!" + "19") == text


def test_overlapping_spans_become_one_that_covers_both():
    spans = [Span(5, 9, "b", "b"), Span(0, 6, "a", "a"), Span(1, 3, "c", "c")]
    assert merge("0123456789", spans) == [Span(0, 9, "a", "a")]


def test_of_a_span_that_holds_a_tag_only_a_real_remainder_is_cut():
    text = "abcdefgh[redacted:x]ab"
    assert merge(text, [Span(0, len(text), "r", "r")]) == [Span(0, 8, "r", "r")]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=8))
def test_merged_spans_are_ordered_apart_and_lose_nothing(pairs):
    spans = [Span(start, start + length, "r", "r") for start, length in pairs]
    merged = merge("x" * 50, spans)
    assert all(one.end <= two.start for one, two in pairwise(merged))
    covered = {at for span in merged for at in range(span.start, span.end)}
    assert covered == {at for span in spans for at in range(span.start, span.end)}


def test_a_closed_chain_lets_its_thread_end_and_starts_another_when_needed():
    pipeline = RedactionPipeline([Redactor("same", function=lambda text: text)])
    assert pipeline.redact_blocking("x").value == "x"
    pipeline.close()
    assert pipeline.redact_blocking("y").value == "y"
    pipeline.close()


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda: Redactor(7), "name"),
        (lambda: Redactor("x", patterns="abc"), "patterns"),
        (lambda: Redactor("x", patterns=("abc",)), "Pattern values"),
        (lambda: Redactor("x", function="abc"), "function"),
        (lambda: Pattern(7), "regex"),
    ],
)
def test_a_redactor_of_wrong_parts_is_refused_where_it_is_made(make, wrong):
    with pytest.raises(TypeError, match=wrong):
        make()
