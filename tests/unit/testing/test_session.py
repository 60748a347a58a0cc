from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cognee_hooks import Leak, hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import SessionEnd, Stop, UserPromptSubmit
from cognee_hooks.results import AdditionalContext, Scrubbed, ScrubState
from cognee_hooks.testing import FakeClock, PluginSession
from cognee_hooks.testing.scripted import ENTRY, fails

VALUE = "correct" + "horse" + "7431"


class Counting:
    def __init__(self) -> None:
        self.seen: list[str] = []

    @hookimpl
    def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> AdditionalContext:
        self.seen.append(event.prompt)
        return AdditionalContext(text="counted", priority=-1)

    @hookimpl(wrapper=True)
    def cognee_stop(self) -> Any:
        return (yield)


@pytest.fixture
def session(tmp_path):
    with PluginSession(tmp_path, {"counting": Counting()}) as made:
        yield made


def test_a_prompt_gets_memory_and_what_the_plugin_adds(session):
    session.remember("The billing service uses port 7431.")
    context = session.prompt("Which port does billing use?")
    assert "7431" in context
    assert "counted" in context


def test_a_turn_reaches_the_scripted_server(session):
    session.prompt("Which port does billing use?")
    session.tool("Bash", {"stdout": "7431"}, command="grep port")
    session.stop("It uses 7431.")
    assert [each["type"] for each in session.server.entries] == ["trace", "qa"]


def test_firing_gives_the_outcome_of_each_implementation(session):
    outcomes = session.fire(UserPromptSubmit(session_id="s", prompt="hello there"))
    mine = next(each for each in outcomes if each.plugin == "counting")
    assert mine.result == AdditionalContext(text="counted", priority=-1)
    assert {"recall", "capture"} < {each.plugin for each in outcomes}


def test_every_call_of_a_hook_is_noted_with_its_wrappers(session):
    session.fire(Stop(session_id="s", last_assistant_message="x"))
    stop = [each for each in session.calls if each.hook == "cognee_stop"]
    assert [each.wrappers for each in stop] == [("counting",)]
    session.fire(SessionEnd(session_id="s"))
    assert any(each.hook == "cognee_session_end" for each in session.calls)


def test_a_server_that_is_down_loses_nothing(session):
    session.server.scripts[ENTRY] = fails(FailureKind.REFUSED)
    session.prompt("Which port does billing use?")
    session.stop("7431.")
    assert session.host.waiting == 1


def test_a_clock_can_be_moved(tmp_path):
    clock = FakeClock()
    with PluginSession(tmp_path, {}, clock=clock):
        deadline = Deadline.after(5.0, clock)
        clock.advance(5.0)
        assert deadline.expired


@pytest.mark.expects_faults
def test_what_the_host_forgives_is_a_fault(tmp_path):
    class Bad:
        @hookimpl
        def cognee_stop(self, event: Stop) -> None:
            raise ValueError

    with PluginSession(tmp_path, {"bad": Bad()}) as session:
        session.stop("x")
        assert [(each.plugin, each.error_type) for each in session.faults] == [
            ("bad", "ValueError")
        ]


async def test_it_works_inside_of_an_asynchronous_test_too(tmp_path):
    def play() -> str:
        with PluginSession(tmp_path, {"counting": Counting()}) as session:
            return session.prompt("hello there")

    assert "counted" in await asyncio.to_thread(play)
    with PluginSession(tmp_path / "other", {"counting": Counting()}) as session:
        assert "counted" in session.prompt("hello there")


class Keeping:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.kept = "the port is " + VALUE

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> Scrubbed | None:
        if not leak.is_in(self.kept.encode()):
            return None
        if not dry_run:
            self.kept = leak.cleaned_text(self.kept)
        state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
        return Scrubbed(place="memory", state=state, count=1)


def test_a_leaked_value_is_looked_for_and_taken_out(tmp_path):
    plugin = Keeping()
    with PluginSession(tmp_path, {"keeping": plugin}) as session:
        [found] = session.scrub(VALUE, dry_run=True)
        assert (found.state, VALUE in plugin.kept) == (ScrubState.FOUND, True)
        [cleaned] = session.scrub(VALUE)
        assert (cleaned.state, plugin.kept) == (
            ScrubState.CLEANED,
            "the port is [redacted:scrubbed]",
        )


class Clumsy:
    """Fails, or says the value."""

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> Scrubbed:
        if not dry_run:
            raise OSError("disk is full")
        return Scrubbed(place=f"notes/{VALUE}", state=ScrubState.FOUND, detail=VALUE)


@pytest.mark.expects_faults
def test_a_plugin_that_fails_to_take_a_value_out_is_told_as_the_command_tells_it(tmp_path):
    with PluginSession(tmp_path, {"clumsy": Clumsy()}) as session:
        [looked] = session.scrub(VALUE, dry_run=True)
        [failed] = session.scrub(VALUE)
    assert VALUE not in looked.place + looked.detail
    assert failed.state is ScrubState.LEFT
    assert "plugin clumsy" in failed.place


def test_outside_of_its_block_it_says_how_it_is_used(tmp_path):
    session = PluginSession(tmp_path, {})
    with pytest.raises(RuntimeError, match="context manager"):
        session.prompt("hello there")
