"""The harness that drives real agents: it sees what the model sees, and what a hook sees.

Nothing of the product takes part; hooks here are a few lines that note what they were given.
"""

from __future__ import annotations

import json
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.chat_wire import Chat, chat_model
from tests.support.messages_endpoint import Messages, messages_endpoint
from tests.support.pi_agent import PACKAGES
from tests.support.pi_driver import PiDriver
from tests.support.real_agents import (
    CLAUDE_CODE_VERSIONS,
    CODEX_VERSION,
    ClaudeCode,
    Codex,
    install,
)
from tests.support.responses_endpoint import responses_endpoint
from tests.support.scripted_model import Move, ScriptedModel, Turn, next_move

HOOK = """
import json, sys

payload = json.load(sys.stdin)
event = payload["hook_event_name"]
with open(sys.argv[1], "a") as log:
    log.write(json.dumps(payload) + "\\n")
if event in {"SessionStart", "UserPromptSubmit", "PostToolUse"}:
    context = f"[memory] said at {event}"
    output = {"hookEventName": event, "additionalContext": context}
    print(json.dumps({"hookSpecificOutput": output}))
"""
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop", "PreCompact")
ONE_TURN = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"]
INJECTED = [f"[memory] said at {event}" for event in ONE_TURN[:3]]


class Note:
    """What the hook of a throw-away home was given."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def payloads(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def events(self) -> list[str]:
        return [payload["hook_event_name"] for payload in self.payloads()]


def install_hook(settings: Path, events: tuple[str, ...] = EVENTS) -> Note:
    """Wire the hook into an agent's file for every event."""
    home = settings.parent.parent
    script, log = home / "hook.py", home / "log"
    script.write_text(HOOK)
    command = shlex.join([sys.executable, "-I", "-S", str(script), str(log)])
    group = {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {event: [group] for event in events}}))
    return Note(log)


@pytest.fixture(scope="session", params=CLAUDE_CODE_VERSIONS)
def claude_binary(request: pytest.FixtureRequest) -> Path:
    return install("claude-code", request.param)


@pytest.fixture(scope="session")
def codex_binary() -> Path:
    return install("codex", CODEX_VERSION)


@pytest.fixture
def messages() -> Iterator[ScriptedModel]:
    with messages_endpoint() as model:
        yield model


@pytest.fixture
def responses() -> Iterator[ScriptedModel]:
    with responses_endpoint(cap=12) as model:
        yield model


@pytest.fixture
def claude(
    claude_binary: Path, messages: ScriptedModel, isolated_environment: Path, tmp_path: Path
) -> ClaudeCode:
    return ClaudeCode(claude_binary, isolated_environment, messages.url, tmp_path)


@pytest.fixture
def codex(
    codex_binary: Path, responses: ScriptedModel, isolated_environment: Path, tmp_path: Path
) -> Codex:
    home = isolated_environment
    return Codex(codex_binary, home, responses.url, tmp_path, bypass_trust=True)


# -- the scripted model ------------------------------------------------------------------------


def test_directives_are_carried_out_in_order_and_then_answered():
    prompt = "Do {{tool: ls -l}} and {{agent: look [[tool: pwd]]}}. {{say: both done}}"
    assert next_move(Turn(prompt, 0), 1) == Move(1, command="ls -l", text="Done.")
    assert next_move(Turn(prompt, 1), 2) == Move(2, task="look {{tool: pwd}}", text="Done.")
    assert next_move(Turn(prompt, 2), 3) == Move(3, text="both done")
    assert next_move(Turn("anything else {{tokens: 900}}", 0), 4) == Move(4, tokens=900)


def test_the_prompt_is_the_users_last_and_no_memory_is_taken_for_it(messages: ScriptedModel):
    body = {
        "messages": [
            {"role": "user", "content": "earlier {{say: wrong}}"},
            {"role": "assistant", "content": [{"type": "text", "text": "wrong"}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<system-reminder>{{say: worse}}</system-reminder>"},
                    {"type": "text", "text": "now {{say: right}}"},
                ],
            },
            {"role": "system", "content": "UserPromptSubmit hook additional context: {{say: no}}"},
        ]
    }
    answer = httpx.post(f"{messages.url}/v1/messages", json=body).json()
    assert answer["content"] == [{"type": "text", "text": "right"}]
    assert answer["stop_reason"] == "end_turn"
    assert messages.prompts() == ["now {{say: right}}"]
    assert messages.context_texts() == ["{{say: no}}"]


