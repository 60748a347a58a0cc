"""P09 to P12: what is secret or private is in no request and in no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builtin_plugins.capture import plugin as capture
from builtin_plugins.recall.settings import RecallSettings
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import PostToolUse, PostToolUseFailure, Stop, UserPromptSubmit
from tests.cases.machine import ENTRY, RECALL, Machine
from tests.support.command import command, payload
from tests.support.fake_server import status
from tests.support.scripted import ScriptedClient, scripted_host
from tests.support.waiting import PATIENCE

CONTENT = "zqplaincontentzq"
KEY = "ghp_" + "aB3" * 12
PASSWORD = "Tr0ub4dor" + "&3xyz"
HIDDEN = "zqhiddenwordzq"

# -- P09 -----------------------------------------------------------------------------------------

DENIED = {
    "environment": ("Read", {"file_path": "/p/.env.production"}),
    "a private key": ("Read", {"file_path": "/p/deploy/id_rsa"}),
    "credentials": ("Read", {"file_path": "~/.aws/credentials"}),
    "on the way through a shell": ("Bash", {"command": "cd deploy && cat id_rsa | head -3"}),
    "with an encoder": ("Bash", {"command": "base64 < ~/.aws/credentials"}),
    "edited": ("Edit", {"file_path": ".env.production", "new_string": CONTENT}),
    "written": ("Write", {"file_path": "/p/.env", "content": CONTENT}),
    "searched": ("Grep", {"pattern": "KEY", "path": "/p/.env.production"}),
}


async def test_p09_a_call_on_a_denied_path_leaves_nothing_anywhere(machine: Machine):
    machine.start()
    for tool, tool_input in DENIED.values():
        await machine.call(tool, {"stdout": CONTENT, "file": {"content": CONTENT}}, **tool_input)
    await machine.turn("What stands in those files?", "They hold settings.")
    await machine.settled(1)
    assert [each["type"] for each in machine.entries] == ["qa"]
    assert machine.places_of(CONTENT) == []
    for name in (".env.production", "id_rsa", ".aws/credentials"):
        assert machine.places_of(name) == []


async def test_p09_a_key_that_a_shell_line_prints_is_a_tag(machine: Machine):
    machine.start()
    await machine.call("Bash", {"stdout": f"token={KEY}\n2 files"}, command="./show-config")
    await machine.settled(1)
    (entry,) = machine.entries
    assert "[redacted:" in entry["method_return_value"]
    assert "2 files" in entry["method_return_value"]
    assert machine.places_of(KEY) == []


async def test_p09_with_capture_off_nothing_is_written_or_asked(machine: Machine):
    machine.environ["COGNEE_CAPTURE"] = "false"
    machine.start()
    assert await machine.prompt("Which port does the billing service use?") == ""
    await machine.call("Bash", {"stdout": "7431"}, command="grep port config.toml")
    await machine.answer("It is 7431.")
    await machine.event("PreCompact", payload("PreCompact.auto", session_id="s1"))
    await machine.event("SessionEnd", payload("SessionEnd.other", session_id="s1"))
    await machine.settled()
    assert {ENTRY, RECALL}.isdisjoint(machine.server.paths())
    assert machine.places_of("7431") == []
    assert machine.places_of("billing") == []


async def test_p09_with_capture_off_what_a_person_asks_for_works(isolated_environment: Path):
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client, COGNEE_CAPTURE="false")
    await host.start()
    shown = await host.registered.commands["search"].run("billing port")
    await host.close(Deadline.after(PATIENCE))
    assert "billing port" in str(client.bodies(RECALL))
    assert shown


# -- P10 -----------------------------------------------------------------------------------------

PRIVATE = {
    "the whole prompt": f"<private>{HIDDEN}</private>",
    "in the middle": f"Look at <private>{HIDDEN}</private> the build of today",
    "never closed": f"Look at the build of today <private>{HIDDEN}",
    "in other letters": f"Look at <PRIVATE>{HIDDEN}</PRIVATE> the build of today",
    "over lines": f"Look at\n<private>\n{HIDDEN}\n</private>\nthe build of today",
}


@pytest.mark.parametrize("down", [False, True], ids=["server up", "server down"])
async def test_p10_private_text_is_in_no_file_and_in_no_request(machine: Machine, down: bool):
    if down:
        machine.server.always(status(503, {"detail": "starting"}))
    machine.start()
    for number, prompt in enumerate(PRIVATE.values()):
        await machine.prompt(prompt, number)
        output = {"stdout": f"ok <private>{HIDDEN}</private> done"}
        await machine.call("Bash", output, number, command=f"make # <private>{HIDDEN}</private>")
        await machine.answer(f"Fine. <private>{HIDDEN}</private>", number)
    transcript = machine.home / "transcript.jsonl"
    line = {"type": "user", "message": {"role": "user", "content": PRIVATE["in the middle"]}}
    transcript.write_text(json.dumps(line).replace(HIDDEN, "zqother" + "wordzq") + "\n")
    compaction = payload("PreCompact.auto", session_id="s1", transcript_path=str(transcript))
    await machine.event("PreCompact", compaction)
    await machine.event("SessionEnd", payload("SessionEnd.other", session_id="s1"))
    await machine.settled(0 if down else 2 * len(PRIVATE))
    assert machine.places_of(HIDDEN) == []
    assert machine.places_of("zqotherwordzq") == [str(transcript)]
    if not down:
        asked = [each for each in machine.questions if "the build of today" in each]
        assert len(asked) == len(PRIVATE) - 1
        assert sorted(each["type"] for each in machine.entries).count("trace") == len(PRIVATE)


# -- P11 -----------------------------------------------------------------------------------------

CAPS = {
    "an argument": (capture.MAX_PARAM_BYTES, lambda text: _call(content=text)),
    "an output": (1000, lambda text: _call(text, command="cat notes")),
    "a long output": (8000, lambda text: _call(text, command="cat notes")),
    "an error": (
        capture.MAX_ERROR_BYTES,
        lambda text: PostToolUseFailure(
            session_id="claude_s1",
            agent="claude-code",
            cwd="/p",
            tool_name="Bash",
            tool_input={"command": "make"},
            error=text,
        ),
    ),
    "a question": (4000, lambda text: UserPromptSubmit(**_common(), prompt=text)),
    "a query": (
        RecallSettings.max_query_bytes,
        lambda text: UserPromptSubmit(**_common(), prompt=text),
    ),
    "an answer": (8000, lambda text: Stop(**_common(), last_assistant_message=text)),
}


def _common() -> dict[str, str]:
    return {"session_id": "claude_s1", "agent": "claude-code", "cwd": "/p"}


def _call(response: object = "ok", **tool_input: str) -> PostToolUse:
    return PostToolUse(**_common(), tool_name="Bash", tool_input=tool_input, tool_response=response)


@pytest.mark.parametrize("field", CAPS)
async def test_p11_no_cut_leaves_a_piece_of_a_key(field, isolated_environment: Path):
    cap, event = CAPS[field]
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client)
    for offset in range(cap - len(KEY) - 2, cap + 3, 2):
        words = ("word " * (offset // 5 + 1))[:offset]
        await host.dispatch(UserPromptSubmit(**_common(), prompt="What is it now?"))
        await host.dispatch(event(f"{words} {KEY} and the end"))
        await host.dispatch(Stop(**_common(), last_assistant_message="Yes, it is."))
    await host.close(Deadline.after(PATIENCE))
    sent = json.dumps([dict(each.body) for each in client.unsent])
    assert "word word" in sent
    pieces = {KEY[start : start + 8] for start in range(len(KEY) - 7)}
    assert not [each for each in pieces if each in sent]


async def test_p11_a_password_before_a_command_is_cut_wherever_it_is_shown(machine: Machine):
    machine.start()
    line = f"PGPASSWORD={PASSWORD} psql -h db.internal -c 'select 1'"
    await machine.call("Bash", {"stdout": "1"}, command=line)
    await machine.prompt(f"Why does `{line}` say no?")
    await machine.answer(f"Because `{line}` names the wrong host.")
    await machine.settled(2)
    assert len(machine.entries) == 2
    assert machine.places_of(PASSWORD) == []
    assert "PGPASSWORD=" in str(machine.entries)
    assert "psql -h db.internal" in str(machine.entries)
    shown = await command("preview", "claude-code", "UserPromptSubmit", stdin={"prompt": line})
    assert PASSWORD not in shown.out + shown.err


# -- P12 -----------------------------------------------------------------------------------------

VALUES = {
    "PASSWORD": "s3cr,et;pass!" + "word%9",
    "BILLING_API_KEY": "8f14e45f-ceea-467f" + "-a0e6-1b9d3c7f5a22",
    "FEED_URL": "https://feeds.example.net/v1?format=json&apiKey=" + "Zx81qPw20mNv",
    "ALERT_WEBHOOK": "https://hooks.slack.com/services/" + "T0AB12CD3/B0EF45GH6/aBcDeFgHiJkLmNoP",
    "DEPLOY_TOKEN": "q1w2e3r4t5y6u7i8o9p0" + "a1s2d3f4g5h6j7k8l9z0",
}
SECRET_PARTS = [
    VALUES["PASSWORD"],
    VALUES["BILLING_API_KEY"],
    VALUES["FEED_URL"].partition("apiKey=")[2],
    VALUES["ALERT_WEBHOOK"].rpartition("/")[2],
    VALUES["DEPLOY_TOKEN"],
]


async def test_p12_an_unquoted_yaml_file_keeps_its_names_and_its_shape(machine: Machine):
    machine.start()
    lines = ["services:", "  web:", "    image: shop:1.4", "    env:"]
    lines += [f"      {name}: {value}" for name, value in VALUES.items()]
    lines += ["    replicas: 3"]
    text = "\n".join(lines)
    await machine.call("Read", {"file": {"content": text}}, file_path="/p/compose.yaml")
    await machine.turn(f"Is this right?\n{text}", f"It is:\n{text}")
    await machine.settled(2)
    assert len(machine.entries) == 2
    for part in SECRET_PARTS:
        assert machine.places_of(part) == []
    turn = machine.entries[1]
    for said in (turn["question"], turn["answer"]):
        kept = [each for each in said.splitlines() if ":" in each]
        names = [each.split(":")[0] for each in kept]
        assert names[-len(lines) :] == [each.split(":")[0] for each in lines]
        assert "    replicas: 3" in said
        assert "format=json" in said
