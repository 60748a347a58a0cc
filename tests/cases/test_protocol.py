"""P01 and P03: a hook ends well and in time, and says only what its agent takes."""

from __future__ import annotations

import json
import time

import pytest

from cognee_hooks.agents import BUILT_IN
from tests.cases.machine import Machine
from tests.support.agent_samples import samples_of
from tests.support.command import payload
from tests.support.fake_server import body, status

CLOSED = "http://127.0.0.1:9"
PROMPT = "Which port does the billing service use?"
ROUNDS = 300
EVENTS = {
    "SessionStart": "SessionStart.startup",
    "PostToolUse": "PostToolUse.Bash",
    "Stop": "Stop",
    "SessionEnd": "SessionEnd.other",
}

# -- P01 -----------------------------------------------------------------------------------------


async def test_p01_after_hundreds_of_failures_no_prompt_is_blocked(machine: Machine):
    machine.environ["COGNEE_BASE_URL"] = CLOSED
    machine.start()
    slowest = 0.0
    for number in range(ROUNDS):
        began = time.monotonic()
        shown = await machine.prompt(f"{PROMPT} ({number})", number)
        slowest = max(slowest, time.monotonic() - began)
        if shown:
            answer = json.loads(shown)
            assert {"decision", "continue", "stopReason"}.isdisjoint(answer)
            context = answer["hookSpecificOutput"]["additionalContext"]
            assert context.startswith("=== Cognee memory: recall skipped (")
            assert "\n" not in context
    for event, sample in EVENTS.items():
        assert await machine.event(event, payload(sample, session_id="s1")) == ""
    # The budget of recall, and what a busy machine adds; whoever waited for a server takes longer.
    assert slowest < 30


# -- P03 -----------------------------------------------------------------------------------------

SERVERS = {
    "memory found": None,
    "nothing found": status(404, {"detail": "NoDataError: nothing there"}),
    "down": status(503, {"detail": "starting"}),
    "no key": status(401, {"detail": "Unauthorized"}),
    "a page": body(b"<html>Sign in</html>"),
}
BAD_SETTINGS = {"COGNEE_RECALL_TOP_K": "many", "COGNEE_CAPTURE": "perhaps"}


@pytest.mark.parametrize("state", [*SERVERS, "bad settings"])
async def test_p03_codex_is_answered_with_nothing_or_one_document_that_it_takes(
    machine: Machine, state: str
):
    """The conformance kit plays all agents; here every payload of one is in its states."""
    machine.server.always(SERVERS.get(state))
    if state == "bad settings":
        machine.environ |= BAD_SETTINGS
    machine.start()
    adapter = BUILT_IN["codex"]
    for event, samples in samples_of("codex").items():
        if event not in adapter.events:
            continue
        for document in samples:
            shown = await machine.event(event, document, "codex")
            assert shown == shown.strip()
            if shown != adapter.empty(event):
                assert set(json.loads(shown)) <= _allowed(adapter.answer(event, "c", "n"))


def _allowed(answer: str) -> set[str]:
    """Keys of the fullest answer that the agent takes for an event."""
    return set(json.loads(answer)) if answer else set()