def test_every_place_where_claude_code_puts_hook_text_is_read():
    wire = Messages()
    reminder = "<system-reminder>\nPostToolUse:Bash hook additional context: {}\n</system-reminder>"
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"out\n\n{reminder}"}
    system = (
        "SessionStart hook additional context: one\nmore\n"
        "UserPromptSubmit hook success: two\nPostToolUse:Bash hook additional context: three"
    )
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": reminder.format("zero")}]},
            {"role": "system", "content": [{"type": "text", "text": system}]},
            {"role": "user", "content": [result | {"content": reminder.format("four")}]},
        ]
    }
    assert wire.injected(body) == ["zero", "one\nmore\n", "two\n", "three", "four"]


def test_requests_beyond_the_cap_are_refused():
    body = {"messages": [{"role": "user", "content": "hello"}]}
    with messages_endpoint(cap=1) as model:
        statuses = [httpx.post(f"{model.url}/v1/messages", json=body).status_code for _ in range(3)]
        assert statuses == [200, 400, 400]
        assert (len(model.requests), model.refused) == (1, 2)


def test_a_held_request_is_recorded_and_answered_on_release(responses: ScriptedModel):
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hold"}]}
    answers: list[str] = []

    def ask() -> None:
        answer = httpx.post(
            f"{responses.url}/v1/responses", json={"input": [item], "stream": True}, timeout=60
        )
        answers.append(answer.text)

    asking = threading.Thread(target=ask)
    with responses.held("hold"):
        asking.start()
        responses.wait_for("hold")
        assert answers == []
    asking.join(20)
    assert "event: response.completed" in answers[0]


def test_other_paths_are_answered_as_the_providers_would(
    messages: ScriptedModel, responses: ScriptedModel
):
    counted = httpx.post(f"{messages.url}/v1/messages/count_tokens?beta=true", json={})
    assert counted.json() == {"input_tokens": 10}
    assert httpx.head(messages.url).status_code == 200
    assert httpx.get(f"{responses.url}/v1/models").status_code == 404
    assert messages.requests == responses.requests == []


# -- Claude Code -------------------------------------------------------------------------------


def test_claude_code_hooks_fire_and_their_text_is_in_the_model_request(
    claude: ClaudeCode, messages: ScriptedModel, isolated_environment: Path
):
    note = install_hook(isolated_environment / ".claude" / "settings.json")

    done = claude.prompt("Try it. {{tool: echo marked-$((40 + 2))}} {{say: tried}}")

    assert (done.returncode, done.answer, done.stderr) == (0, "tried", "")
    assert note.events() == ONE_TURN
    assert {payload["session_id"] for payload in note.payloads()} == {done.session}
    assert note.payloads()[2]["tool_response"]["stdout"] == "marked-42"
    assert "marked-42" in json.dumps(messages.wait_for("Try it", results=1)["messages"])
    assert [text.split("\n")[0] for text in messages.context_texts()] == INJECTED
    assert [text.split("\n")[0] for text in messages.context_texts(0)] == INJECTED[:2]


def test_claude_code_resumes_and_talks_for_several_turns(
    claude: ClaudeCode, messages: ScriptedModel
):
    first = claude.prompt("First. {{say: one}}")
    again = claude.resume(first.session, "Second.")
    assert (again.returncode, again.answer, again.session) == (0, "Done.", first.session)
    assert "First." in json.dumps(messages.requests[-1]["messages"])
    with claude.converse() as conversation:
        assert conversation.say("Third. {{say: three}}") == "three"
        assert conversation.say("Fourth.") == "Done."
        assert conversation.end() == 0


def test_claude_code_starts_sub_agents_and_compacts(
    claude: ClaudeCode, messages: ScriptedModel, isolated_environment: Path
):
    note = install_hook(isolated_environment / ".claude" / "settings.json")
    done = claude.prompt("Ask. {{agent: look around [[tool: echo below]]}} {{say: asked}}")
    assert done.answer == "asked"
    assert "look around {{tool: echo below}}" in messages.prompts()
    assert note.events().count("SubagentStop") == 1

    assert claude.resume(done.session, "/compact").returncode == 0
    assert "PreCompact" in note.events()
    assert claude.resume(done.session, "And after?").answer == "Done."


# -- Codex -------------------------------------------------------------------------------------


