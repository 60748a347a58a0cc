"""Subcommands that call tools and commands: what they pass on, print, and end with."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.caller import Caller
from cognee_hooks.cli import calling, main, registered, tool
from cognee_hooks.cli.progress import Progress
from cognee_hooks.cli.registered import joined, split
from cognee_hooks.cli.terminal import TerminalDialogs, can_ask
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.reach import About, Answer, Call, Offer, Whereabouts
from tests.support.command import command, install_plugin
from tests.support.waiting import PATIENCE

OFFER = Offer(
    tools=[{"name": "cognee_recall", "description": "When\x1b[31m.", "parameters": {}}],
    commands={"cognee-search": "Search\nmemory.", "cognee": "Show."},
)


class Session:
    """A session that answers what the test says."""

    about = About(agent="pi", session_id="pi_1", dataset="d", live=True, found="in this folder")
    offer = OFFER

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.wheres: list[Whereabouts] = []
        self.limits: list[float] = []
        self.answer = Answer(text="found it", failed=False)
        self.work: Callable[[Caller], Any] | None = None
        self.closed = 0

    async def reach(self, where: Whereabouts, deadline: Deadline) -> Session:
        self.wheres.append(where)
        return self

    async def call(self, call: Call, caller: Caller, deadline: Deadline) -> Answer:
        self.calls.append(call)
        self.limits.append(deadline.remaining())
        if self.work is not None:
            await self.work(caller)
        return self.answer

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def session(monkeypatch) -> Session:
    made = Session()
    monkeypatch.setattr(calling, "reach", made.reach)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return made


# -- commands -------------------------------------------------------------------------------------


def test_a_command_of_a_plugin_is_a_subcommand_and_says_which_session_it_runs_in(session, capsys):
    assert main(["search", "where", "it is", "--top-k", "3"]) == 0
    assert session.calls == [Call(name="search", text='where "it is" --top-k 3')]
    out, err = capsys.readouterr()
    assert out == "found it\n"
    assert err == ("cognee-hooks: in the live session pi_1 (pi, dataset d), in this folder\n")
    assert session.closed == 1


def test_a_command_may_be_named_as_agents_show_it(session):
    assert main(["cognee-search", "x"]) == 0
    assert main(["cognee"]) == 0
    assert [call.name for call in session.calls] == ["cognee-search", "cognee"]


def test_a_failure_is_an_exit_code(session, capsys):
    session.answer = Answer(text="not found", failed=True)
    assert main(["search", "x"]) == 1
    assert capsys.readouterr().out == "not found\n"


def test_what_breaks_is_told_on_standard_error(session, capsys):
    async def fail(_: Caller) -> None:
        raise CallFailed("It broke.")

    session.work = fail
    assert main(["search", "x"]) == 1
    assert capsys.readouterr().err.endswith("cognee-hooks: It broke.\n")
    assert session.closed == 1


def test_a_command_that_nobody_brings_is_wrong_usage(session, capsys):
    assert main(["serach", "x"]) == 2
    assert "'serach' is no command" in capsys.readouterr().err
    assert session.calls == []


def test_control_c_ends_the_call_and_the_session(session):
    async def interrupted(_: Caller) -> None:
        raise KeyboardInterrupt

    session.work = interrupted
    assert main(["search", "x"]) == 130
    assert session.closed == 1


def test_our_own_options_may_stand_anywhere_before_two_dashes(session):
    words = ["search", "a", "--session", "pi_1", "--agent=pi", "--timeout", "5", "--", "--agent"]
    assert main(words) == 0
    [where] = session.wheres
    assert (where.session, where.agent) == ("pi_1", "pi")
    assert session.calls[0].text == "a --agent"
    assert 0 < session.limits[0] <= 5


@pytest.mark.parametrize("given", [["--timeout", "soon"], ["--timeout", "0"], ["--session"]])
def test_options_of_ours_that_are_no_use_are_wrong_usage(session, given):
    assert main(["search", *given]) == 2
    assert session.calls == []


def test_the_text_of_a_command_may_come_from_standard_input(session, monkeypatch, tmp_path):
    path = tmp_path / "text"
    path.write_text('it\'s "so" $(no)\n')
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["search", "-"]) == 0
    assert session.calls[0].text == 'it\'s "so" $(no)'


def test_help_of_a_command_tells_what_the_plugin_says_and_our_options(session, capsys):
    assert main(["search", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Search memory." in out
    assert "--session" in out
    assert session.calls == []
    assert main(["nope", "-h"]) == 2


def test_a_command_that_an_answer_names_as_agents_know_it_is_told_as_it_is_typed_here(
    session, capsys
):
    told = "To create it: cognee-search other --create"
    session.answer = Answer(text=told, failed=False)
    assert main(["search", "x"]) == 0
    out, error = capsys.readouterr()
    assert out == f"{told}\n"
    assert "here `cognee-search` is `cognee-hooks search`" in error
    assert main(["cognee-search", "x"]) == 0
    assert "here `" not in capsys.readouterr().err


def test_the_help_page_lists_commands_of_plugins_which_are_looked_for_only_then(
    capsys, monkeypatch
):
    monkeypatch.setattr(registered, "table", lambda: [("shout", "Say it."), ("up", "Core's")])
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    page = capsys.readouterr().out
    assert "commands of plugins:\n  shout  Say it." in page
    assert "Core's" not in page
    assert main([]) == 2
    assert "shout" in capsys.readouterr().out
    monkeypatch.setattr(registered, "table", list)
    assert main([]) == 2
    assert "commands of plugins" not in capsys.readouterr().out


def test_every_command_of_the_built_in_plugins_is_on_the_help_page(isolated_environment):
    names = {name for name, _ in registered.table()}
    assert {"remember", "search", "forget", "datasets", "sync", "send", "index", "code"} <= names


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=4))
def test_words_that_are_no_options_of_ours_all_reach_the_command(words):
    own, rest = split(["--", *words])
    assert (own, rest) == ([], words)


def test_words_that_the_shell_kept_together_stay_together():
    assert joined(["a b", "it's so", '{"a": 1}', "", 'x"y z', "'\" "]) == (
        '"a b" "it\'s so" {"a": 1} "" \'x"y z\' \'" '
    )


# -- tools ----------------------------------------------------------------------------------------


def test_a_tool_is_called_with_json_and_may_be_named_without_its_beginning(session, capsys):
    assert main(["tool", "recall", '{"query": "x"}']) == 0
    assert session.calls == [Call(name="cognee_recall", arguments={"query": "x"})]
    assert capsys.readouterr().out == "found it\n"


def test_arguments_may_come_from_standard_input(session, monkeypatch, tmp_path):
    path = tmp_path / "in"
    path.write_text('{"query": "it\'s"}\n')
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["tool", "cognee_recall"]) == 0
    path.write_text("")
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["tool", "cognee_recall"]) == 0
    assert [call.arguments for call in session.calls] == [{"query": "it's"}, {}]
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["tool", "cognee_recall"]) == 0


@pytest.mark.parametrize("given", ["[1]", "{", "x", '"a"'])
def test_arguments_that_are_no_object_are_wrong_usage(session, monkeypatch, tmp_path, given):
    assert main(["tool", "cognee_recall", given]) == 2
    path = tmp_path / "in"
    path.write_text(given)
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["tool", "cognee_recall"]) == 2
    assert session.calls == []


def test_a_tool_that_nobody_brings_is_wrong_usage_and_the_others_are_named(session, capsys):
    assert main(["tool", "nope", "{}"]) == 2
    assert "cognee_recall" in capsys.readouterr().err
    assert main(["tool"]) == 2


def test_tools_are_listed_for_people_and_programs(session, capsys):
    assert main(["tool", "--list"]) == 0
    out = capsys.readouterr().out
    assert "cognee_recall" in out
    assert "\x1b" not in out
    assert main(["tool", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == OFFER.tools


def test_an_answer_for_programs_says_whether_it_failed_and_where_it_was_made(session, capsys):
    session.answer = Answer(text="no", failed=True)
    assert main(["tool", "recall", "{}", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "text": "no",
        "failed": True,
        "session": {"agent": "pi", "session_id": "pi_1", "live": True},
    }


def test_progress_is_a_line_a_change_without_a_terminal(session, capsys):
    async def tell(caller: Caller) -> None:
        assert caller.dialogs is None
        for text in ("one", "one", "two\x1b[2J"):
            caller.progress(text)

    session.work = tell
    assert main(["tool", "recall", "{}"]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == ["one …", "two …"]


def test_a_folder_that_is_gone_is_told(session, monkeypatch, tmp_path, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["search", "x"]) == 1
    assert "does not exist any more" in capsys.readouterr().err
    assert tool.STDIN_SECONDS > 0


# -- a terminal -----------------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch):
    """A terminal on standard input; yields what types on it."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as file:
        monkeypatch.setattr(sys, "stdin", file)
        yield lambda text: os.write(master, text.encode())
    os.close(master)


