from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.agents.codex import Codex
from cognee_hooks.agents.copilot_cli import CopilotCli
from cognee_hooks.agents.cursor import Cursor
from cognee_hooks.agents.gemini_cli import GeminiCli
from cognee_hooks.agents.opencode import OpenCode
from cognee_hooks.agents.pi import Pi
from cognee_hooks.agents.qwen_code import QwenCode
from cognee_hooks.agents.turns import MAX_CHARS, MAX_TURNS, turns_of
from cognee_hooks.events import PreCompact, Turn
from cognee_hooks.results import Agent

DATA = Path(__file__).parents[2] / "data"
MEMORY = "=== Cognee memory ===\nThe sky is green.\n=== End Cognee memory ==="


def paired(*said: tuple[str, str]) -> list[tuple[str, str]]:
    """Pair what was said, which is given in its order."""
    turns = turns_of(reversed(said), lambda prompt: prompt.startswith("<"))
    return [(turn.question, turn.answer) for turn in turns]


def test_a_turn_is_what_was_asked_and_what_was_answered_last():
    assert paired(
        ("user", "one?"), ("assistant", "let me see"), ("assistant", "1"), ("user", "two?")
    ) == [("one?", "1"), ("two?", "")]


def test_an_answer_without_its_question_is_left_out():
    assert paired(("assistant", "tail of something"), ("user", "one?")) == [("one?", "")]


@pytest.mark.parametrize("other", ["/compact now", "<reminder> do it", "", "  \n"])
def test_what_the_user_did_not_ask_is_left_out_with_its_answer(other):
    said = [("user", "one?"), ("assistant", "1"), ("user", other), ("assistant", "noise")]
    assert paired(*said) == [("one?", "1")]


def test_our_own_blocks_are_neither_questions_nor_parts_of_them():
    said = [("user", "one?"), ("user", MEMORY), ("assistant", "1"), ("user", f"two?\n{MEMORY}")]
    assert paired(*said) == [("one?", "1"), ("two?", "")]


def test_other_speakers_are_passed_over():
    said = [("user", "one?"), ("developer", "be nice"), ("tool", "3 passed"), ("assistant", "1")]
    assert paired(*said) == [("one?", "1")]


def test_only_the_latest_turns_are_kept_and_no_more_is_read():
    read = 0

    def endless() -> Iterator[tuple[str, str]]:
        nonlocal read
        while True:
            read += 1
            yield "user", f"question {read}"

    turns = turns_of(endless())
    assert read == len(turns) == MAX_TURNS
    assert turns[-1].question == "question 1"


def test_long_texts_are_cut():
    (turn,) = turns_of([("assistant", "a" * 99_999), ("user", "q" * 99_999)])
    assert (len(turn.question), len(turn.answer)) == (MAX_CHARS, MAX_CHARS)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", ""]), st.text(max_size=20))))
def test_every_turn_has_a_question(said):
    assert all(turn.question.strip() for turn in turns_of(said))


# -- Claude Code -----------------------------------------------------------------------------------


def said(kind: str, content: object, **marks: object) -> dict:
    return {"type": kind, "message": {"role": kind, "content": content}, **marks}


def block(text: str) -> dict:
    return {"type": "text", "text": text}


RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}


def write(folder: Path, records: Iterable[object]) -> str:
    file = folder / "transcript.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(file)


def claude(path: str, **fields: object) -> list[tuple[str, str]]:
    payload = {"session_id": "s1", "transcript_path": path, "trigger": "auto", **fields}
    event = ClaudeCode().read("PreCompact", payload, session_id="claude_s1")
    assert isinstance(event, PreCompact)
    return [(turn.question, turn.answer) for turn in event.turns]


@pytest.mark.parametrize("version", ["2.1.332", "2.1.197"])
def test_a_captured_transcript_of_claude_code_is_read_from_its_last_compaction_on(version):
    path = DATA / "claude-code" / version / "transcript.jsonl"
    assert claude(str(path)) == [("After compaction, what file?", "a.txt")]


