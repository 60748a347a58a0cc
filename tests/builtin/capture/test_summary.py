from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.capture.summary import (
    LIMIT,
    clipped,
    command_lines,
    headline,
    response_text,
    summary,
)

PAYLOADS = Path(__file__).parents[2] / "data" / "claude-code"


@pytest.mark.parametrize("version", ["2.1.197", "2.1.332"])
@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("Bash", "3 passed"),
        ("Edit", "-hello world\n+goodbye world"),
        ("Read", "hello world\n"),
        ("Write", "# Notes\n"),
        ("Agent", "The docs folder is empty."),
        ("in-subagent.Bash", "CLAUDE.md\na.txt\nnotes.md"),
    ],
)
def test_captured_responses_come_down_to_what_they_say(version, tool, told):
    payload = json.loads((PAYLOADS / version / f"PostToolUse.{tool}.json").read_text())
    assert response_text(payload["tool_response"]) == told


@pytest.mark.parametrize(
    ("response", "told"),
    [
        (None, ""),
        ("text", "text"),
        ({"stdout": "out", "stderr": "err"}, "out\nerr"),
        ({"stdout": "", "stderr": "err"}, "err"),
        ({"stdout": "", "stderr": ""}, ""),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "b"], "a\nb"),
        ({"content": "text"}, "text"),
        ({"content": [{"text": "a"}]}, "a"),
        ({"structuredPatch": [{"lines": 5}, "x", {"lines": ["+a", 3]}], "x": 1}, "+a"),
        ({"filenames": ["a"], "n": 1}, '{"filenames":["a"],"n":1}'),
        (7, "7"),
        (True, "true"),
        ({"x": {1, 2}}, "dict"),
        (object(), "object"),
    ],
)
def test_other_shapes_come_down_to_text(response, told):
    assert response_text(response) == told


def test_a_response_that_holds_itself_is_survived():
    loop: dict = {}
    loop["x"] = loop
    assert response_text(loop) == "dict"


@pytest.mark.parametrize(
    ("tool_input", "line"),
    [
        ({"command": "a\n  b"}, "a b"),
        ({"file_path": "/x"}, "/x"),
        ({"pattern": "p", "path": "/x"}, "/x"),
        ({"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
        ({"command": 7}, ""),
        ({}, ""),
    ],
)
def test_the_headline_is_what_the_call_is_about(tool_input, line):
    assert headline(tool_input) == line


def test_a_command_may_be_a_list():
    assert command_lines({"command": ["bash", "-lc", "ls a", 3]}) == ["bash -lc 'ls a'"]


def test_a_short_output_follows_its_headline_whole():
    assert summary("ls", "a\nb") == "ls\na\nb"
    assert summary("ls", "") == "ls"
    assert summary("", "out") == "out"


def test_a_long_output_keeps_its_beginning_and_its_end():
    text = summary("make", "start" + "x" * 5000 + "3 failed")
    assert text.startswith("make\nstart")
    assert text.endswith("3 failed")
    assert len(text) == LIMIT


@given(st.text(max_size=2000), st.text(max_size=3000))
def test_no_summary_is_longer_than_what_the_server_keeps(called, output):
    assert len(summary(called, output)) <= LIMIT


def test_a_very_long_output_is_clipped_at_lines_before_it_is_redacted():
    lines = [f"line {number} of the log" for number in range(5_000)]
    short = clipped("\n".join(lines))
    assert len(short) < 20_000
    assert short.startswith("line 0 of the log\n")
    assert short.endswith("\nline 4999 of the log")
    assert {line for line in short.splitlines() if line != "…"} <= set(lines)


def test_a_very_long_output_without_lines_keeps_whole_words_of_its_beginning():
    short = clipped("word " * 10_000)
    assert len(short) < 20_000
    assert set(short.split()) == {"word"}


def test_an_output_that_is_not_very_long_is_left_whole():
    assert clipped("x" * 18_000) == "x" * 18_000
