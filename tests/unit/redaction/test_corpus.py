"""The public corpus, both ways: every secret goes, everything that only looks like one stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.redaction import rules
from cognee_hooks.redaction.spans import replace

LINES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("secrets.jsonl").read_text("utf-8").splitlines()
]
SECRETS = [line for line in LINES if line["redact"]]
LOOK_ALIKES = [line for line in LINES if not line["redact"]]


def redact(text: str) -> str:
    return replace(text, rules.find_secrets(text))


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    return [f"{number}-{line['kind']}" for number, line in enumerate(lines)]


@pytest.mark.parametrize("line", SECRETS, ids=kinds(SECRETS))
def test_a_secret_goes_and_what_stands_before_it_stays(line):
    text, secret = line["text"], line["secret"]
    after = redact(text)
    assert secret not in after
    assert "[redacted:" in after
    if "PRIVATE KEY" not in text:
        before = text[: text.index(secret)].rstrip()
        assert after.startswith(before[: max(0, len(before) - 8)])


@pytest.mark.parametrize("line", SECRETS, ids=kinds(SECRETS))
def test_no_fragment_of_eight_characters_of_a_secret_is_left(line):
    secret, after = line["secret"], redact(line["text"])
    outside = line["text"].replace(secret, "\n")
    assert not [
        at
        for at in range(len(secret) - 7)
        if secret[at : at + 8] in after and secret[at : at + 8] not in outside
    ]


@pytest.mark.parametrize("line", LOOK_ALIKES, ids=kinds(LOOK_ALIKES))
def test_a_look_alike_stays_unchanged(line):
    assert redact(line["text"]) == line["text"]


@pytest.mark.parametrize("line", LINES, ids=kinds(LINES))
def test_a_second_pass_changes_nothing(line):
    once = redact(line["text"])
    assert redact(once) == once


@pytest.mark.parametrize("line", SECRETS, ids=kinds(SECRETS))
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "  {}  ",
        "+{}",
        "-{}",
        "> {}",
        "\x1b[32m{}\x1b[0m",
        "{}\r\nnext line\r\n",
        "2026-01-14T09:27:33Z INFO web-1 | {}",
        "     12\t{}",
        "`{}`",
    ],
    ids=[
        "bare",
        "blanks",
        "added",
        "removed",
        "quoted",
        "coloured",
        "crlf",
        "logged",
        "numbered",
        "code",
    ],
)
def test_a_secret_goes_wherever_the_line_was_copied_from(line, around):
    text = around.format(line["text"].replace("\n", around.partition("{}")[0].join(["\n", ""])))
    assert line["secret"] not in redact(text)


@pytest.mark.parametrize("line", SECRETS, ids=kinds(SECRETS))
def test_a_secret_goes_from_json_inside_json(line):
    once = json.dumps({"output": line["text"]})
    twice = json.dumps({"body": once})
    for text in (once, twice):
        assert line["secret"] not in redact(text)


@pytest.mark.parametrize("line", LOOK_ALIKES, ids=kinds(LOOK_ALIKES))
def test_a_look_alike_stays_inside_json_too(line):
    text = json.dumps({"output": line["text"]})
    assert redact(text) == text
