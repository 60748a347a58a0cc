"""The prompts of a live session and what was injected, which nothing but memory holds."""

from __future__ import annotations

import json

import pytest

from cognee_hooks.host_parts.prompts import (
    KEPT,
    MAX_PROMPT,
    MAX_SECTION,
    MAX_SECTIONS,
    MAX_TEXTS,
    Prompts,
)
from cognee_hooks.injection import Injected
from cognee_hooks.redaction import RedactionPipeline, Redactor

TOKEN = "ghp_" + "a1B2" * 9


def section(text: str, lane: str = "recall", plugin: str = "recall") -> Injected:
    return Injected(plugin=plugin, lane=lane, text=text, seconds=0.25)


@pytest.fixture
def prompts() -> Prompts:
    return Prompts(RedactionPipeline(), now=lambda: 1000.0)


async def test_a_prompt_is_told_with_all_that_was_injected(prompts):
    await prompts.add("which port?", [section("port 80"), section("é", "notes", "lane")], 0.5)
    assert prompts.as_json() == [
        {
            "time": 999.5,
            "prompt": "which port?",
            "seconds": 0.5,
            "sections": [
                {
                    "lane": "recall",
                    "plugin": "recall",
                    "text": "port 80",
                    "bytes": 7,
                    "seconds": 0.25,
                },
                {"lane": "notes", "plugin": "lane", "text": "é", "bytes": 2, "seconds": 0.25},
            ],
        }
    ]


async def test_all_prompts_are_counted_though_few_are_kept(prompts):
    for number in range(KEPT + 1):
        await prompts.add(str(number), [], 0.0)
    assert (prompts.remembered, len(prompts.as_json())) == (KEPT + 1, KEPT)


async def test_nothing_secret_or_private_of_a_prompt_is_kept(prompts):
    await prompts.add(f"use {TOKEN} <private>at home</private>\x1b[2J now", [], 0.0)
    [kept] = prompts.as_json()
    assert TOKEN not in kept["prompt"]
    assert "home" not in kept["prompt"]
    assert "\x1b" not in kept["prompt"]
    assert kept["prompt"].startswith("use [redacted")


async def test_a_secret_at_the_edge_of_what_is_kept_is_not_halved(prompts):
    await prompts.add("x" * (MAX_PROMPT - 12) + " " + TOKEN, [], 0.0)
    [kept] = prompts.as_json()
    assert len(kept["prompt"]) <= MAX_PROMPT
    assert TOKEN[:8] not in kept["prompt"]


async def test_of_a_prompt_that_cannot_be_made_safe_nothing_is_kept_but_what_was_injected():
    def fails(text: str) -> str:
        raise ValueError

    prompts = Prompts(RedactionPipeline([Redactor(name="broken", function=fails)]))
    await prompts.add("which port?", [section("port 80")], 0.0)
    [kept] = prompts.as_json()
    assert kept["prompt"] is None
    assert [each["text"] for each in kept["sections"]] == ["port 80"]


async def test_only_the_latest_are_kept(prompts):
    for number in range(KEPT + 3):
        await prompts.add(f"prompt {number}", [], 0.0)
    kept = [each["prompt"] for each in prompts.as_json()]
    assert kept == [f"prompt {number}" for number in range(3, KEPT + 3)]


async def test_of_long_sections_the_beginning_is_kept_and_the_size_of_all(prompts):
    await prompts.add("long", [section("é" * MAX_SECTION)], 0.0)
    [[kept]] = [each["sections"] for each in prompts.as_json()]
    assert len(kept["text"].encode()) <= MAX_SECTION
    assert kept["bytes"] == 2 * MAX_SECTION


async def test_however_much_is_injected_the_answer_stays_far_below_what_is_read(prompts):
    hostile = section('é"' * MAX_SECTION, "\x1b[2J" + "l" * 9999, "p\n" * 9999)
    for _ in range(KEPT):
        await prompts.add("é" * 9999, [hostile] * 20, 0.0)
        await prompts.add("é" * 9999, [section("x", "é" * 999, "é" * 999)] * 9999, 0.0)
    told = prompts.as_json()
    assert told
    assert len(json.dumps(told)) < 4 * MAX_TEXTS < 4 * 1024 * 1024
    assert max(len(each["sections"]) for each in told) == MAX_SECTIONS
