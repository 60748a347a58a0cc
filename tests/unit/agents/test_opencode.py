from __future__ import annotations

import json
import subprocess
from importlib.resources import files

import pytest

from cognee_hooks.agents import session_id_of
from cognee_hooks.agents.opencode import OpenCode
from tests.support.documented import Documented

agent = OpenCode()
captured = Documented(agent, "1.18.33")
read = captured.read

# Calls the plugin's hooks as OpenCode does, and prints what they left in the system prompt.
HARNESS = """
const hooks = await CogneeHooks({
  client: { session: { messages: async () => { throw new Error("gone"); } } },
  directory: "/home/user/project",
});
const system = ["be helpful"];
const message = { message: { id: "m1" }, parts: [{ type: "text", text: "How are refunds paid?" }] };
await hooks.event?.({ event: { type: "session.created", properties: { info: { id: "s1" } } } });
await hooks.event?.({ event: { type: "session.created", properties: null } });
await hooks.event?.({ event: { type: "lsp.updated", properties: {} } });
await hooks["chat.message"]?.({ sessionID: "s1" }, message);
await hooks["chat.message"]?.({ sessionID: "s2" }, {});
await hooks["experimental.chat.system.transform"]?.({ sessionID: "s1", model: {} }, { system });
await hooks["experimental.chat.system.transform"]?.({ model: {} }, { system });
await hooks["tool.execute.after"]?.({ tool: "bash", sessionID: "s1", callID: "c" }, undefined);
await hooks["experimental.session.compacting"]?.({ sessionID: "s1" }, { context: [] });
await hooks.event?.({ event: { type: "session.idle", properties: { sessionID: "s1" } } });
await hooks.event?.({ event: { type: "session.deleted", properties: { info: { id: "s1" } } } });
await hooks.dispose?.();
console.log(JSON.stringify(system));
"""


def left_behind(launcher: list[str], **environ: str) -> list[str]:
    """What the plugin leaves in the system prompt when it runs this launcher."""
    source = files("cognee_hooks").joinpath("agents", "opencode_plugin.js").read_text("utf-8")
    assert source.count("const LAUNCHER = [];") == 1
    source = source.replace("const LAUNCHER = [];", f"const LAUNCHER = {json.dumps(launcher)};")
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=source + HARNESS,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    system: list[str] = json.loads(done.stdout)
    return system


def test_every_captured_payload_becomes_an_event():
    assert captured.kinds() == {
        "session_start.startup": "SessionStart",
        "session_start.resumed": "SessionStart",
        "user_prompt": "UserPromptSubmit",
        "user_prompt.in-subagent": "UserPromptSubmit",
        "tool_result.bash": "PostToolUse",
        "tool_result.task": "PostToolUse",
        "turn_end": "Stop",
        "turn_end.in-subagent": "Stop",
        "pre_compact": "PreCompact",
        "session_end": "SessionEnd",
    }


def test_fields_are_passed_on():
    assert read("session_start.startup").source == "startup"
    assert read("session_start.resumed").source == "resume"
    prompt = read("user_prompt")
    assert prompt.prompt == "Please run the tests and look at the docs"
    assert prompt.cwd == "/home/user/project"
    call = read("tool_result.bash")
    assert (call.tool_name, call.tool_response) == ("bash", "3 passed\n")
    assert call.tool_input["command"] == "echo 3 passed"
    assert read("turn_end").last_assistant_message == "They pass."
    assert prompt.prompt_id == call.prompt_id == read("turn_end").prompt_id


def test_a_patch_is_a_command_so_that_files_in_it_are_seen():
    patch = "*** Begin Patch\n*** Update File: .env\n+KEY=1\n*** End Patch"
    event = read("tool_result.bash", tool="apply_patch", args={"patchText": patch})
    assert event.tool_input == {"command": patch}


def test_a_sub_agent_belongs_to_the_session_of_the_agent_that_started_it():
    inside, outside = read("turn_end.in-subagent"), read("turn_end")
    assert inside.agent_id
    assert not outside.agent_id
    ids = {session_id_of(agent, json.loads(path.read_text())) for path in captured.paths}
    assert len(ids) == 1


@pytest.mark.parametrize("event", ["chat.message", "session.idle", ""])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id="s") is None


def test_context_goes_where_the_plugin_looks_for_it():
    assert json.loads(agent.answer("user_prompt", "context", "notice")) == {"context": "context"}
    for event in ("session_start", "turn_end", "nonsense"):
        assert agent.answer(event, "context", "notice") == agent.empty(event) == "{}"


def test_the_plugin_puts_context_into_the_system_prompt():
    answer = ["/bin/sh", "-c", """cat >/dev/null; echo '{"context": "=== memory ==="}'"""]
    assert left_behind(answer) == ["be helpful", "=== memory ==="]


@pytest.mark.parametrize(
    "launcher",
    [
        [],
        ["/nonexistent/python"],
        ["/bin/false"],
        ["/bin/sh", "-c", "echo text"],
        ["/bin/sh", "-c", "echo null"],
        ["/bin/sh", "-c", "exec 0<&-; echo '{}'"],
    ],
)
def test_whatever_fails_leaves_the_agent_as_it_is(launcher):
    assert left_behind(launcher) == ["be helpful"]


def test_an_agent_that_works_for_us_is_left_alone():
    answer = ["/bin/sh", "-c", """echo '{"context": "=== memory ==="}'"""]
    assert left_behind(answer, COGNEE_HOOKS_NESTED="1") == ["be helpful"]