@pytest.mark.parametrize("version", ["2.1.332", "2.1.197"])
def test_a_captured_transcript_before_its_compaction_holds_what_was_said(version, tmp_path):
    lines = (DATA / "claude-code" / version / "transcript.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    end = next(n for n, each in enumerate(records) if each.get("subtype") == "compact_boundary")
    turns = claude(write(tmp_path, records[:end]))
    assert [question for question, _ in turns] == [
        "Please update a.txt and run the tests",
        "And now summarise",
    ]
    assert turns[-1][1] == "Here is the summary of the change."
    assert "[memory]" not in json.dumps(turns)


def test_a_compaction_in_the_middle_of_a_turn_has_its_question(tmp_path):
    records = [
        said("user", "fix it"),
        said("assistant", [block("I look.")]),
        said("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]),
        said("user", [RESULT]),
    ]
    assert claude(write(tmp_path, records)) == [("fix it", "I look.")]


@pytest.mark.parametrize(
    "record",
    [
        said("user", "from a sub-agent", isSidechain=True),
        said("user", "a caveat", isMeta=True),
        said("user", "This session is being continued", isCompactSummary=True),
        said("assistant", [block("API Error: 500")], isApiErrorMessage=True),
        said("user", [RESULT, block("hook says hi")]),
        {"type": "attachment", "attachment": {"type": "hook_additional_context"}},
        {"type": "last-prompt", "lastPrompt": "hello"},
        {"type": "user"},
        {"type": "user", "message": "text"},
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm"}]}},
        {"type": ["user"], "message": {"content": 7}},
    ],
    ids=repr,
)
def test_what_neither_the_person_nor_the_model_said_is_passed_over(record, tmp_path):
    records = [said("user", "one?"), said("assistant", [block("1")]), record]
    assert claude(write(tmp_path, records)) == [("one?", "1")]


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/compact</command-name>",
        "<local-command-stdout>Compacted</local-command-stdout>",
        "<task-notification>done</task-notification>",
        "[Request interrupted by user]",
        "/model opus",
    ],
)
def test_what_the_agent_wrote_in_the_users_place_is_left_out_with_its_answer(text, tmp_path):
    records = [
        said("user", "one?"),
        said("assistant", [block("1")]),
        said("user", [block(text)]),
        said("assistant", [block("noise")]),
    ]
    assert claude(write(tmp_path, records)) == [("one?", "1")]


def test_a_second_compaction_holds_only_what_came_after_the_first(tmp_path):
    records = [
        said("user", "old?"),
        BOUNDARY,
        said("user", "summary", isCompactSummary=True),
        said("user", "new?"),
        said("assistant", [block("yes")]),
    ]
    assert claude(write(tmp_path, records)) == [("new?", "yes")]


def test_a_transcript_that_is_not_there_holds_nothing(tmp_path):
    assert claude(str(tmp_path / "none.jsonl")) == []
    assert claude("") == []


def test_a_torn_and_hostile_transcript_gives_what_can_be_read(tmp_path):
    path = write(tmp_path, [said("user", "one?"), said("assistant", [block("1 \ud800")])])
    with Path(path).open("ab") as file:
        file.write(b"[" * 100_000 + b'"user"\n\xff\xfe"user"\n"user"\n7\n')
        file.write(b'{"type": "user", "message": {"content": "torn')
    assert claude(path) == [("one?", "1 \ud800")]


def test_a_huge_transcript_costs_no_more_than_its_end(tmp_path):
    filler = {"type": "user", "message": {"content": [{**RESULT, "content": "x" * 10_000}]}}
    records = [said("user", "far away")] + [filler] * 200 + [said("user", "near")]
    assert claude(write(tmp_path, records)) == [("near", "")]


# -- Codex, Gemini CLI, Qwen Code, Cursor, Copilot CLI ---------------------------------------------


def turns_in(agent: Agent, event: str, path: str) -> list[tuple[str, str]]:
    payload = {"session_id": "s1", "transcript_path": path, "trigger": "manual"}
    read = agent.read(event, payload, session_id="s1")
    assert isinstance(read, PreCompact)
    return [(turn.question, turn.answer) for turn in read.turns]


def codex(path: str) -> list[tuple[str, str]]:
    return turns_in(Codex(), "PreCompact", path)


def test_a_captured_rollout_of_codex_holds_what_was_said_and_nothing_that_hooks_injected():
    assert codex(str(DATA / "codex" / "0.171.0" / "transcript.jsonl")) == [
        ("Please update a.txt and run the tests", "I changed a.txt."),
        ("And now summarise", "Here is the summary."),
    ]


def item(role: str, text: str) -> dict:
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    return {"type": "response_item", "payload": payload}


def test_a_rollout_counts_from_its_last_compaction_on(tmp_path):
    records = [
        item("user", "old?"),
        {"type": "compacted", "payload": {"message": "summary"}},
        item("user", "<environment_context>\n</environment_context>"),
        item("user", "new?"),
        item("assistant", "yes"),
    ]
    assert codex(write(tmp_path, records)) == [("new?", "yes")]


def gemini(path: str) -> list[tuple[str, str]]:
    return turns_in(GeminiCli(), "PreCompress", path)