@pytest.mark.parametrize(("typed", "sure"), [("y\n", True), ("YES\n", True), ("\n", False)])
async def test_a_person_at_a_terminal_is_asked(terminal, capsys, typed, sure):
    terminal(typed)
    dialogs = TerminalDialogs(Progress())
    assert await dialogs.confirm("Delete\x1b[2J?", "It goes.", Deadline.after(PATIENCE)) is sure
    assert capsys.readouterr().err.startswith("Delete?\nIt goes.\n[y/N] ")


@pytest.mark.parametrize(("typed", "chosen"), [("2\n", "b"), ("3\n", None), ("b\n", None)])
async def test_a_person_at_a_terminal_chooses_by_number(terminal, capsys, typed, chosen):
    terminal(typed)
    dialogs = TerminalDialogs(Progress())
    assert await dialogs.select("Which?", ["a", "b"], Deadline.after(PATIENCE)) == chosen
    assert "  2  b\n" in capsys.readouterr().err


async def test_silence_at_a_terminal_is_a_no(terminal, capsys):
    dialogs = TerminalDialogs(Progress())
    assert not await dialogs.confirm("Sure?", "", Deadline.after(0.05))
    assert capsys.readouterr().err.endswith("Nobody answered.\n")


async def test_a_question_stands_alone_while_progress_turns(terminal, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert can_ask()
    terminal("y\n")
    with Progress() as progress:
        progress.show("working")
        progress.show("still working")
        dialogs = TerminalDialogs(progress)
        assert await dialogs.confirm("Sure?", "", Deadline.after(PATIENCE))
    assert "Sure?" in capsys.readouterr().err


def test_without_a_terminal_nobody_can_be_asked(monkeypatch):
    assert not can_ask()
    monkeypatch.setattr(sys, "stdin", None)
    assert not can_ask()


def test_reading_a_question_does_not_hold_up_others(terminal):
    async def both() -> list[Any]:
        dialogs = TerminalDialogs(Progress())
        asked = asyncio.create_task(dialogs.confirm("?", "", Deadline.after(PATIENCE)))
        await asyncio.sleep(0.02)
        terminal("y\n")
        return [await asked]

    assert asyncio.run(both()) == [True]


def test_a_session_that_cannot_be_told_apart_is_wrong_usage(session, monkeypatch, capsys):
    async def refuse(*_: Any) -> Any:
        raise UsageError("several live sessions may be meant")

    monkeypatch.setattr(calling, "reach", refuse)
    assert main(["search", "x"]) == 2
    assert "several live sessions" in capsys.readouterr().err


SHOUT = """
from cognee_hooks import hookimpl
from cognee_hooks.results import Command

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def cognee_register_commands(self):
        async def run(text):
            return text.upper()

        return Command(name="shout", help="Say it loud.", run=run)

plugin = Plugin
"""


async def test_a_command_of_somebody_else_s_plugin_is_a_subcommand_like_any_other(tmp_path):
    environ = {"PYTHONPATH": install_plugin(tmp_path, "shouting", SHOUT)}
    page = await command("--help", **environ)
    assert "  shout     Say it loud." in page.out
    done = await command("shout", "it is", "so", **environ)
    assert (done.code, done.out) == (0, '"IT IS" SO\n')
