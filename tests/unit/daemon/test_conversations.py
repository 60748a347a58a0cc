"""What becomes of sessions when an agent clears, resumes, forks or switches its conversation.

All payloads were captured from the agents, but Gemini CLI's, which are those of its manual.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from tests.support.conversations import Conversations
from tests.support.daemon import agent_environment
from tests.support.fake_server import Connection, FakeServer, Request, status
from tests.support.scripted import remembers
from tests.support.waiting import until

RECALL, ENTRY, IMPROVE = "/api/v1/recall", "/api/v1/remember/entry", "/api/v1/improve"
ASKED = "Which port does the billing service use?"

Start = Callable[..., Conversations]


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async def recalls(connection: Connection, request: Request) -> None:
        await connection.answer(200, remembers("a fact in memory")(request.json))

    async with FakeServer() as fake:
        fake.on(RECALL, recalls)
        fake.on(IMPROVE, status(200, {"status": "running", "pipeline_run_id": "r1"}))
        yield fake


@pytest.fixture
async def start(isolated_environment: Path, server: FakeServer) -> AsyncIterator[Start]:
    made: list[Conversations] = []
    environ = agent_environment(isolated_environment, server.url)

    def begin(agent: str = "claude-code") -> Conversations:
        made.append(Conversations(isolated_environment / f"daemon{len(made)}", environ, agent))
        return made[-1]

    yield begin
    for each in made:
        await each.sessions.close(Deadline.after(3))


def turns(server: FakeServer) -> list[tuple[str, str]]:
    """Sessions and answers of the turns that the server has."""
    bodies = [each.json for each in server.requests if each.path == ENTRY]
    turn = [each for each in bodies if each["entry"]["type"] == "qa"]
    return [
        (each["session_id"], each["entry"]["answer"])
        for each in turn
        if not each["entry"]["question"].startswith("Context compaction anchor")
    ]


def synced(server: FakeServer) -> list[str]:
    """Sessions that were turned into lasting memory."""
    bodies = [each.json for each in server.requests if each.path == IMPROVE]
    return [session for body in bodies for session in body["session_ids"]]


async def stored(server: FakeServer, count: int) -> None:
    await until(lambda: len(turns(server)) >= count, f"{count} turns at the server")


# -- Claude Code -------------------------------------------------------------------------------


def claude(talk: Conversations, source: str) -> str:
    return f"claude_{talk.sample(source)['session_id']}"


async def test_a_clear_ends_one_session_with_a_sync_and_begins_another(start, server):
    talk = start()
    await talk.event("SessionStart.startup")
    who = {"session_id": talk.sample("SessionEnd.clear")["session_id"]}
    await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p1", **who)
    await talk.event("Stop", last_assistant_message="7431", prompt_id="p1", **who)
    await stored(server, 1)
    await talk.event("SessionEnd.clear")
    await talk.event("SessionStart.clear")
    new = {"session_id": talk.sample("SessionStart.clear")["session_id"]}
    await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p2", **new)
    await talk.event("Stop", last_assistant_message="7432", prompt_id="p2", **new)
    await stored(server, 2)
    old_id, new_id = claude(talk, "SessionEnd.clear"), claude(talk, "SessionStart.clear")
    assert turns(server) == [(old_id, "7431"), (new_id, "7432")]
    await until(lambda: old_id in synced(server), "a sync of what was cleared")
    assert new_id in talk.live()
    assert old_id not in talk.live()


async def test_a_prompt_that_a_clear_cut_off_takes_no_answer_of_the_next_session(start, server):
    talk = start()
    who = {"session_id": talk.sample("SessionEnd.clear")["session_id"]}
    await talk.event("UserPromptSubmit", prompt="What was to be cleared away?", **who)
    await talk.event("SessionEnd.clear")
    await talk.event("SessionStart.clear")
    new = {"session_id": talk.sample("SessionStart.clear")["session_id"]}
    await talk.event("Stop", last_assistant_message="of nobody's question", **new)
    await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p2", **new)
    await talk.event("Stop", last_assistant_message="7432", prompt_id="p2", **new)
    await stored(server, 1)
    assert turns(server) == [(claude(talk, "SessionStart.clear"), "7432")]


async def test_a_session_that_is_resumed_goes_on_under_its_id_and_is_synced_again(start, server):
    """F2: exit, resume and exit again must not skip the second sync."""
    talk = start()
    who = {"session_id": talk.sample("SessionStart.resume")["session_id"]}
    for number in (1, 2):
        await talk.event("SessionStart.startup" if number == 1 else "SessionStart.resume", **who)
        turn = {"prompt_id": f"p{number}", **who}
        answer = await talk.event("UserPromptSubmit", prompt=ASKED, **turn)
        context = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        assert f"{number}/{number} turns had hits this session" in context
        await talk.event("Stop", last_assistant_message=str(number), **turn)
        await stored(server, number)
        await talk.event("SessionEnd.prompt_input_exit", **who)
        await until(lambda count=number: len(synced(server)) == count, "a sync")
    own = claude(talk, "SessionStart.resume")
    assert turns(server) == [(own, "1"), (own, "2")]
    assert synced(server) == [own, own]


async def test_a_fork_is_a_session_of_its_own_with_counters_of_its_own(start, server):
    talk = start()
    who = {"session_id": talk.sample("SessionStart.resume")["session_id"]}
    await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p1", **who)
    await talk.event("SessionStart.fork")
    fork = {"session_id": talk.sample("SessionStart.fork")["session_id"]}
    answer = await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p2", **fork)
    assert "1/1 turns had hits this session" in answer
    await talk.event("Stop", last_assistant_message="7431", prompt_id="p2", **fork)
    await stored(server, 1)
    assert turns(server) == [(claude(talk, "SessionStart.fork"), "7431")]


async def test_an_anchor_waits_over_a_resume_and_is_not_passed_on_by_a_clear(start, server):
    talk = start()
    who = {"session_id": talk.sample("PreCompact.manual")["session_id"]}
    await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p1", **who)
    await talk.event("Stop", last_assistant_message="7431", prompt_id="p1", **who)
    await talk.event("PreCompact.manual", transcript_path="")
    await talk.event("SessionStart.compact", **who)
    await talk.event("SessionEnd.clear", **who)
    await talk.event("SessionStart.clear")
    new = {"session_id": talk.sample("SessionStart.clear")["session_id"]}
    cleared = await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p2", **new)
    assert "7431" not in cleared
    await talk.event("SessionStart.resume", **who)
    resumed = await talk.event("UserPromptSubmit", prompt=ASKED, prompt_id="p3", **who)
    assert "7431" in resumed


# -- others ------------------------------------------------------------------------------------


async def test_codex_tells_no_end_at_a_clear_so_both_sessions_live_on(start, server):
    talk = start("codex")
    old, new = (
        talk.sample(name)["session_id"] for name in ("SessionStart.resume", "SessionStart.clear")
    )
    for name, own in (("SessionStart.resume", old), ("SessionStart.clear", new)):
        await talk.event(name)
        turn = {"session_id": own, "turn_id": f"t-{own[-4:]}"}
        await talk.event("UserPromptSubmit", prompt=ASKED, **turn)
        await talk.event("Stop", last_assistant_message=own[-4:], **turn)
    await stored(server, 2)
    assert sorted(turns(server)) == sorted((f"codex_{own}", own[-4:]) for own in (old, new))
    assert set(talk.live()) == {f"codex_{old}", f"codex_{new}"}


async def test_a_conversation_that_keeps_its_id_over_a_clear_is_not_reminded_of_what_is_gone(
    start, server
):
    talk = start("gemini-cli")
    await talk.event("BeforeAgent", prompt=ASKED)
    await talk.event("AfterAgent", prompt=ASKED, prompt_response="7431")
    await talk.event("PreCompress.manual", transcript_path="")
    await talk.event("SessionStart.clear")
    assert "7431" not in await talk.event("BeforeAgent", prompt="And which host, please?")


async def test_a_new_session_of_pi_is_one_of_its_own(start, server):
    talk = start("pi")
    old = talk.sample("session_shutdown.new")["sessionId"]
    await talk.event("session_start.startup", sessionId=old)
    await talk.event("before_agent_start", prompt=ASKED, sessionId=old, promptId="a", eventId="1")
    await talk.event("agent_settled", text="7431", sessionId=old, promptId="a", eventId="2")
    await stored(server, 1)
    await talk.event("session_shutdown.new")
    await talk.event("session_start.new")
    new = talk.sample("session_start.new")["sessionId"]
    await talk.event("before_agent_start", prompt=ASKED, sessionId=new, promptId="b", eventId="3")
    await talk.event("agent_settled", text="7432", sessionId=new, promptId="b", eventId="4")
    await stored(server, 2)
    assert turns(server) == [(f"pi_{old}", "7431"), (f"pi_{new}", "7432")]
    await until(lambda: f"pi_{old}" in synced(server), "a sync of what was left")
    assert talk.live() == [f"pi_{new}"]


async def test_loading_the_extensions_of_pi_again_ends_no_session(start, server):
    talk = start("pi")
    own = talk.sample("session_start.startup")["sessionId"]
    await talk.event("session_start.startup")
    await talk.event("session_shutdown.reload", sessionId=own)
    await talk.event("session_start.startup", reason="reload", resumed=True, eventId="again")
    assert talk.live() == [f"pi_{own}"]
