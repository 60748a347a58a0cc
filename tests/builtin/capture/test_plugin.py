from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from builtin_plugins.capture.settings import DEFAULT_TOOLS
from builtin_plugins.capture.summary import LIMIT
from cognee_hooks import Redactor, hookimpl
from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import PostToolUse, PostToolUseFailure, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import CheckStatus
from tests.support.faults import failures
from tests.support.scripted import ENTRY, RECALL, fails, scripted_host
from tests.support.waiting import PATIENCE, until

SID = "claude_s1"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PAYLOADS = Path(__file__).parents[2] / "data" / "claude-code"


@pytest.fixture
def host(client, isolated_environment):
    return scripted_host(isolated_environment, client)


async def asks(host: Host, prompt: str, **fields) -> None:
    await host.user_prompt_submit(UserPromptSubmit(session_id=SID, prompt=prompt, **fields))


async def answers(host: Host, text: str, **fields) -> None:
    await host.stop(Stop(session_id=SID, last_assistant_message=text, **fields))
    await host.flush(Deadline.after(PATIENCE))


async def uses(host: Host, tool: str = "Bash", response: object = "ok", **tool_input) -> None:
    await host.post_tool_use(
        PostToolUse(session_id=SID, tool_name=tool, tool_input=tool_input, tool_response=response)
    )
    await host.flush(Deadline.after(PATIENCE))


# -- turns -------------------------------------------------------------------------------------


async def test_a_turn_is_stored_as_question_and_answer(host, client):
    await asks(host, " what is X? ")
    await answers(host, " Y ")
    (body,) = client.bodies(ENTRY)
    assert body["entry"] == {
        "type": "qa",
        "question": "what is X?",
        "answer": "Y",
        "context": "claude-code · dataset agent_sessions",
    }
    assert body["session_id"] == SID
    assert body["dataset_name"] == "agent_sessions"


async def test_a_prompt_of_five_characters_is_kept(host, client):
    await asks(host, "go on")
    await answers(host, "Y")
    assert client.entries[0]["question"] == "go on"


@pytest.mark.parametrize("prompt", ["ok", "/help", "  /help me please", "<private>all</private>"])
async def test_an_answer_without_a_question_worth_keeping_is_not_stored(host, client, prompt):
    await asks(host, prompt)
    await answers(host, "Y")
    assert client.entries == []


@pytest.mark.parametrize("prompt", ["more", "/compact"])
async def test_a_new_turn_never_takes_the_question_of_the_turn_before(host, client, prompt):
    await asks(host, "first question", prompt_id="p1")
    await asks(host, prompt, prompt_id="p2")
    await answers(host, "Y")
    assert client.entries == []


async def test_within_one_turn_a_short_addition_keeps_the_question(host, client):
    await asks(host, "first question", prompt_id="p1")
    await asks(host, "more", prompt_id="p1")
    await answers(host, "Y")
    assert client.entries[0]["question"] == "first question"


async def test_within_one_turn_the_last_question_counts(host, client):
    await asks(host, "first question", prompt_id="p1")
    await asks(host, "go on", prompt_id="p1")
    await answers(host, "Y")
    assert client.entries[0]["question"] == "go on"


@pytest.mark.parametrize("size", [4001, 16_000, 16_001, 100_000])
async def test_a_long_question_is_cut_and_kept_with_its_answer(host, client, size):
    await asks(host, "q" * size)
    await answers(host, "a" * 20_000)
    (entry,) = client.entries
    assert len(entry["question"].encode()) == 4000
    assert len(entry["answer"].encode()) == 8000


async def test_a_question_without_an_answer_text_is_kept(host, client):
    await asks(host, "what is X?")
    await answers(host, "")
    assert client.entries[0]["answer"] == ""


async def test_an_answer_is_stored_once(host, client):
    await asks(host, "what is X?")
    await answers(host, "Y")
    await answers(host, "Y again", stop_hook_active=True)
    assert len(client.entries) == 1


async def test_the_question_waits_for_its_answer_in_another_process(client, isolated_environment):
    first = scripted_host(isolated_environment, client)
    await asks(first, "what is X?")
    await first.close(Deadline.after(PATIENCE))
    await answers(scripted_host(isolated_environment, client), "Y")
    assert client.entries[0]["question"] == "what is X?"


async def test_what_a_sub_agent_says_is_no_turn_of_the_user(host, client):
    await asks(host, "what is X?")
    await answers(host, "from inside", agent_id="a1")
    await answers(host, "Y")
    assert [entry["answer"] for entry in client.entries] == ["Y"]


