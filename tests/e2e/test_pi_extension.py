"""Real pi with our extension, offline, and a daemon of the test's own at the other end."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.errors import FailureKind, ServerFailure
from tests.support.channel_daemon import ChannelDaemon, launched, make_launcher
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.pi_agent import PACKAGES, Pi
from tests.support.waiting import wait_until

AWAY = ServerFailure(FailureKind.REFUSED, "nothing listens there")
MEMORY = "=== Cognee memory ===\nThe sky is green here.\n=== End Cognee memory ==="
AT_ONCE = 8.0
"""Seconds within which a run ends that waits for nothing."""
QUICK = 45.0
"""Seconds that any run may take besides what it waits for, on a machine that is busy with tests."""

pytestmark = pytest.mark.parametrize("version", PACKAGES)


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def home(isolated_environment: Path) -> Path:
    return isolated_environment


@pytest.fixture
def launcher(home: Path) -> tuple[list[str], Path]:
    return make_launcher(home)


@pytest.fixture
def pi(version: str, home: Path, model: ChatEndpoint, launcher: tuple[list[str], Path]) -> Pi:
    return Pi(version, home, model.url, launcher[0])


def remembering(event: str, payload: Mapping[str, Any]) -> str:
    return MEMORY if event == "before_agent_start" else ""


def names(daemon: ChannelDaemon) -> list[str]:
    return [name for name, _ in daemon.events]


def ends_of(daemon: ChannelDaemon) -> list[dict[str, Any]]:
    """The ends of turns, under both names that pi has for them."""
    return [each for name, each in daemon.events if name in {"agent_end", "agent_settled"}]


# -- what pi says and gets -------------------------------------------------------------------------


def test_what_is_remembered_stands_behind_the_prompt_in_the_models_request(
    pi: Pi, home: Path, model: ChatEndpoint
):
    with ChannelDaemon(home, remembering) as daemon:
        done = pi.prompt("What colour is the sky?", "And the sea?")
        daemon.wait_for_end()
    assert done.returncode == 0
    assert model.texts(0)[-2:] == ["What colour is the sky?", MEMORY]
    assert model.texts(1)[-2:] == ["And the sea?", MEMORY]
    assert (done.answer, done.stderr) == ("Done.", "")


def test_a_session_is_told_from_its_beginning_to_its_end(pi: Pi, home: Path, version: str):
    with ChannelDaemon(home) as daemon:
        pi.prompt("First {{say: One.}}", "Second {{say: Two.}}")
        daemon.wait_for_end()
    stop = "agent_end" if version == "0.73.1" else "agent_settled"
    turn = ["before_agent_start", stop]
    assert names(daemon) == ["session_start", *turn, *turn, "session_shutdown"]
    prompts, stops = daemon.payloads("before_agent_start"), daemon.payloads(stop)
    assert [each["prompt"][:6] for each in prompts] == ["First ", "Second"]
    assert [each["text"] for each in stops] == ["One.", "Two."]
    assert [each["promptId"] for each in prompts] == [each["promptId"] for each in stops]
    assert prompts[0]["promptId"] != prompts[1]["promptId"]
    opening, start = daemon.openings[0], daemon.events[0][1]
    assert opening.event == start["sessionId"]
    assert opening.cwd == start["cwd"] == str(pi.project)
    assert opening.environ["HOME"] == str(home)
    assert (start["reason"], start["resumed"], start["model"]) == ("startup", False, "small")
    assert len({payload["eventId"] for _, payload in daemon.events}) == len(daemon.events)


def test_tool_calls_are_told_whether_they_work_fail_or_never_run(pi: Pi, home: Path):
    prompt = 'Go {{call: bash {"command": "echo hi"}}} {{call: bash {"command": "exit 3"}}}'
    with ChannelDaemon(home) as daemon:
        pi.prompt(prompt + ' {{call: read {"nonsense": 1}}} {{call: unheard_of {}}}')
        daemon.wait_for_end()
    calls = daemon.payloads("tool_execution_end")
    assert [call["toolName"] for call in calls] == ["bash", "bash", "read", "unheard_of"]
    assert [call["isError"] for call in calls] == [False, True, True, True]
    assert calls[0]["input"] == {"command": "echo hi"}
    assert calls[0]["output"].strip() == "hi"
    assert "code 3" in calls[1]["output"]
    assert {call["promptId"] for call in calls} == {
        daemon.payloads("before_agent_start")[0]["promptId"]
    }
    assert all(0 <= call["durationMs"] < 60_000 for call in calls)


def test_a_continued_session_says_that_it_has_a_past(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon:
        pi.prompt("First")
        pi.prompt("--continue", "Second")
        starts = daemon.payloads("session_start")
    assert [start["resumed"] for start in starts] == [False, True]
    assert starts[0]["sessionId"] == starts[1]["sessionId"]


def test_very_long_texts_are_cut_before_they_are_sent(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon:
        pi.prompt("Long " + "x" * 70_000)
        daemon.wait_for_end()
    assert len(daemon.payloads("before_agent_start")[0]["prompt"]) == 64 * 1024


# -- tools, commands, questions --------------------------------------------------------------------


def test_the_model_may_call_a_plugins_tool(pi: Pi, home: Path, model: ChatEndpoint):
    with ChannelDaemon(home):
        prompt = 'Ask {{call: cognee_lookup {"query": "sky"}}}'
        pi.prompt(prompt + ' {{call: cognee_lookup {"query": "nothing"}}}')
    declared = model.tools(0)["cognee_lookup"]
    assert declared["description"] == "Look something up."
    assert declared["parameters"]["properties"] == {"query": {"type": "string"}}
    results = [each for each in model.requests[-1]["messages"] if each["role"] == "tool"]
    assert results[0]["content"] == "sky is blue"
    assert "cognee_lookup failed (LookupError)" in str(results[1]["content"])


def test_a_plugins_command_is_a_slash_command(pi: Pi, home: Path, model: ChatEndpoint):
    with ChannelDaemon(home), pi.rpc() as session:
        assert session.ui("setStatus")["statusText"] == "memory on"
        commands = session.ask(type="get_commands")["data"]["commands"]
        offered = {command["name"] for command in commands}
        assert {"cognee", "cognee-doctor", "cognee-shout", "cognee-forget"} <= offered
        for text, level in (("hello", "info"), ("⚠ hm", "warning")):
            session.send(type="prompt", message=f"/cognee-shout {text}")
            shown = session.ui("notify")
            assert (shown["message"], shown["notifyType"]) == (f"{text.upper()}!", level)
    assert model.requests == []


@pytest.mark.parametrize(
    ("confirmed", "said"), [(True, "forgot some of it all"), (False, "kept"), (None, "kept")]
)
def test_a_command_can_ask_the_person(pi: Pi, home: Path, confirmed: bool | None, said: str):
    with ChannelDaemon(home), pi.rpc() as session:
        session.send(type="prompt", message="/cognee-forget it all")
        question = session.ui("confirm")
        assert (question["title"], question["message"]) == ("Forget?", "it all goes.")
        answer = {"cancelled": True} if confirmed is None else {"confirmed": confirmed}
        session.send(type="extension_ui_response", id=question["id"], **answer)
        if confirmed:
            choice = session.ui("select")
            assert choice["options"] == ["all", "some"]
            session.send(type="extension_ui_response", id=choice["id"], value="some")
        assert session.ui("notify")["message"] == said


def test_without_an_interface_questions_are_answered_no_and_output_goes_to_stderr(
    pi: Pi, home: Path
):
    with ChannelDaemon(home):
        done = pi.prompt("/cognee-forget it all")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "kept")


def test_what_a_plugin_says_is_shown(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        daemon.wait_for("session_start")
        daemon.say("Cognee memory: the server is away.")
        session.send(type="prompt", message="Hello")
        notice = session.ui("notify")
        assert notice["message"] == "Cognee memory: the server is away."
        assert notice["notifyType"] == "warning"


def test_the_person_is_told_when_memory_comes_and_goes(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        daemon.wait_for("session_start")
        for failure, start, level in (
            (None, "Cognee Memory Connected", "info"),
            (AWAY, "Cognee memory offline (nothing listens there).", "warning"),
            (None, "Cognee Memory Connected", "info"),
        ):
            daemon.connection(failure)
            notice = session.ui("notify")
            assert notice["message"].startswith(start)
            assert notice["notifyType"] == level


def test_without_an_interface_nothing_is_said_of_the_connection(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon:
        run = pi.start("Wait {{hold: 2}}")
        with run:
            daemon.wait_for("session_start")
            daemon.connection(AWAY)
            done = run.wait(QUICK)
    assert (done.returncode, done.answer, done.stderr) == (0, "Done.", "")


def test_a_tool_call_that_the_person_stops_is_given_up_at_the_daemon(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.send(type="prompt", message="Go {{call: cognee_wait {}}}")
        session.until(lambda each: each["type"] == "tool_execution_start")
        time.sleep(0.2)
        session.send(type="abort")
        session.until(lambda each: each["type"] == "agent_end")
        assert daemon.wait_for_cancel()


# -- long sessions ---------------------------------------------------------------------------------


def test_prompts_that_come_while_the_agent_works_are_turns_of_their_own(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.send(type="prompt", message="First {{hold: 4.0}} {{say: One.}}")
        session.until(lambda each: each["type"] == "agent_start")
        session.ask(type="follow_up", message="Later {{say: Two.}}")
        session.until(lambda each: each["type"] == "agent_end")
        prompt = daemon.payloads("before_agent_start")[0]
        later = daemon.wait_for("message_end")
        assert later["prompt"].startswith("Later")
        assert later["promptId"] != prompt["promptId"]
        session.end()
        daemon.wait_for("session_shutdown")
        ends = [(each["promptId"], each["text"]) for each in ends_of(daemon)]
        assert ends == [(prompt["promptId"], "One."), (later["promptId"], "Two.")]


def test_a_run_that_fails_and_is_tried_again_is_one_turn(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon:
        done = pi.prompt("Try {{fail: 503}} {{say: In the end.}}")
        daemon.wait_for_end()
    assert done.answer == "In the end."
    assert [each["text"] for each in ends_of(daemon)] == ["In the end."]


def test_a_run_that_fails_for_good_takes_nothing_from_the_next(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.prompt("First {{fail: 400}}")
        session.prompt("Second {{say: Two.}}")
        assert session.end() == 0
        daemon.wait_for("session_shutdown")
    prompts = [each["promptId"] for each in daemon.payloads("before_agent_start")]
    ends = [(each["promptId"], each["text"]) for each in ends_of(daemon)]
    assert ends == [(prompts[0], ""), (prompts[1], "Two.")]


def test_a_run_that_the_user_stops_is_a_turn_without_an_answer(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.send(type="prompt", message="First {{hold: 30}}")
        session.until(lambda each: each["type"] == "message_end")
        session.send(type="abort")
        session.until(lambda each: each["type"] == "agent_end")
        assert session.end() == 0
        daemon.wait_for("session_shutdown")
    assert [each["text"] for each in ends_of(daemon)] == [""]


def test_a_new_session_ends_the_old_one(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        daemon.wait_for("session_start")
        session.prompt("Hello")
        session.ask(type="new_session")
        daemon.wait_for("session_start", 2)
        session.prompt("Hello again")
        assert daemon.payloads("session_shutdown")[0]["reason"] == "new"
        first, second = daemon.payloads("session_start")
        assert second["reason"] == "new"
        assert first["sessionId"] != second["sessionId"]
        time.sleep(0.3)
        assert len(daemon.payloads("session_start")) == 2


def test_our_own_blocks_are_not_summarised_as_the_users_words(
    pi: Pi, home: Path, model: ChatEndpoint, version: str
):
    pi.compact_early()
    with ChannelDaemon(home, remembering) as daemon, pi.rpc() as session:
        session.prompt("Tell me " + "much " * 200)
        session.prompt("Tell me more " + "words " * 200)
        session.ask(type="compact")
        before = daemon.wait_for("session_before_compact")
        daemon.wait_for("session_compact")
    if version != "0.73.1":
        assert before["reason"] == "manual"
    summary = "\n".join(model.texts(-1))
    assert "Tell me" in summary
    assert "sky is green" not in summary
    # What is summarised is told, and nothing of ours in it.
    assert [each["role"] for each in before["messages"][:2]] == ["user", "assistant"]
    assert before["messages"][0]["text"].startswith("Tell me much")
    assert before["messages"][1]["text"] == "Done."
    assert "sky is green" not in json.dumps(before)


def test_of_a_session_too_short_to_drop_anything_all_is_told_where_it_is_compacted_at_all(
    pi: Pi, home: Path, version: str
):
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.prompt("Which port? {{say: Port 8011.}}")
        compacted = session.ask(type="compact")["success"]
        assert session.end() == 0
        daemon.wait_for("session_shutdown")
    told = [each["messages"] for each in daemon.payloads("session_before_compact")]
    assert compacted == (version == "0.73.1")
    assert told == compacted * [
        [
            {"role": "user", "text": "Which port? {{say: Port 8011.}}"},
            {"role": "assistant", "text": "Port 8011."},
        ]
    ]


def test_what_is_told_of_a_compaction_is_bounded(pi: Pi, home: Path):
    pi.compact_early()
    with ChannelDaemon(home) as daemon, pi.rpc() as session:
        session.prompt("Long " + "x" * 20_000)
        session.prompt("More " + "y" * 2000)
        session.ask(type="compact")
        messages = daemon.wait_for("session_before_compact")["messages"]
    assert len(messages) <= 40
    assert max(len(each["text"]) for each in messages) == 16 * 1024


# -- when things go wrong --------------------------------------------------------------------------


def test_a_daemon_that_is_killed_in_the_middle_changes_nothing_and_loses_nothing(
    pi: Pi, home: Path, launcher: tuple[list[str], Path], version: str
):
    with ChannelDaemon(home, remembering) as daemon, pi.rpc() as session:
        session.prompt("Hello {{say: One.}}")
        daemon.wait_for("agent_end" if version == "0.73.1" else "agent_settled")
        daemon.kill()
        session.prompt('Go {{call: bash {"command": "echo hi"}}} {{say: Two.}}')
        assert session.end() == 0
    stop = "agent_end" if version == "0.73.1" else "agent_settled"
    kept = [(event, payload) for event, payload in launched(launcher[1]) if event != "start"]
    # The end of the turn before is kept too, if the daemon was killed before it could answer.
    first = next(n for n, (_, each) in enumerate(kept) if each.get("prompt", "").startswith("Go "))
    assert {event for event, _ in kept[:first]} <= {stop}
    kept = kept[first:]
    assert [event for event, _ in kept] == ["before_agent_start", "tool_execution_end", stop]
    assert kept[1][1]["output"].strip() == "hi"
    assert kept[2][1]["text"] == "Two."


def test_a_daemon_that_comes_back_is_found_again(pi: Pi, home: Path, model: ChatEndpoint):
    with pi.rpc() as session:
        with ChannelDaemon(home, remembering):
            session.prompt("Hello")
        with ChannelDaemon(home, remembering) as daemon:
            session.prompt("Hello again")
            assert model.texts(-1)[-1] == MEMORY
            assert daemon.payloads("before_agent_start")[0]["prompt"] == "Hello again"
            commands = session.ask(type="get_commands")["data"]["commands"]
            assert [each["name"] for each in commands].count("cognee-shout") == 1


def test_an_answer_that_never_comes_is_given_up(
    pi: Pi, home: Path, launcher: tuple[list[str], Path]
):
    with ChannelDaemon(home) as daemon:
        daemon.delays["before_agent_start"] = 120
        done = pi.prompt("Hello {{say: Anyway.}}")
    assert (done.returncode, done.answer) == (0, "Anyway.")
    assert 10 <= done.seconds < 12 + QUICK
    # A daemon that was silent for so long may never have taken it.
    assert "before_agent_start" in [event for event, _ in launched(launcher[1])]


async def stays_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\xff\xfe<html>nonsense\n{]\n")
    await reader.read()


async def wrong_greeting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b'{"hello": 7}\n{"hello": {"tools": [{}], "commands": 3}}\n')
    await reader.read()


async def greets_and_raves(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    hello = {"version": "0", "tools": [], "commands": [], "status": ""}
    writer.write(json.dumps({"hello": hello}).encode() + b"\n")
    await reader.readuntil(b"\n")
    writer.write(b'{"id": 99}\n{"notice": 5}\n{"ask": 1}\nnull\n')
    await reader.read()


async def endless_line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for _ in range(40):
        writer.write(b"x" * 1024 * 1024)
        await writer.drain()
    await reader.read()


async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    pass


class Changing:
    """Misbehaves in another way each time."""

    def __init__(self) -> None:
        self._ways = itertools.cycle([garbage, wrong_greeting, endless_line, hangs_up])

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await next(self._ways)(reader, writer)


@pytest.mark.parametrize("behaviour", [stays_silent, greets_and_raves, Changing()])
def test_whatever_answers_at_the_socket_pi_works(
    pi: Pi, home: Path, behaviour: Callable[..., Any], launcher: tuple[list[str], Path]
):
    with ChannelDaemon(home, behaviour=behaviour):
        done = pi.prompt("Hello {{say: Anyway.}}")
    assert (done.returncode, done.answer, done.stderr) == (0, "Anyway.", "")
    assert done.seconds < 7 + QUICK
    assert "before_agent_start" in [event for event, _ in launched(launcher[1])]


def test_a_refusal_switches_the_extension_off(pi: Pi, home: Path, launcher: tuple[list[str], Path]):
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"-\n")

    with ChannelDaemon(home, behaviour=refuse) as daemon:
        assert pi.prompt("Hello").answer == "Done."
        assert len(daemon.openings) == 1
    assert launched(launcher[1]) == []


def test_a_daemon_that_starts_late_is_waited_for(
    pi: Pi, home: Path, model: ChatEndpoint, launcher: tuple[list[str], Path]
):
    with pi.start("Hello") as running:
        wait_until(lambda: launched(launcher[1]), "the start of a daemon")
        with ChannelDaemon(home, remembering):
            assert running.wait().returncode == 0
    assert launched(launcher[1]) == [("start", {})]
    assert model.texts(0)[-1] == MEMORY


def test_a_daemon_that_never_starts_costs_the_start_and_nothing_else(
    pi: Pi, launcher: tuple[list[str], Path], version: str
):
    done = pi.prompt("Hello", "Again", "And again")
    assert done.returncode == 0
    assert 5 <= done.seconds < 6 + QUICK
    stop = "agent_end" if version == "0.73.1" else "agent_settled"
    kept = [event for event, _ in launched(launcher[1])]
    assert kept == ["start", "session_start", *["before_agent_start", stop] * 3]


def test_an_interpreter_that_is_gone_does_no_harm(version: str, home: Path, model: ChatEndpoint):
    pi = Pi(version, home, model.url, [str(home / "gone" / "python"), "client.py"])
    done = pi.prompt("Hello")
    assert (done.returncode, done.answer, done.stderr) == (0, "Done.", "")


@pytest.mark.parametrize("switch", ["no launcher", "nested"])
def test_where_it_is_not_wanted_nothing_is_connected(
    version: str, home: Path, model: ChatEndpoint, switch: str, launcher: tuple[list[str], Path]
):
    environment = {"COGNEE_HOOKS_NESTED": "1"} if switch == "nested" else {}
    pi = Pi(version, home, model.url, launcher[0] if environment else [], environment)
    with ChannelDaemon(home, remembering) as daemon:
        assert pi.prompt("Hello").answer == "Done."
        assert daemon.openings == []
    assert launched(launcher[1]) == []
    assert "cognee_lookup" not in model.tools(0)


def test_a_home_with_a_very_long_path_works(
    version: str, home: Path, model: ChatEndpoint, launcher: tuple[list[str], Path]
):
    state = home / ("deep-" * 20) / ("er-" * 20)
    environment = {"COGNEE_HOOKS_STATE_DIR": f"~/{state.relative_to(home)}"}
    pi = Pi(version, home, model.url, launcher[0], environment)
    with ChannelDaemon(home, remembering) as daemon:
        state.mkdir(parents=True)
        (state / "daemon").symlink_to(daemon.folder)
        pi.prompt("Hello")
        assert model.texts(0)[-1] == MEMORY


def test_a_folder_that_others_may_write_to_is_not_trusted(pi: Pi, home: Path, model: ChatEndpoint):
    with ChannelDaemon(home, remembering) as daemon:
        daemon.folder.chmod(0o777)
        assert pi.prompt("Hello").returncode == 0
        assert daemon.openings == []
    assert MEMORY not in model.texts(0)
    shutil.rmtree(daemon.folder)


def test_print_mode_ends_at_once(pi: Pi, home: Path):
    with ChannelDaemon(home) as daemon:
        # One that waits for something always does; one that does not may be slow now and then.
        assert any(pi.prompt("Hello").seconds < AT_ONCE for _ in range(4))
        daemon.wait_for_end()
