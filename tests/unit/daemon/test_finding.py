from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.agents.codex import Codex
from cognee_hooks.agents.pi import Pi
from cognee_hooks.daemon.finding import Wanted, conversation_of, find
from cognee_hooks.errors import UsageError
from cognee_hooks.results import NESTED

CLAUDE, CODEX, PI = ClaudeCode(), Codex(), Pi()


@dataclass
class Row:
    agent: Any
    session_id: str
    pid: int = 0
    cwd: str = "/w"
    switched: str = ""

    @property
    def own_id(self) -> str:
        return self.switched or self.session_id


def wanted(**more: Any) -> Wanted:
    given = {"agent": "", "session": "", "environ": {}, "cwd": "/w", "ancestors": (9, 8, 1)}
    return Wanted(**given | more)


ONE = Row(CLAUDE, "claude_a1", pid=8, cwd="/elsewhere")
TWO = Row(PI, "pi_b2", pid=5, cwd="/w")


def test_the_agent_that_runs_the_caller_comes_before_one_in_the_same_folder():
    assert find([TWO, ONE], wanted()) == (ONE, "whose agent runs this command")


def test_of_agents_inside_each_other_the_nearest_is_meant():
    inner = Row(CODEX, "codex_c3", pid=9)
    environ = {"CLAUDE_CODE_SESSION_ID": "a1"}
    assert find([ONE, inner], wanted(environ=environ)) == (inner, "whose agent runs this command")


def test_without_an_agent_above_the_one_that_the_environment_names_is_meant():
    found = find([ONE, TWO], wanted(ancestors=(7,), environ={"CLAUDE_CODE_SESSION_ID": "a1"}))
    assert found == (ONE, "named by the agent")


def test_a_person_in_a_terminal_means_the_session_in_this_folder():
    assert find([ONE, TWO], wanted(ancestors=(7,))) == (TWO, "in this folder")


@pytest.mark.parametrize(
    "more",
    [
        {"ancestors": (7,), "cwd": "/nowhere"},
        {"ancestors": (7,), "cwd": ""},
        {"ancestors": (7,), "environ": {NESTED: "1"}},
        {"agent": "codex"},
        {"ancestors": (1, 0), "cwd": "/nowhere"},
    ],
)
def test_a_session_that_nothing_speaks_for_is_not_meant(more):
    assert find([ONE, TWO, Row(PI, "pi_x", pid=1), Row(PI, "pi_y")], wanted(**more)) is None


def test_of_many_conversations_of_one_process_the_named_one_is_meant_or_the_one_in_this_folder():
    rows = [
        Row(CODEX, "codex_1", pid=8, cwd="/a"),
        Row(CODEX, "codex_2", pid=8, cwd="/b"),
        Row(CODEX, "codex_3", pid=8, cwd="/b"),
    ]
    by_name = find(rows, wanted(environ={"CODEX_THREAD_ID": "3"}, cwd="/a"))
    assert by_name is not None
    assert by_name[0] is rows[2]
    by_folder = find(rows, wanted(cwd="/a"))
    assert by_folder is not None
    assert by_folder[0] is rows[0]
    with pytest.raises(UsageError, match=r"codex_2 in /b, codex_3 in /b.*--session"):
        find(rows, wanted(cwd="/b"))


def test_a_named_session_is_found_by_its_whole_id_or_its_beginning_before_and_after_a_switch():
    rows = [Row(PI, "pi_abc"), Row(PI, "pi_abd"), Row(PI, "pi_ab", switched="pi_ab__2")]
    for name, row in [("pi_abc", 0), ("pi_abd", 1), ("pi_ab", 2), ("pi_ab__", 2)]:
        assert find(rows, wanted(session=name)) == (rows[row], "as named")
    with pytest.raises(UsageError, match="several"):
        find(rows, wanted(session="pi_a"))
    with pytest.raises(UsageError, match="there is no live session"):
        find(rows, wanted(session="pi_z"))
    with pytest.raises(UsageError, match="there is no live session"):
        find(rows, wanted(session="pi_abc", agent="codex"))


def test_an_agent_that_names_nothing_names_no_conversation():
    assert conversation_of(PI, {"CODEX_THREAD_ID": "x"}) == ""
    assert (
        conversation_of(CODEX, {"CODEX_SESSION_ID": " ", "CODEX_THREAD_ID": "t/1"}) == "codex_t-1"
    )