async def test_prompts_that_the_agent_wrote_touch_nothing(host, client):
    await asks(host, "what is X?")
    await asks(host, "<task-notification>done</task-notification>", machine_made=True)
    await answers(host, "Y")
    assert client.entries[0]["question"] == "what is X?"


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("=== Cognee memory ===\nold\n=== End Cognee memory ===\nmy own words", "my own words"),
        (
            (
                "before\n=== Cognee memory ===\na\n=== End Cognee memory ===\n"
                "=== Cognee memory: x ===\nb\n=== End Cognee memory ===\nafter"
            ),
            "before\nafter",
        ),
        (
            "why is there a === Cognee memory === line?",
            "why is there a === Cognee memory === line?",
        ),
    ],
)
async def test_injected_blocks_that_come_back_are_cut_out_of_the_question(
    host, client, prompt, kept
):
    await asks(host, prompt)
    await answers(host, "Y")
    assert client.entries[0]["question"] == kept


# -- what must not leave -------------------------------------------------------------------------


async def test_secrets_are_taken_out_of_questions_answers_and_traces(host, client):
    await asks(host, f"why does {TOKEN} not work?")
    await uses(host, command=f"curl -H 'Authorization: token {TOKEN}' x", response=f"T={TOKEN}")
    await answers(host, f"Because {TOKEN} expired.")
    assert len(client.entries) == 2
    assert TOKEN not in str(client.unsent)
    assert "why does [redacted:" in client.entries[1]["question"]


@pytest.mark.parametrize("down", [False, True])
async def test_no_byte_of_private_text_is_in_any_file_or_request(
    client, isolated_environment, down, caplog
):
    host = scripted_host(isolated_environment, client)
    if down:
        client.scripts[ENTRY] = client.scripts[RECALL] = fails(FailureKind.REFUSED)
    hidden = "zq" + "xprivatex" * 3
    await asks(host, f"please check <private>{hidden}</private> the build")
    await uses(host, command="make", response=f"ok <private>{hidden}</private> done")
    await answers(host, f"fine <private>{hidden} never closed")
    await asks(host, f"<private>{hidden}</private>")
    await answers(host, "done with it")
    await host.close(Deadline.after(PATIENCE))
    files = [each for each in isolated_environment.rglob("*") if each.is_file()]
    assert files
    assert not [each for each in files if hidden.encode() in each.read_bytes()]
    assert hidden not in str(client.unsent)
    assert hidden not in caplog.text
    assert "please check" in str(client.unsent)
    assert "done with it" not in str(client.unsent)


@pytest.mark.parametrize(
    "path", [".env.production", "deploy/id_rsa", "~/.aws/credentials", "/home/u/.ssh/config"]
)
async def test_a_call_that_touches_a_denied_file_leaves_no_trace(host, client, path):
    await uses(host, "Read", {"file": {"content": "PLAIN-CONTENT"}}, file_path=path)
    await uses(host, "Bash", "PLAIN-CONTENT", command=f"cat {path}")
    assert client.entries == []
    assert host.drops.as_dict() == {"denied_path": 2}


async def test_capture_that_is_off_writes_nothing(client, isolated_environment):
    host = scripted_host(isolated_environment, client, COGNEE_CAPTURE="false")
    await asks(host, "what is X?")
    await uses(host, command="ls")
    await answers(host, "Y")
    assert client.unsent == []
    assert not list(isolated_environment.rglob("sessions/*/*.json"))


@pytest.mark.expects_faults
async def test_where_a_redactor_raises_nothing_is_kept_and_it_is_counted(
    client, isolated_environment
):
    class Broken:
        @hookimpl
        def cognee_register_redactors(self):
            return [Redactor(name="broken", function=lambda text: text[10**9])]

    host = Host(
        "claude-code",
        environ={"HOME": str(isolated_environment)},
        session_id=SID,
        client=client,
        plugins={"broken": Broken()},
        entry_points=(),
    )
    await asks(host, "what is X?")
    await uses(host, command="ls")
    await answers(host, "Y")
    assert client.unsent == []
    assert host.drops.as_dict()["redaction_failed"] == 2
    assert any("broken" in notice.text for notice in host.notices.take())


# -- traces ------------------------------------------------------------------------------------


