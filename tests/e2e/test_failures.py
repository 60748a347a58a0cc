"""Whatever the server does, an event ends in time with an answer that the agent takes."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator

import pytest

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.cli.run import FLUSH_SECONDS, MARGIN_SECONDS
from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from tests.support.command import START_UP, command, payload
from tests.support.fake_server import (
    Behaviour,
    FakeServer,
    body,
    close_at_once,
    half_a_body,
    half_a_header,
    huge,
    redirect,
    slow,
    stall,
    status,
)
from tests.support.waiting import PATIENCE

CLOSED = "http://127.0.0.1:9"
OUTAGE = "=== Cognee memory: recall skipped ({}) ==="
ANY = OUTAGE.split("{}", maxsplit=1)[0]
BUDGETS = {
    "SessionStart": FLUSH_SECONDS,
    "UserPromptSubmit": 9.0,
    "PostToolUse": FLUSH_SECONDS,
    "PostToolUseFailure": FLUSH_SECONDS,
    "Stop": FLUSH_SECONDS,
    "PreCompact": FLUSH_SECONDS,
    "SessionEnd": 9.0,
}
PAYLOADS = {
    "SessionStart": "SessionStart.startup",
    "UserPromptSubmit": "UserPromptSubmit",
    "PostToolUse": "PostToolUse.Bash",
    "PostToolUseFailure": "PostToolUseFailure.Bash",
    "Stop": "Stop",
    "PreCompact": "PreCompact.auto",
    "SessionEnd": "SessionEnd.other",
}
FAILURES: dict[str, tuple[Behaviour, str]] = {
    "stalls": (stall, "server not responding"),
    "stalls within a header": (half_a_header, "server not responding"),
    "answers after a minute": (slow(60), "server not responding"),
    "401": (status(401, {"detail": "Unauthorized"}), "auth failed"),
    "403": (status(403, {"detail": "No. [PermissionDeniedError]"}), "no access to this dataset"),
    "404": (status(404, {"detail": "Not Found"}), "no cognee server at this URL"),
    "429": (status(429, {"detail": "slow down"}, retry_after="30"), "rate limited"),
    "500": (status(500, {"detail": "boom"}), "server error"),
    "a page": (body(b"<html>Sign in</html>"), "no cognee server at this URL"),
    "half a body": (half_a_body, "server unreachable"),
    "closes at once": (close_at_once, "server unreachable"),
    "a redirect": (redirect("https://example.org/login"), "no cognee server at this URL"),
    "200 MB": (huge, ""),
}


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as made:
        yield made


async def run(event: str, url: str, *, recall_ms: int = 9000, blocked: str = "", **changes: object):
    return await command(
        "run",
        "claude-code",
        event,
        stdin=payload(PAYLOADS[event], **changes),
        COGNEE_BASE_URL=url,
        COGNEE_API_KEY="key",
        COGNEE_RECALL_TIMEOUT_MS=str(recall_ms),
        COGNEE_HOOKS_DISABLE=blocked,
    )


def check(event: str, done, reason: str) -> None:
    assert done.code == 0
    assert done.seconds < BUDGETS[event] + MARGIN_SECONDS + START_UP
    assert "Traceback" not in done.err
    if event != "UserPromptSubmit":
        assert done.out == ""
        return
    answer = done.json["hookSpecificOutput"]
    assert answer["hookEventName"] == event
    context = answer["additionalContext"]
    assert "\n" not in context
    assert context == OUTAGE.format(reason) if reason else context.startswith(ANY)


@pytest.mark.parametrize("event", BUDGETS)
async def test_a_server_that_refuses_costs_nothing_but_one_line(event):
    check(event, await run(event, CLOSED), "server unreachable")


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_prompt_is_told_in_one_line_why_there_is_no_memory(server, failure):
    behaviour, reason = FAILURES[failure]
    server.always(behaviour)
    # Only who waits for nothing is to wait no longer than need be.
    recall_ms = 4000 if reason == "server not responding" else 9000
    done = await run("UserPromptSubmit", server.url, recall_ms=recall_ms)
    check("UserPromptSubmit", done, reason)


@pytest.mark.parametrize("failure", ["stalls", "500", "a page", "200 MB", "a redirect"])
@pytest.mark.parametrize("event", [each for each in BUDGETS if each != "UserPromptSubmit"])
async def test_every_other_event_ends_in_time_and_in_silence(server, failure, event):
    server.always(FAILURES[failure][0])
    if event == "Stop":  # its prompt came while all was well
        server.always(None)
        await run("UserPromptSubmit", server.url)
        server.always(FAILURES[failure][0])
    check(event, await run(event, server.url), "")


async def test_an_entry_that_cannot_be_sent_is_reported_to_the_person():
    done = await run("PostToolUse", CLOSED, blocked="bridge")
    assert "1 captured entries could not be sent" in done.err
    assert "cognee-hooks doctor" in done.err


async def test_a_key_is_found_inside_the_budget_of_the_prompt(server):
    server.always(slow(60))
    done = await command(
        "run",
        "claude-code",
        "UserPromptSubmit",
        stdin=payload("UserPromptSubmit"),
        COGNEE_LOCAL_API_URL=server.url,
        COGNEE_RECALL_TIMEOUT_MS="4000",
    )
    check("UserPromptSubmit", done, "server not responding")
    assert server.requests


async def test_a_key_does_not_follow_a_redirect(server):
    async with FakeServer() as other:
        server.always(redirect(f"{other.url}/api/v1/recall"))
        await run("UserPromptSubmit", server.url)
        assert other.requests == []


async def test_sixty_prompts_in_a_row_without_a_server_are_all_answered_with_one_line(
    isolated_environment,
):
    environ = {"HOME": str(isolated_environment), "COGNEE_BASE_URL": CLOSED}
    agent = ClaudeCode()
    document = payload("UserPromptSubmit")
    # The fifth failure within the window pauses recall, for all processes.
    reasons = ["server unreachable"] * 5 + ["circuit breaker open"] * 55
    for reason in reasons:
        started = time.monotonic()
        # A process of its own each, as far as state goes.
        host = Host(agent.name, environ=environ, session_id="claude_s", entry_points=())
        event = agent.read("UserPromptSubmit", document, session_id="claude_s")
        prompt = await host.dispatch(event, Deadline.after(4))
        answer = json.loads(agent.answer("UserPromptSubmit", prompt.context, ""))
        context = answer["hookSpecificOutput"]["additionalContext"]
        assert context == OUTAGE.format(reason)
        assert await host.close(Deadline.after(4)) == 0
        assert time.monotonic() - started < PATIENCE
