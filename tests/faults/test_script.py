"""The judge of the fault suite, judged: it lets nothing pass that a user would miss."""

from __future__ import annotations

from random import Random

import pytest

from tests.faults.script import LONG, Mismatch, Missing, Step, compare, draw_script


def steps(*names: str) -> list[Step]:
    """Steps that leave an entry each; a name that ends with ``?`` may be lost."""
    return [
        Step("Stop", {}, ("qa", name.rstrip("?"), ""), certain=not name.endswith("?"))
        for name in names
    ]


def entries(*names: str) -> list[tuple[str, str, str]]:
    return [("qa", name, "") for name in names]


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("a b c", "a b c"),
        ("a a b", "a a b"),
        ("a? b", "b"),
        ("a? b", "a b"),
        ("a? a", "a"),
        ("a? b? a", "b a"),
        ("", ""),
    ],
)
def test_what_is_there_once_and_in_order_is_right(expected, found):
    assert compare(steps(*expected.split()), entries(*found.split()), 0) == 0


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("a b", "a b b"),
        ("a b", "a a b"),
        ("a b", "b a"),
        ("a b c", "a c"),
        ("a b", "a x b"),
        ("a? b", "a a b"),
        ("a? b", "b a"),
        ("", "a"),
    ],
)
def test_what_is_doubled_foreign_or_out_of_order_is_wrong_at_once(expected, found):
    with pytest.raises(Mismatch) as raised:
        compare(steps(*expected.split()), entries(*found.split()), 10)
    assert raised.type is Mismatch


def test_what_is_missing_at_the_end_may_still_come():
    with pytest.raises(Missing):
        compare(steps("a", "b", "c"), entries("a"), 1)
    assert compare(steps("a", "b", "c"), entries("a"), 2) == 2


def test_scripts_hold_equal_entries_long_sessions_and_endings_of_all_kinds():
    scripts = [draw_script(Random(seed), f"s{seed}") for seed in range(200)]
    lengths = [len(script.expected) for script in scripts]
    assert any(length > LONG for length in lengths)
    assert any(len({step.entry for step in each.expected}) < len(each.expected) for each in scripts)
    assert {script.steps[-1].event for script in scripts} == {"Stop", "SessionEnd"}
    for script in scripts:
        asked = [step.event for step in script.steps if step.event in {"UserPromptSubmit", "Stop"}]
        assert asked == ["UserPromptSubmit", "Stop"] * (len(asked) // 2)


def test_a_prompt_that_may_be_lost_takes_its_answer_along():
    script = draw_script(Random(3), "s")
    prompt = next(step for step in script.steps if step.event == "UserPromptSubmit")
    script.doubt(prompt)
    assert not next(step for step in script.steps if step.event == "Stop").certain
