from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerRow
from cognee_hooks.view.prompts import MAX_PROMPTS, MAX_SECTIONS, prompts_of

NOW = 1_750_000_000.0
SECTION = {"lane": "graph", "plugin": "recall", "text": "a\nb", "bytes": 10, "seconds": 0.5}
FIELDS = {"time", "prompt", "seconds", "bytes", "tokens", "sections"}


def told(time: float, **more: object) -> dict[str, object]:
    return {"time": time, "prompt": "Why?", "seconds": 0.6, "sections": [], **more}


def recalled(time: float, digest: str = "aa", seconds: float = 0.2) -> LedgerRow:
    return LedgerRow(time=time, act=Act.RECALLED, what="hit", prompt=digest, seconds=seconds)


def injected(time: float, digest: str = "aa", lane: str = "graph", size: int = 10) -> LedgerRow:
    return LedgerRow(time=time, act=Act.INJECTED, what=lane, prompt=digest, size=size, seconds=0.1)


def test_a_live_prompt_is_told_with_what_went_into_it():
    (made,) = prompts_of({"prompts": [told(NOW, sections=[SECTION, SECTION])]}, [])
    section = {**SECTION, "tokens": 3}
    assert made == {**told(NOW), "bytes": 20, "tokens": 6, "sections": [section, section]}


def test_a_recorded_prompt_has_sizes_and_times_and_no_text():
    rows = [recalled(NOW), injected(NOW), injected(NOW, lane="code", size=3)]
    (made,) = prompts_of(None, rows)
    unknown = {"plugin": None, "text": None, "seconds": 0.1}
    assert made == {
        "time": NOW,
        "prompt": None,
        "seconds": 0.2,
        "bytes": 13,
        "tokens": 4,
        "sections": [
            {"lane": "graph", "bytes": 10, "tokens": 3, **unknown},
            {"lane": "code", "bytes": 3, "tokens": 1, **unknown},
        ],
    }


def test_a_prompt_for_which_memory_had_nothing_is_one_too():
    (made,) = prompts_of(None, [recalled(NOW)])
    assert (made["sections"], made["seconds"]) == ([], 0.2)


def test_other_rows_and_those_that_name_no_prompt_are_none():
    captured = LedgerRow(time=NOW, act=Act.CAPTURED, what="qa", prompt="aa")
    assert prompts_of(None, [captured, recalled(NOW, ""), injected(NOW, "")]) == []


def test_the_same_words_twice_are_two_prompts():
    rows = [recalled(NOW), injected(NOW), recalled(NOW + 9), injected(NOW + 9)]
    assert [each["time"] for each in prompts_of(None, rows)] == [NOW, NOW + 9]


def test_a_prompt_that_the_daemon_tells_is_not_told_again_from_the_ledger():
    rows = [injected(NOW - 60, "aa"), recalled(NOW + 0.2, "bb"), injected(NOW + 0.2, "bb")]
    first, second = prompts_of({"prompts": [told(NOW)]}, rows)
    assert (first["time"], first["prompt"]) == (NOW - 60, None)
    assert (second["time"], second["prompt"]) == (NOW, "Why?")


def test_the_latest_are_told_newest_last():
    rows = [injected(NOW + number, f"{number:x}") for number in range(MAX_PROMPTS + 2)]
    made = prompts_of(None, rows)
    assert [each["time"] for each in made] == [NOW + 2 + each for each in range(MAX_PROMPTS)]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["prompts", "sections", "time", "prompt", "text", "bytes", "lane", "seconds"]
            ),
            inner,
            max_size=8,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.just("prompts"), ANYTHING))
def test_whatever_a_daemon_tells_can_be_shown(reply):
    made = prompts_of(reply, [injected(NOW)])
    json.dumps(made, allow_nan=False, ensure_ascii=False).encode()
    assert all(set(each) == FIELDS for each in made)


def test_what_a_daemon_tells_is_bounded():
    section = {"text": "x" * 10**6, "lane": "y" * 10**6, "bytes": 10**9}
    prompt = {"prompt": "z" * 10**6, "sections": [section] * (MAX_SECTIONS + 1)}
    made = prompts_of({"prompts": [{}] * MAX_PROMPTS + [prompt]}, [])
    assert len(made) == MAX_PROMPTS
    assert len(made[-1]["sections"]) == MAX_SECTIONS
    assert len(made[-1]["sections"][0]["text"]) <= 16 * 1024
    assert len(made[-1]["prompt"]) <= 16 * 1024