@pytest.mark.parametrize(
    ("name", "questions", "answers"),
    [
        ("transcript", ["Hello one"], ["First answer."]),
        ("transcript.resumed", ["Hello one", "Hello two"], ["First answer.", "Done."]),
    ],
)
def test_a_captured_transcript_of_gemini_cli_holds_what_was_said(name, questions, answers):
    turns = gemini(str(DATA / "gemini-cli" / "0.61.0" / f"{name}.jsonl"))
    assert [asked[: len(start)] for (asked, _), start in zip(turns, questions, strict=True)] == (
        questions
    )
    assert [said for _, said in turns] == answers


def test_what_gemini_cli_compressed_counts_no_longer(tmp_path):
    left = [
        {"type": "user", "content": [{"text": "<state_snapshot>all of it</state_snapshot>"}]},
        {"type": "gemini", "content": "Got it."},
        {"type": "user", "content": [{"functionResponse": {"response": {"output": "3 passed"}}}]},
        7,
    ]
    records = [
        {"type": "user", "content": [{"text": "old?"}]},
        {"$set": {"messages": left}},
        {"type": "user", "content": [{"text": "new?"}]},
        {"type": "gemini", "content": "yes"},
        {"type": "info", "content": '"user" said so'},
    ]
    assert gemini(write(tmp_path, records)) == [("new?", "yes")]


def qwen(path: str) -> list[tuple[str, str]]:
    return turns_in(QwenCode(), "PreCompact", path)


def test_a_captured_transcript_of_qwen_code_holds_what_was_said():
    (one, first), (two, second) = qwen(str(DATA / "qwen-code" / "0.24.4" / "transcript.jsonl"))
    assert (one[:9], first) == ("Hello one", "First answer.")
    assert (two[:9], second) == ("Hello two", "Second.")


def test_what_qwen_code_compressed_or_thought_or_told_itself_does_not_count(tmp_path):
    def spoke(kind: str, *parts: dict, **more: object) -> dict:
        return {"type": kind, "message": {"parts": list(parts)}, **more}

    records = [
        spoke("user", {"text": "old?"}),
        {"type": "system", "subtype": "chat_compression"},
        spoke("user", {"text": "new?"}, provenance="real_user"),
        spoke("assistant", {"text": "hm", "thought": True}, {"text": "yes"}),
        spoke("user", {"text": "a task ended"}, provenance="system"),
        spoke("assistant", {"text": "noted"}),
    ]
    assert qwen(write(tmp_path, records)) == [("new?", "yes")]


def test_cursors_transcript_holds_what_was_said(tmp_path):
    records = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "one?"}]}},
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell"}]}},
        {"role": "user", "message": {"content": [{"type": "tool_result", "content": "3"}]}},
        {"role": "assistant", "message": {"content": "1"}},
    ]
    assert turns_in(Cursor(), "preCompact", write(tmp_path, records)) == [("one?", "1")]


def test_copilots_events_hold_what_was_said_outside_of_sub_agents(tmp_path):
    records = [
        {"type": "user.message", "data": {"content": "one?"}},
        {"type": "assistant.message", "data": {"content": "below", "parentToolCallId": "t1"}},
        {"type": "assistant.message", "data": {"content": "1"}},
        {"type": "tool.execution_complete", "data": {"result": "user.message"}},
    ]
    payload = {"sessionId": "s1", "transcriptPath": write(tmp_path, records)}
    event = CopilotCli().read("preCompact", payload, session_id="copilot_s1")
    assert event is not None
    assert event.turns == (Turn(question="one?", answer="1"),)


# -- pi, OpenCode ----------------------------------------------------------------------------------


def pi(messages: object) -> tuple[Turn, ...]:
    payload = {"sessionId": "s1", "reason": "manual", "messages": messages}
    event = Pi().read("session_before_compact", payload, session_id="pi_s1")
    assert isinstance(event, PreCompact)
    return event.turns


def test_pi_says_itself_what_it_is_about_to_drop():
    messages = [{"role": "user", "text": "one?"}, {"role": "assistant", "text": "1"}]
    assert pi(messages) == (Turn(question="one?", answer="1"),)


@pytest.mark.parametrize("messages", [None, 7, "text", {}, [None, 7, {}, {"role": 1, "text": []}]])
def test_messages_of_another_shape_do_no_harm(messages):
    assert pi(messages) == ()


def test_opencode_says_itself_what_it_is_about_to_drop():
    messages = [{"role": "user", "text": "one?"}, {"role": "assistant", "text": "1"}]
    payload = {"sessionID": "s1", "messages": messages}
    event = OpenCode().read("pre_compact", payload, session_id="opencode_s1")
    assert event is not None
    assert event.turns == (Turn(question="one?", answer="1"),)
