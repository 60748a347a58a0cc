from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from cognee_hooks import Host
from cognee_hooks.agents.pi import Pi
from cognee_hooks.cli.run import FLUSH_SECONDS, LOAD_SECONDS, event_budget
from tests.support.command import START_UP, command, install_plugin, payload
from tests.support.servers import Server

CLOSED = "http://127.0.0.1:9"
EVENTS = {
    "SessionStart": "SessionStart.startup",
    "UserPromptSubmit": "UserPromptSubmit",
    "PostToolUse": "PostToolUse.Bash",
    "PostToolUseFailure": "PostToolUseFailure.Bash",
    "Stop": "Stop",
    "PreCompact": "PreCompact.auto",
    "SessionEnd": "SessionEnd.other",
}
OUTAGE = "=== Cognee memory: recall skipped (server unreachable) ==="


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", CLOSED)


async def test_a_prompt_gets_memory_that_an_earlier_turn_left(
    embedded_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_BASE_URL", embedded_server.url)
    monkeypatch.setenv("COGNEE_API_KEY", embedded_server.key)
    monkeypatch.setenv("COGNEE_PLUGIN_DATASET", "cli_run")
    earlier = {"session_id": "earlier", "prompt_id": "p"}
    question = payload("UserPromptSubmit", **earlier, prompt="Where does billing listen?")
    assert (await command("run", "claude-code", "UserPromptSubmit", stdin=question)).code == 0
    answer = payload("Stop", **earlier, last_assistant_message="Billing listens on port 7431.")
    assert (await command("run", "claude-code", "Stop", stdin=answer)).out == ""

    done = await command(
        "run", "claude-code", "UserPromptSubmit", stdin=question | {"session_id": "b"}
    )

    context = done.json["hookSpecificOutput"]["additionalContext"]
    assert "Billing listens on port 7431." in context
    assert done.code == 0


async def test_a_session_start_opens_the_dataset_on_the_server() -> None:
    from tests.support.fake_server import FakeServer

    async with FakeServer() as server:
        done = await command(
            "run",
            "claude-code",
            "SessionStart",
            stdin=payload("SessionStart.startup"),
            COGNEE_BASE_URL=server.url,
            COGNEE_API_KEY="k",
        )
        assert (done.code, done.out) == (0, "")
        assert "/api/v1/recall" in server.paths()


def test_an_events_budget_is_that_of_what_it_means_whatever_the_agent_calls_it(
    isolated_environment,
) -> None:
    environ = {"HOME": str(isolated_environment), "COGNEE_RECALL_TIMEOUT_MS": "7000"}
    host = Host("pi", environ=environ)
    prompt = Pi().read("before_agent_start", {"prompt": "hello"}, session_id="s")
    end = Pi().read("session_shutdown", {}, session_id="s")
    assert event_budget(host, prompt) == 7
    assert event_budget(host, end) == host.registry.policies["cognee_session_end"].budget
    assert event_budget(host, Pi().read("agent_end", {}, session_id="s")) == FLUSH_SECONDS
    assert event_budget(host, None) == FLUSH_SECONDS


async def test_the_payload_is_used_while_the_pipe_stays_open() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cognee_hooks", "run", "claude-code", "UserPromptSubmit"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(payload("UserPromptSubmit")).encode())
    await process.stdin.drain()
    async with asyncio.timeout(4 + START_UP):
        out = await process.stdout.read()
        assert await process.wait() == 0
    assert OUTAGE in out.decode()
    process.stdin.close()


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{", b"\xff\xff", b"not json at all"])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
async def test_a_payload_that_is_none_is_passed_over(data: bytes, event: str) -> None:
    done = await command("run", "claude-code", event, stdin=data)
    assert (done.code, done.out, done.err) == (0, "", "")


async def test_an_event_that_is_not_used_is_passed_over() -> None:
    done = await command("run", "claude-code", "Notification", stdin={"session_id": "s"})
    assert (done.code, done.out) == (0, "")


async def test_an_agent_that_works_for_us_is_not_captured() -> None:
    document = payload("UserPromptSubmit")
    done = await command(
        "run", "claude-code", "UserPromptSubmit", stdin=document, COGNEE_HOOKS_NESTED="1"
    )
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize("arguments", [["run"], ["run", "claude-code"], ["run", "nobody", "Stop"]])
async def test_wrong_usage_is_said_and_never_ends_with_2(arguments: list[str]) -> None:
    done = await command(*arguments, stdin={"session_id": "s"})
    assert done.code == 1
    assert done.err.startswith("cognee-hooks: ")
    assert done.out == ""


async def test_an_unknown_agent_is_named_with_those_that_there_are() -> None:
    done = await command("run", "nobody", "Stop", stdin={})
    assert "'nobody'" in done.err
    assert "claude-code" in done.err


async def test_nobody_reading_the_answer_is_survived() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "cognee_hooks", "run", "claude-code", "UserPromptSubmit"),
        stdin=asyncio.subprocess.PIPE,
        stdout=writer,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writer)
    _, err = await process.communicate(json.dumps(payload("UserPromptSubmit")).encode())
    assert process.returncode == 0
    assert b"Traceback" not in err