async def test_a_call_is_stored_as_a_trace(host, client):
    await uses(host, command="echo 3 passed", description="Run", response={"stdout": "3 passed"})
    assert client.entries == [
        {
            "type": "trace",
            "origin_function": "Bash",
            "status": "success",
            "method_params": {"command": "echo 3 passed", "description": "Run"},
            "method_return_value": "echo 3 passed\n3 passed",
            "error_message": "",
            "generate_feedback_with_llm": False,
        }
    ]


async def test_a_failed_call_carries_its_error(host, client):
    await host.post_tool_use_failure(
        PostToolUseFailure(
            session_id=SID,
            tool_name="Bash",
            tool_input={"command": "false"},
            error="Exit code 1\n" + "x" * 2000,
        )
    )
    await host.flush(Deadline.after(PATIENCE))
    (entry,) = client.entries
    assert entry["status"] == "error"
    assert entry["error_message"].startswith("Exit code 1")
    assert len(entry["error_message"].encode()) == 500
    assert entry["method_return_value"].startswith("false\nExit code 1")


async def test_a_failure_without_a_text_is_still_a_failure(host, client):
    await host.post_tool_use_failure(PostToolUseFailure(session_id=SID, tool_name="Bash"))
    await host.flush(Deadline.after(PATIENCE))
    assert client.entries[0]["status"] == "error"
    assert client.entries[0]["error_message"]


async def test_the_return_value_fits_what_the_server_keeps(host, client):
    await uses(host, command="make " + "x" * 900, response="begin" + "y" * 5000 + "the end")
    value = client.entries[0]["method_return_value"]
    assert value.startswith("make ")
    assert value.endswith("the end")
    assert len(value) <= LIMIT


async def test_at_most_twenty_arguments_are_kept_each_as_text_and_cut(host, client):
    await uses(
        host, "Write", "ok", file_path="/a", content="ü" * 3000, flag=True, more=[1, {"a": 2}]
    )
    params = client.entries[0]["method_params"]
    assert params["flag"] == "true"
    assert params["more"] == '[1,{"a":2}]'
    assert len(params["content"].encode()) <= 4000
    await uses(host, **{f"k{number}": number for number in range(30)})
    assert len(client.entries[1]["method_params"]) == 20


async def test_a_key_that_straddles_a_cap_leaves_no_fragment(host, client):
    for offset in range(3990 - len(TOKEN), 4010, 3):
        await uses(host, "Write", "ok", content=f"{'x' * offset} {TOKEN} tail")
    assert len(client.entries) > 10
    assert TOKEN[:12] not in str(client.entries)
    assert TOKEN[-8:] not in str(client.entries)


@pytest.mark.parametrize(
    ("tool", "command", "reason"),
    [
        ("cognee_search", "", "own_tool"),
        ("mcp__cognee__cognee_remember", "", "own_tool"),
        ("Bash", "cognee-hooks doctor", "own_tool"),
        ("Bash", "make && cognee-cli add x", "own_tool"),
        ("Agent", "", "tool_not_allowed"),
        ("TaskCreate", "", "tool_not_allowed"),
        ("", "", "tool_not_allowed"),
        ("bash ", "", "tool_not_allowed"),
    ],
)
async def test_calls_that_are_not_kept_are_counted_with_their_reason(
    host, client, tool, command, reason
):
    await uses(host, tool, command=command)
    assert client.entries == []
    assert host.drops.as_dict() == {reason: 1}


@pytest.mark.parametrize(
    "command", ["cd ~/src/cognee && pytest", "cat cognee/api/v1/recall.py", "git log -- cognee"]
)
async def test_work_inside_a_repository_named_cognee_is_kept(host, client, command):
    await uses(host, command=command)
    assert client.entries[0]["method_params"]["command"] == command


async def test_a_list_of_tools_replaces_the_default_and_a_bad_pattern_costs_no_other(
    client, isolated_environment
):
    host = scripted_host(isolated_environment, client, COGNEE_CAPTURE_TOOLS="mcp__x__*|[z-a]")
    await uses(host, "Bash", command="ls")
    await uses(host, "mcp__x__y", a=1)
    assert [entry["origin_function"] for entry in client.entries] == ["mcp__x__y"]
    check, policy = host.registry.manager.get_plugin("capture").cognee_doctor_checks()
    assert check.status is CheckStatus.WARNING
    assert "[z-a]" in check.detail
    assert "(your own)" in policy.detail


async def test_the_users_own_deny_patterns_are_added(client, isolated_environment):
    host = scripted_host(isolated_environment, client, COGNEE_CAPTURE_DENY_PATHS="*.tfvars")
    await uses(host, "Read", file_path="prod.tfvars")
    await uses(host, "Read", file_path=".env")
    assert client.entries == []


