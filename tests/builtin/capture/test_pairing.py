"""Which question an answer is stored with."""

from __future__ import annotations

import json

import pytest

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionEnd, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.command import payload
from tests.support.scripted import scripted_host
from tests.support.waiting import PATIENCE

SID = "claude_s1"


@pytest.fixture
def host(client, isolated_environment):
    return scripted_host(isolated_environment, client)


async def asks(host: Host, prompt: str, prompt_id: str = "", **fields) -> None:
    event = UserPromptSubmit(session_id=SID, prompt=prompt, prompt_id=prompt_id, **fields)
    await host.user_prompt_submit(event)


async def answers(host: Host, text: str, prompt_id: str = "", **fields) -> None:
    event = Stop(session_id=SID, last_assistant_message=text, prompt_id=prompt_id, **fields)
    await host.stop(event)
    await host.flush(Deadline.after(PATIENCE))


def pairs(client) -> list[tuple[str, str]]:
    return [(entry["question"], entry["answer"]) for entry in client.entries]


# -- by id ---------------------------------------------------------------------------------------


async def test_an_answer_whose_prompt_was_lost_is_not_stored_with_an_older_question(host, client):
    await asks(host, "first question", "p1")
    # Both the hook that told the first answer and the one that told the next prompt were killed.
    await answers(host, "second answer", "p2")
    assert client.entries == []


async def test_a_prompt_waits_for_its_own_answer_whatever_else_is_answered(host, client):
    await asks(host, "first question", "p1")
    await answers(host, "what a command of the shell printed", "p2")
    await answers(host, "first answer", "p1")
    assert pairs(client) == [("first question", "first answer")]


async def test_after_a_lost_prompt_the_next_turn_is_stored_as_ever(host, client):
    await asks(host, "first question", "p1")
    await answers(host, "second answer", "p2")
    await asks(host, "third question", "p3")
    await answers(host, "third answer", "p3")
    assert pairs(client) == [("third question", "third answer")]


async def test_the_answer_to_what_the_agent_asked_itself_is_not_the_users(host, client):
    await asks(host, "first question", "p1")
    await asks(host, "<task-notification>done</task-notification>", "p2", machine_made=True)
    await answers(host, "noted", "p2")
    assert client.entries == []


@pytest.mark.parametrize(("asked", "answered"), [("", ""), ("p1", ""), ("", "p1")])
async def test_where_one_side_has_no_id_the_open_prompt_is_answered(host, client, asked, answered):
    await asks(host, "first question", asked)
    await answers(host, "first answer", answered)
    assert pairs(client) == [("first question", "first answer")]


async def test_a_turn_that_goes_on_after_its_answer_is_stored_once(host, client):
    questions = ("first question",)
    await asks(host, "first question", "p1")
    await answers(host, "first answer", "p1", questions=questions)
    await answers(host, "and more", "p1", questions=questions, stop_hook_active=True)
    assert pairs(client) == [("first question", "first answer")]


@pytest.mark.parametrize("prompt_id", ["", "p1"])
async def test_a_prompt_that_is_open_when_the_session_ends_takes_no_later_answer(
    host, client, prompt_id
):
    await asks(host, "first question", prompt_id)
    await host.session_end(SessionEnd(session_id=SID))
    await answers(host, "an answer of the resumed session")
    assert client.entries == []


async def test_the_end_of_a_session_does_not_come_before_its_last_answer(host, client):
    await asks(host, "first question")
    await host.stop(Stop(session_id=SID, last_assistant_message="first answer"))
    await host.session_end(SessionEnd(session_id=SID))
    await host.flush(Deadline.after(PATIENCE))
    assert pairs(client) == [("first question", "first answer")]


# -- by the agent's own records ------------------------------------------------------------------


async def test_the_agents_own_word_counts_more_than_the_latest_prompt(host, client):
    await asks(host, "first question", "p1")
    await asks(host, "sent while it works", "p1")
    await answers(host, "first answer", "p1", questions=("first question",))
    await answers(host, "second answer", "p2", questions=("sent while it works",))
    assert pairs(client) == [
        ("first question", "first answer"),
        ("sent while it works", "second answer"),
    ]


async def test_of_several_questions_the_last_that_is_worth_keeping_counts(host, client):
    await answers(host, "Y", "p1", questions=("what is X?", "and what is Z?", "ok", "/help"))
    assert pairs(client) == [("and what is Z?", "Y")]


@pytest.mark.parametrize("prompt", ["ok", "/help", "<private>all of it</private>"])
async def test_what_is_not_worth_keeping_is_not_replaced_by_another_prompt(host, client, prompt):
    await asks(host, prompt, "p1")
    await asks(host, "sent while it works", "p1")
    await answers(host, "Y", "p1", questions=(prompt,))
    assert client.entries == []