HOSTILE = {
    "blocks_the_loop": """
        async def cognee_user_prompt_submit(self, event):
            time.sleep(60)
        async def cognee_stop(self, event):
            time.sleep(60)
    """,
    "exits": """
        def cognee_user_prompt_submit(self, event):
            sys.exit(2)
        def cognee_stop(self, event):
            raise SystemExit(2)
    """,
    "prints": """
        def cognee_user_prompt_submit(self, event):
            print('{"decision": "block"}')
            os.write(1, b"noise")
            subprocess.run([sys.executable, "-c", "print('noise of a program')"])
        def cognee_stop(self, event):
            print("noise", flush=True)
    """,
}


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_a_hostile_plugin_changes_neither_exit_code_nor_output(tmp_path, name, event) -> None:
    import textwrap

    body = textwrap.indent(textwrap.dedent(HOSTILE[name]).replace("def ", "def "), "    ")
    body = body.replace("    async def", "    @hookimpl\n    async def")
    body = body.replace("\n    def", "\n    @hookimpl\n    def")
    source = (
        "import os, subprocess, sys, time\nfrom cognee_hooks import hookimpl\n\n\nclass Plugin:"
        f"\n{body}\n\ndef plugin(context):\n    return Plugin()\n"
    )
    path = install_plugin(tmp_path, name, source)
    listed = await command("plugins", "--json", PYTHONPATH=path)
    assert [each["state"] for each in listed.json if each["name"] == name] == ["active"]

    done = await command(
        "run",
        "claude-code",
        event,
        stdin=payload(event),
        PYTHONPATH=path,
        COGNEE_RECALL_TIMEOUT_MS="1000" if name == "blocks_the_loop" else "9000",
    )

    assert done.code == 0
    assert "noise" not in done.out
    assert done.seconds < 4.5 + START_UP
    if event == "Stop":
        assert done.out == ""
    elif name != "blocks_the_loop":
        assert done.json["hookSpecificOutput"]["additionalContext"] == OUTAGE


async def test_a_plugin_that_hangs_while_it_is_imported_is_left_behind(tmp_path) -> None:
    path = install_plugin(tmp_path, "sleepy", "import time\ntime.sleep(60)\n")
    document = payload("UserPromptSubmit")
    for _ in range(4):  # all else may take its time, too, on a busy machine
        done = await command(
            "run", "claude-code", "UserPromptSubmit", stdin=document, PYTHONPATH=path
        )
        assert done.code == 0
        assert done.seconds < LOAD_SECONDS + START_UP
        if OUTAGE in done.out:
            break
    assert OUTAGE in done.out


async def test_an_event_is_passed_over_where_several_plugins_hang(tmp_path) -> None:
    for name in ("sleepy", "tired", "weary"):
        path = install_plugin(tmp_path, name, "import time\ntime.sleep(60)\n")
    done = await command("run", "claude-code", "Stop", stdin=payload("Stop"), PYTHONPATH=path)
    assert (done.code, done.out) == (0, "")
    assert done.seconds < LOAD_SECONDS + START_UP
    assert "importing the plugins took more than" in done.err


async def test_a_broken_configuration_is_survived(isolated_environment) -> None:
    folder = isolated_environment / "config" / "cognee-hooks"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_bytes(b"\xff: [}: not yaml")
    document = payload("UserPromptSubmit", cwd=str(isolated_environment))
    (isolated_environment / ".cognee-hooks.yaml").write_text("plugins: 7\nbase_url: http://evil")
    done = await command("run", "claude-code", "UserPromptSubmit", stdin=document)
    assert done.code == 0
    assert OUTAGE in done.out
