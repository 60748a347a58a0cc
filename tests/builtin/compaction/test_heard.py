from __future__ import annotations

import pytest

from builtin_plugins.compaction.heard import MAX_CHARS, MAX_TURNS, Heard
from cognee_hooks.events import Stop, Turn, UserPromptSubmit
from tests.support.compacting import SESSION


def asks(heard: Heard, prompt: str, **fields) -> None:
    heard.prompt(UserPromptSubmit(**SESSION, prompt=prompt, **fields))


def answers(heard: Heard, text: str, **fields) -> None:
    heard.answer(Stop(**SESSION, last_assistant_message=text, **fields))


def test_prompts_are_paired_with_their_answers():
    heard = Heard()
    asks(heard, "one?")
    answers(heard, "1")
    asks(heard, "two?")
    assert heard.take() == (Turn(question="one?", answer="1"), Turn(question="two?"))
    assert heard.take() == ()


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [("/compact", {}), ("  ", {}), ("done", {"machine_made": True}), ("task", {"agent_id": "a"})],
)
def test_what_the_user_did_not_ask_begins_no_turn(prompt, fields):
    heard = Heard()
    asks(heard, "one?")
    answers(heard, "1")
    asks(heard, prompt, **fields)
    answers(heard, "noise")
    assert heard.take() == (Turn(question="one?", answer="1"),)


def test_the_end_of_a_sub_agent_is_no_answer():
    heard = Heard()
    asks(heard, "one?")
    answers(heard, "below", agent_id="a")
    answers(heard, "")
    assert heard.take() == (Turn(question="one?"),)


def test_an_answer_belongs_to_the_prompt_with_the_same_id():
    heard = Heard()
    asks(heard, "one?", prompt_id="a")
    asks(heard, "two?", prompt_id="b")
    asks(heard, "three?", prompt_id="c")
    answers(heard, "to nobody's", prompt_id="d")
    answers(heard, "1", prompt_id="a")
    answers(heard, "3")
    assert heard.take() == (
        Turn(question="one?", answer="1"),
        Turn(question="two?"),
        Turn(question="three?", answer="3"),
    )


def test_only_so_much_is_kept():
    heard = Heard()
    for number in range(MAX_TURNS + 5):
        asks(heard, f"{number} " + "x" * MAX_CHARS)
        answers(heard, "y" * MAX_CHARS * 2)
    turns = heard.take()
    assert len(turns) == MAX_TURNS
    assert (
        {len(turn.question) for turn in turns}
        == {len(turn.answer) for turn in turns}
        == ({MAX_CHARS})
    )
