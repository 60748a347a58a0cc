"""The hand-written corpus: secrets of all vendors in all syntaxes, and texts that must not change.

Stricter than the public corpus: nothing but the secret may be replaced, so that names, quotes and
the shape of the text stay.
"""

from __future__ import annotations

import pytest

from cognee_hooks.redaction import rules
from cognee_hooks.redaction.spans import replace
from tests.unit.redaction.marked import lines

SECRETS = lines("marked_secrets.txt")
HARMLESS = lines("marked_harmless.txt")


def redact(text: str) -> str:
    return replace(text, rules.find_secrets(text))


@pytest.mark.parametrize("line", SECRETS, ids=lambda line: line.source[:60])
def test_each_marked_secret_goes_and_all_else_stays(line):
    after = redact(line.text)
    assert not [secret for secret in line.secrets if secret in after]
    assert line.expected.fullmatch(after), after
    assert redact(after) == after


@pytest.mark.parametrize("seed", range(2, 8))
def test_other_secrets_of_the_same_shapes_go_too(seed):
    left = [
        line.source
        for line in lines("marked_secrets.txt", seed)
        if any(secret in redact(line.text) for secret in line.secrets)
    ]
    assert left == []


@pytest.mark.parametrize("line", HARMLESS, ids=lambda line: line.source[:60])
def test_a_harmless_line_stays_byte_for_byte(line):
    assert redact(line.text) == line.text


def test_the_corpus_is_large():
    assert len(SECRETS) > 500
    assert len(HARMLESS) > 500