async def test_commit_ids_are_kept_as_they_are(host, client):
    ids = "0fda534e 4c536992\n" + "9a" * 20
    await asks(host, "shipped via #1466, squash 0fda534e, merge 4c536992")
    await uses(host, command="git log --format=%H", response=ids)
    await answers(host, "noted")
    assert ids in client.entries[0]["method_return_value"]
    assert client.entries[1]["question"] == "shipped via #1466, squash 0fda534e, merge 4c536992"


async def test_entries_keep_their_order_where_redaction_is_slow(client, isolated_environment):
    class Slow:
        def __init__(self):
            self.pauses = iter([0.03, 0.02, 0.01])

        @hookimpl
        def cognee_register_redactors(self):
            return [Redactor(name="slow", function=self.redact)]

        def redact(self, text):
            time.sleep(next(self.pauses, 0))
            return text

    host = Host(
        "claude-code",
        environ={"HOME": str(isolated_environment)},
        session_id=SID,
        client=client,
        plugins={"slow": Slow()},
        entry_points=(),
    )
    for number in range(5):
        event = PostToolUse(
            session_id=SID, tool_name="Bash", tool_input={"command": f"run {number}"}
        )
        await host.post_tool_use(event)
    await host.flush(Deadline.after(PATIENCE))
    assert [each["method_params"]["command"] for each in client.entries] == [
        f"run {number}" for number in range(5)
    ]


async def test_the_hooks_do_not_wait_for_the_server(host, client):
    client.delays[ENTRY] = 2 * PATIENCE
    event = PostToolUse(session_id=SID, tool_name="Bash", tool_input={"command": "ls"})
    await asyncio.wait_for(host.post_tool_use(event), PATIENCE)
    await until(lambda: len(client.entries) == 1)
    await host.close(Deadline.after(0))


@pytest.mark.parametrize("tool_input", ["text", ["a", "b"], 7, None, True, {"command": None}])
async def test_arguments_of_any_shape_are_survived(host, client, tool_input):
    payload = {"tool_name": "Bash", "tool_input": tool_input, "tool_response": [None, 3, {}]}
    event = ClaudeCode().read("PostToolUse", payload, session_id=SID)
    await host.dispatch(event)
    await host.flush(Deadline.after(PATIENCE))
    assert client.entries[0]["origin_function"] == "Bash"
    assert failures(host) == []


@pytest.mark.parametrize(
    "path",
    sorted(PAYLOADS.glob("*/PostToolUse*.json")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
async def test_every_captured_call_is_kept_or_counted(host, client, path):
    payload = json.loads(path.read_text())
    event = ClaudeCode().read(payload["hook_event_name"], payload, session_id=SID)
    await host.dispatch(event)
    await host.flush(Deadline.after(PATIENCE))
    assert len(client.entries) + sum(host.drops.as_dict().values()) == 1
    assert bool(client.entries) is (payload["tool_name"] in {"Bash", "Read", "Edit", "Write"})


async def test_the_doctor_says_whether_capture_is_on_and_what_it_keeps(
    client, isolated_environment
):
    def rows(**environ):
        host = scripted_host(isolated_environment, client, **environ)
        return host.registry.manager.get_plugin("capture").cognee_doctor_checks()

    on, policy = rows(COGNEE_CAPTURE_DENY_PATHS="*.tfvars,*.sql")
    assert (on.status, on.detail) == (CheckStatus.OK, "on")
    assert policy.status is CheckStatus.OK
    assert policy.detail.startswith(f"tools: {len(DEFAULT_TOOLS)} patterns (the default) · ")
    assert policy.detail.endswith("denied paths of yours: 2 · redaction: on · patterns of yours: 0")
    (off,) = rows(COGNEE_CAPTURE="false")
    assert (off.status, off.detail) == (CheckStatus.INFO, "off")
    assert "COGNEE_CAPTURE=true" in off.remedy


async def test_a_home_that_cannot_be_written_parks_the_question_in_memory(
    client, isolated_environment
):
    (isolated_environment / ".cognee-plugin").write_text("a file where a folder should be")
    host = scripted_host(isolated_environment, client)
    await asks(host, "what is X?")
    await answers(host, "Y")
    assert len(client.entries) == 1


async def test_fifty_rounds_of_our_own_commands_grow_nothing(host, client):
    for _ in range(50):
        await uses(host, command="cognee-hooks doctor")
    assert client.unsent == []
    assert host.drops.as_dict() == {"own_tool": 50}