async def test_a_question_from_the_agents_records_is_redacted_and_cut(host, client):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    await answers(host, "Y", "p1", questions=(f"why does {secret} fail? {'x' * 9000}",))
    (entry,) = client.entries
    assert secret[4:] not in str(client.unsent)
    assert len(entry["question"].encode()) == 4000


# -- Claude Code, as its releases were seen to act -----------------------------------------------


class Terminal:
    """Claude Code's terminal: it tells the hooks, and writes its transcript."""

    def __init__(self, host: Host, transcript) -> None:
        self._host = host
        self._transcript = transcript

    def writes(self, **record) -> None:
        with self._transcript.open("a") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def shows(self, prompt: str, turn: str) -> None:
        self.writes(type="user", promptId=turn, message={"role": "user", "content": prompt})

    def takes_in(self, prompt: str) -> None:
        queued = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        self.writes(type="attachment", attachment=queued)

    async def tells(self, event: str, turn: str, **fields) -> None:
        document = payload(event, transcript_path=str(self._transcript), prompt_id=turn, **fields)
        await self._host.dispatch(ClaudeCode().read(event, document, session_id=SID))
        await self._host.flush(Deadline.after(PATIENCE))

    async def asks(self, prompt: str, turn: str) -> None:
        await self.tells("UserPromptSubmit", turn, prompt=prompt)

    async def answers(self, text: str, turn: str) -> None:
        await self.tells("Stop", turn, last_assistant_message=text)


@pytest.fixture
def terminal(host, tmp_path):
    return Terminal(host, tmp_path / "transcript.jsonl")


async def test_a_prompt_that_waits_for_its_own_turn_gets_that_turns_answer(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("second question", "p1")
    await terminal.answers("first answer", "p1")
    terminal.shows("second question", "p2")
    await terminal.asks("third question", "p2")
    await terminal.answers("second answer", "p2")
    terminal.shows("third question", "p3")
    await terminal.answers("third answer", "p3")
    assert pairs(client) == [
        ("first question", "first answer"),
        ("second question", "second answer"),
        ("third question", "third answer"),
    ]


async def test_a_prompt_that_waited_is_answered_before_the_transcript_says_so(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("second question", "p1")
    await terminal.answers("first answer", "p1")
    await terminal.answers("second answer", "p2")
    await terminal.answers("that goes on", "p2")
    await terminal.answers("something else", "p3")
    assert pairs(client) == [
        ("first question", "first answer"),
        ("second question", "second answer"),
    ]


async def test_a_finished_task_does_not_get_in_before_a_prompt_that_waits(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("second question", "p1")
    await terminal.answers("first answer", "p1")
    terminal.shows("<task-notification>done</task-notification>", "p2")
    await terminal.answers("noted", "p2")
    await terminal.answers("second answer", "p3")
    assert pairs(client) == [
        ("first question", "first answer"),
        ("second question", "second answer"),
    ]


async def test_a_prompt_that_the_model_got_with_a_result_is_answered_by_that_turn(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("second question", "p1")
    terminal.takes_in("second question")
    await terminal.answers("answer to both", "p1")
    await terminal.answers("something else", "p2")
    assert pairs(client) == [("second question", "answer to both")]


async def test_a_prompt_that_waited_while_the_turn_was_interrupted_is_answered(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("second question", "p1")
    terminal.shows("[Request interrupted by user]", "p1")
    terminal.shows("second question", "p2")
    await terminal.answers("second answer", "p2")
    assert pairs(client) == [("second question", "second answer")]


async def test_a_prompt_that_was_taken_back_is_never_answered(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    await terminal.asks("taken back", "p1")
    await terminal.answers("first answer", "p1")
    await terminal.asks("second question", "p2")
    terminal.shows("second question", "p2")
    await terminal.answers("second answer", "p2")
    assert pairs(client) == [
        ("first question", "first answer"),
        ("second question", "second answer"),
    ]


# The older of the releases lets the command be part of the turn before.
@pytest.mark.parametrize("turn", ["p1", "p2"])
async def test_what_the_model_says_to_a_shell_command_is_nobodys_answer(terminal, client, turn):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    terminal.shows("[Request interrupted by user]", "p1")
    terminal.shows("<bash-input>ls</bash-input>", turn)
    terminal.shows("<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>", turn)
    await terminal.answers("I see a.txt", turn)
    assert client.entries == []


async def test_a_question_whose_hook_was_killed_is_read_from_the_transcript(terminal, client):
    await terminal.asks("first question", "p1")
    terminal.shows("first question", "p1")
    terminal.shows("second question", "p2")
    await terminal.answers("second answer", "p2")
    assert pairs(client) == [("second question", "second answer")]


async def test_without_a_transcript_prompts_and_answers_are_paired_by_id(terminal, client):
    await terminal.asks("first question", "p1")
    await terminal.answers("second answer", "p2")
    await terminal.asks("third question", "p3")
    await terminal.answers("third answer", "p3")
    assert pairs(client) == [("third question", "third answer")]