def test_codex_hooks_fire_and_their_text_is_in_the_model_request(
    codex: Codex, responses: ScriptedModel, isolated_environment: Path
):
    note = install_hook(isolated_environment / ".codex" / "hooks.json")

    done = codex.prompt("Try it. {{tool: echo marked-$((40 + 2))}} {{say: tried}}")

    assert (done.returncode, done.answer) == (0, "tried")
    assert note.events() == ONE_TURN
    assert {payload["session_id"] for payload in note.payloads()} == {done.session}
    assert note.payloads()[2]["tool_response"].strip() == "marked-42"
    assert responses.context_texts() == INJECTED
    assert responses.context_texts(0) == INJECTED[:2]


def test_codex_runs_no_hook_that_nobody_trusts(
    codex_binary: Path, responses: ScriptedModel, isolated_environment: Path, tmp_path: Path
):
    note = install_hook(isolated_environment / ".codex" / "hooks.json")
    codex = Codex(codex_binary, isolated_environment, responses.url, tmp_path)
    assert codex.prompt("Hello. {{say: hi}}").answer == "hi"
    assert note.events() == []
    assert responses.context_texts() == []


def test_codex_resumes_and_compacts(
    codex_binary: Path, responses: ScriptedModel, isolated_environment: Path, tmp_path: Path
):
    note = install_hook(isolated_environment / ".codex" / "hooks.json")
    codex = Codex(
        codex_binary,
        isolated_environment,
        responses.url,
        tmp_path,
        bypass_trust=True,
        settings="model_auto_compact_token_limit = 1000",
    )
    done = codex.prompt("Fill it. {{tool: echo x}} {{tokens: 5000}}")
    assert (done.returncode, done.answer) == (0, "Done.")
    assert "PreCompact" in note.events()
    again = codex.resume(done.session, "And after? {{say: still here}}")
    assert (again.answer, again.session) == ("still here", done.session)


def test_codex_that_runs_in_circles_is_ended_by_the_cap(
    codex: Codex, responses: ScriptedModel, isolated_environment: Path
):
    settings = isolated_environment / ".codex" / "hooks.json"
    install_hook(settings, ("Stop",))
    looping = {"type": "command", "command": """echo '{"decision":"block","reason":"go on"}'"""}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [looping]}]}}))

    done = codex.prompt("Hello.")

    assert done.returncode != 0
    assert len(responses.requests) == 12
    assert responses.refused >= 1


# -- pi ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", PACKAGES)
def test_pi_calls_its_tools_and_resumes(version: str, isolated_environment: Path):
    with chat_model() as model:
        pi = PiDriver(version, isolated_environment, model.url, {})
        done = pi.prompt("Try it. {{tool: echo marked-$((40 + 2))}} {{say: tried}}")
        assert (done.returncode, done.answer, done.stderr) == (0, "tried", "")
        assert "marked-42" in json.dumps(model.wait_for("Try it", results=1)["messages"])
        again = pi.resume(done.session, "And again?")
    assert (again.answer, again.session) == ("Done.", done.session)
    assert "Try it." in json.dumps(model.requests[-1]["messages"])
    assert model.context_texts() == []


def test_what_our_extension_injects_is_not_taken_for_the_prompt():
    memory = "=== Cognee memory ===\n{{say: wrong}}\n=== End Cognee memory ==="
    messages = [{"role": "user", "content": text} for text in ("now {{say: right}}", memory)]
    wire = Chat()
    assert wire.turn({"messages": messages}) == Turn("now {{say: right}}", 0)
    assert wire.injected({"messages": messages}) == [memory]


# -- processes ---------------------------------------------------------------------------------


def test_a_killed_agent_leaves_no_answer_and_no_process(codex: Codex, responses: ScriptedModel):
    with responses.held("Wait"), codex.start("Wait for me.") as running:
        responses.wait_for("Wait")
        running.kill()
        done = running.wait(60)
    assert (done.returncode, done.answer) == (-9, "")


def test_an_agent_that_takes_too_long_is_ended(codex: Codex, responses: ScriptedModel):
    began = time.monotonic()
    with (
        responses.held("Wait"),
        codex.start("Wait for me.") as running,
        pytest.raises(AssertionError, match=r"ran for 1\.0 s"),
    ):
        running.wait(1.0)
    assert time.monotonic() - began < 45


def test_an_agent_sees_nothing_of_the_developers_shell(
    codex: Codex, responses: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ONLY_IN_THE_SHELL", "1")
    done = codex.prompt("Look. {{tool: env}}")
    seen = json.dumps(responses.requests[-1])
    assert done.returncode == 0
    assert "LANG=C.UTF-8" in seen
    assert "ONLY_IN_THE_SHELL" not in seen
