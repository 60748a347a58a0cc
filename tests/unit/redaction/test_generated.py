"""The second corpus: made secrets in every syntax, and harmless texts written by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cognee_hooks.redaction import rules
from cognee_hooks.redaction.spans import replace
from tests.unit.redaction.generated import secrets

_TAG = re.compile(r"\[redacted:[a-z0-9-]*\]")
LOOK_ALIKES = [
    line.replace("\\n", "\n")
    for line in Path(__file__).with_name("look_alikes.txt").read_text("utf-8").splitlines()[1:]
    if line
]


def redact(text: str) -> str:
    return replace(text, rules.find_secrets(text))


def left_over(secret: str, after: str) -> bool:
    """Whether eight or more characters of a secret are left outside the tags."""
    plain = _TAG.sub("\n", after)
    return any(secret[at : at + 8] in plain for at in range(len(secret) - 7))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_made_secret_goes_from_every_syntax(seed):
    missed = Counter(
        kind.partition(" in ")[2]
        for text, secret, kind in secrets(seed)
        if left_over(secret, redact(text))
    )
    assert missed == {}


def test_a_second_pass_changes_nothing_in_any_syntax():
    changed = []
    for text, _, _ in secrets():
        once = redact(text)
        if redact(once) != once:
            changed.append(text)
    assert changed == []


def test_made_secrets_go_from_json_that_holds_the_text():
    missed = [
        kind
        for text, secret, kind in secrets()
        if not set(secret) & set('\\"')
        and left_over(secret, redact(json.dumps({"output": text, "code": 0})))
    ]
    assert missed == []


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_harmless_text_stays(text):
    assert redact(text) == text


def test_harmless_texts_stay_when_they_stand_together():
    text = "\n\n".join(LOOK_ALIKES)
    lines = zip(text.splitlines(), redact(text).splitlines(), strict=True)
    assert [before for before, after in lines if before != after] == []
