"""Where rules meet: overlapping finds, odd names, keys without their beginning, tables."""

from __future__ import annotations

import pytest

from cognee_hooks.redaction import Redactor, rules
from cognee_hooks.redaction.names import CREDENTIAL, PASSWORD, kind_of
from cognee_hooks.redaction.pipeline import RedactionPipeline
from cognee_hooks.redaction.spans import Span, merge, replace

BODY = "MIIEvQ" + "x9Kq" * 16


def redacted(text: str) -> str:
    return replace(text, rules.find_secrets(text))


def test_finds_that_overlap_become_one():
    spans = [Span(0, 5, "a", "first"), Span(3, 9, "b", "second"), Span(4, 6, "c", "third")]
    assert merge("0123456789", spans) == [Span(0, 9, "a", "first")]


def test_of_a_find_that_holds_a_tag_only_a_real_remainder_is_cut():
    text = "abcdefgh[redacted:github]xy"
    assert merge(text, [Span(0, len(text), "a", "rest")]) == [Span(0, 8, "a", "rest")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("pass-wrd", PASSWORD),
        ("pass_word", PASSWORD),
        ("passPhrase", PASSWORD),
        ("wifipassword", PASSWORD),
        ("api.key", CREDENTIAL),
        ("compass", ""),
        ("primary_key", ""),
        ("---", ""),
    ],
)
def test_a_name_promises_the_same_in_every_spelling(name: str, kind: str):
    assert kind_of(name) == kind


def test_the_end_of_a_key_takes_the_body_before_it_along():
    assert BODY not in redacted(f"{BODY}\n-----END RSA PRIVATE KEY-----\nok")
    assert redacted(f"{BODY}\n-----END RSA PRIVATE KEY-----\nok").endswith("ok")


def test_the_end_of_a_key_alone_is_no_secret():
    text = "the file ends in -----END RSA PRIVATE KEY-----"
    assert redacted(text) == text


def test_a_passphrase_of_plain_words_goes_whole():
    words = "correct horse battery staple"
    assert redacted(f"passphrase: {words}") == "passphrase: [redacted:password]"


def test_of_a_row_only_the_columns_that_promise_a_secret_are_cut():
    secret = "Tulip" + "#4821"
    text = f"INSERT INTO users (name, password) VALUES ('bob', '{secret}');"
    assert redacted(text) == text.replace(secret, "[redacted:password]")


def test_a_row_without_secrets_stays_and_so_does_one_that_ends_early():
    plain = "INSERT INTO users (name, age) VALUES ('bob', 3);"
    early = "INSERT INTO users (name, password) VALUES ('bob');"
    torn = "INSERT INTO users (name, password) VALUES ('bo"
    assert [redacted(each) for each in (plain, early, torn)] == [plain, early, torn]


def test_a_string_in_a_string_in_a_string_is_looked_into():
    secret = "Xk9Qw2Lm" + "7Zt4Rb8Vn1P"
    text = f'"{{\\"a\\": \\"{{\\\\\\"password\\\\\\": \\\\\\"{secret}\\\\\\"}}\\"}}"'
    assert secret not in redacted(text)


@pytest.mark.parametrize("end", [")", "}]", ");", ", "])
def test_a_header_that_ends_before_its_value_is_no_secret(end: str):
    text = f"(Authorization: Bearer {end}"
    assert redacted(text) == text


def test_redactors_take_patterns_and_nothing_else():
    with pytest.raises(TypeError, match="must hold Pattern values"):
        Redactor(name="x", patterns=("EMP-1",))  # type: ignore[arg-type]


def test_a_pipeline_can_be_closed_and_used_again():
    pipeline = RedactionPipeline([Redactor(name="x", function=str.upper)], redactor_timeout=5)
    assert pipeline.redact_blocking("a").value == "A"
    pipeline.close()
    assert pipeline.redact_blocking("b").value == "B"
