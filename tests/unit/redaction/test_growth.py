"""Every rule costs time in proportion to the text, whatever the text."""

# ruff: noqa: E501 - a table of texts

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from cognee_hooks.redaction import RedactionPipeline, cut, rules, strip_private
from cognee_hooks.redaction.vendors import VENDOR_RULES

SIZE = 6_000
"""Characters of the smallest text; the largest has four times as many."""
RATIO = 9
"""The largest may take so many times as long as the smallest: 4 is linear, 16 is quadratic."""
FAST = 0.02
"""Seconds below which a ratio says nothing."""
TRIES = 5
"""A busy machine may spoil a measurement, but makes none of what is not linear look linear."""

PIECES = (
    "a-a-a-", "a_", "____", "=", '"', "'", "`", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN ", "-----END RSA PRIVATE KEY-----",
    " ", "\t", "\n", "\r\n", "QUJD", "QUJDREVGR0hJSktMTU5PUFFS\n", "://", "a://", "http://a:", "@", "a@", "%", "%3D", "password ", "password=",
    "password: ", "password: |\n ", "name: x value: ", 'name="x" ', '"name": "a", ', "<a>", "</a>", "<a ", "<password>", "key=", '\\"', '\\\\"',
    "cookie: a=b; ", "a=b; ", "Cookie: ", "eyJ", "eyJhbGci.", "sk-", "sk-a-", "ghp_", "AKIA", "-us1", ":AA", "s.", "a.b", "a.", "./a", "a/a/", "/",
    "token token ", "token is ", "the secret is ", "secret for a b c ", "authorization: bearer ", "bearer ", "basic a", "--password ", "--a-", "-u a:b ",
    "echo a | ", "echo ", "curl -u ", "mysql ", "login -p", "login a password ", "machine ", "set a ", "https ", "a:1:a:a:", "1:", "$2a$10$", "$1$",
    "$argon2id$v=1$m=1,t=1,p=1$", "0123456789abcdef", "0123456789abcdef-", "01234567-0123-0123-0123-0123456789ab ", "PuTTY-User-Key-File-2", "Private-Lines: ",
    "kind: Secret\n", "data:\n", "  a: bb\n", "kind: Secret\ndata:\n  a: bb\n", "?key=a&", "&", "?a=b", ";", "<private>", "</private>", "<", ">", "\x1b[0m", "\u200b",
    "[redacted:x]", "[redacted:", "[", "(", ")", "{", "}", "{{", "${", "variable a { ", "*", ".", "x", "A", "Aa", "A1b2", "1", "aB", "\\n", "\\u0022", "&quot;", "|", ",",
    "auth=('a', ", "password('", "identified by ", "zip -P", "net use ", "smbclient -U a", "İ", "日本", "😀", "pass word ", "passpass", "keykey", "keykeykey=", "key: key: ",
    "T3BlbkFJ", "sk-aT3BlbkFJ", "AccountKey=", "xoxb-", "discord.com/api/webhooks/", "AAAAAAAAAAAAAAAAAAAA", "hooks.slack.com/services/", "a1.", "MAAA.", "1/1", "t1.a", "+", "dp.st.",
)  # fmt: skip


def seconds(function: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        function(text)
        best = min(best, time.process_time() - start)
        if best < FAST:
            break
    return best


def grown(function: Callable[[str], object], piece: str, tail: str = "") -> str:
    """Return how a function's time grows, "" where it is in proportion."""
    texts = [piece * (SIZE * factor // len(piece)) + tail for factor in (1, 2, 4)]
    if seconds(function, texts[2]) < FAST * 2:
        return ""
    for _ in range(TRIES):
        times = [seconds(function, text) for text in texts]
        if times[2] < RATIO * max(times[0], FAST / 4):
            return ""
    return " ".join(f"{each:.3f}" for each in times)


@pytest.mark.parametrize("piece", PIECES)
def test_the_rules_are_linear(piece):
    for tail in ("", "\n\x00"):
        assert grown(rules.find_secrets, piece, tail) == ""


@pytest.mark.parametrize("piece", [" ", "\n", "a", "="])
def test_the_rules_are_linear_behind_a_beginning_of_something(piece):
    slow = {}
    for head in PIECES:
        if growth := grown(
            lambda text, head=head: rules.find_secrets(head + text + "\n\x00"), piece
        ):
            slow[head] = growth
    assert slow == {}


def test_each_vendor_rule_is_linear():
    slow = {}
    for rule in VENDOR_RULES:
        for piece in (*PIECES, *rule.hints, *(hint + "a" for hint in rule.hints)):
            growth = grown(lambda text, rule=rule: list(rule.pattern.finditer(text)), piece)
            if growth:
                slow[rule.name, piece] = growth
    assert slow == {}


@pytest.mark.parametrize(
    "piece", ["a-", "password=a1B2 ", "<private>", "[redacted:x]", "\x1b[0m", "word "]
)
def test_the_chain_is_linear(piece):
    pipeline = RedactionPipeline()
    assert grown(lambda text: pipeline.redact_blocking(text, max_bytes=4000), piece) == ""


@pytest.mark.parametrize(
    "piece", ["<private>", "</private>", "<", "< private ", "<private a", "[red", "\ud800", "é"]
)
def test_private_marks_and_cuts_are_linear(piece):
    assert grown(strip_private, piece) == ""
    assert grown(lambda text: cut(text, 100_000), piece) == ""


@pytest.mark.parametrize("piece", [" ", "\n", "/", "a"])
@pytest.mark.parametrize("head", ["<", "</", "<private"])
def test_a_mark_that_never_ends_is_linear(head, piece):
    assert grown(lambda text: strip_private(head + text), piece) == ""
