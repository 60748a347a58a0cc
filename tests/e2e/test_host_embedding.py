"""The example of a Python agent that embeds a host, run as its readers would and in-process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cognee_hooks import hookimpl
from tests.support.sdk_hosts import FACT, QUESTION, Memories
from tests.support.servers import Server
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "host_embedding.py"
PASSWORD = "correct-horse" + "!9battery"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("host_embedding", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def memories(embedded_server: Server, isolated_environment: Path) -> Memories:
    return Memories.fresh(embedded_server, isolated_environment)


class RecordingModel:
    """Calls one tool, then answers, and remembers what it was given."""

    def __init__(self, tool: str = "read_notes", arguments: str = "{}") -> None:
        self.given: list[list[dict[str, Any]]] = []
        self._function = {"name": tool, "arguments": arguments}

    async def __call__(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        self.given.append(list(messages))
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": "Looked it up."}
        call = {"id": "call_1", "type": "function", "function": self._function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_run_as_a_script_the_second_conversation_knows_the_first() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.split("--- conversation 2")
    assert "Cognee memory" not in first
    assert "Cognee memory" in second
    assert first.count("port 7431.") == second.count("answer: The billing service") == 1
    assert PASSWORD not in done.stdout


async def test_the_model_gets_memory_before_the_prompt_and_the_history_does_not_hold_it(
    example: ModuleType, memories: Memories
) -> None:
    await memories.remember()
    model = RecordingModel()
    host = memories.host("my-agent", f"recall_{memories.dataset}")
    async with example.MemoryAgent(host, model, {"read_notes": example.read_notes}) as agent:
        assert await agent.ask(QUESTION) == "Looked it up."
        await agent.ask("hello")
    memory, asked = model.given[0]
    assert FACT in memory["content"]
    assert asked["content"] == QUESTION
    assert FACT not in json.dumps(model.given[2])


async def test_a_password_that_a_tool_read_is_not_on_the_server(
    example: ModuleType, memories: Memories
) -> None:
    session_id = f"secret_{memories.dataset}"
    host = memories.host("my-agent", session_id)
    model = RecordingModel()
    async with example.MemoryAgent(host, model, {"read_notes": example.read_notes}) as agent:
        await agent.ask("Please read the notes.")
    stored = memories.stored(session_id)
    assert "build7.internal" in stored
    assert "Looked it up." in stored
    assert PASSWORD in json.dumps(model.given)
    assert PASSWORD not in stored


async def test_a_tool_that_is_not_there_is_kept_as_a_failure(
    example: ModuleType, memories: Memories
) -> None:
    session_id = f"failure_{memories.dataset}"
    host = memories.host("my-agent", session_id)
    async with example.MemoryAgent(host, RecordingModel("unknown"), {}) as agent:
        await agent.ask("Please read the notes.")
    [trace] = json.loads(memories.stored(session_id))["traces"]
    assert (trace["origin_function"], trace["status"]) == ("unknown", "error")


async def test_without_a_server_the_model_gets_one_line_and_the_end_keeps_its_deadline(
    example: ModuleType, memories: Memories, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"COGNEE_BASE_URL": "http://127.0.0.1:9"}
    host = memories.host("my-agent", "offline", environ=environ)
    model = RecordingModel()
    started = time.monotonic()
    async with example.MemoryAgent(host, model, {"read_notes": example.read_notes}) as agent:
        assert await agent.ask(QUESTION) == "Looked it up."
    assert time.monotonic() - started < example.CLOSE_SECONDS + PATIENCE
    line = model.given[0][0]["content"]
    assert line == "=== Cognee memory: recall skipped (server unreachable) ==="
    assert host.waiting == 2
    assert "2 captured entries wait on disk" in capsys.readouterr().out


@pytest.mark.expects_faults
async def test_a_broken_plugin_changes_nothing(example: ModuleType, memories: Memories) -> None:
    class Broken:
        @hookimpl
        def cognee_user_prompt_submit(self):
            raise ValueError("broken")

    await memories.remember()
    model = RecordingModel()
    host = memories.host("my-agent", f"broken_{memories.dataset}", plugins={"broken": Broken()})
    async with example.MemoryAgent(host, model, {"read_notes": example.read_notes}) as agent:
        assert await agent.ask(QUESTION) == "Looked it up."
    assert FACT in model.given[0][0]["content"]


async def test_a_model_that_runs_in_circles_comes_to_an_end(
    example: ModuleType, memories: Memories
) -> None:
    async def circling(messages: list[dict[str, Any]]) -> dict[str, Any]:
        function = {"name": "read_notes", "arguments": "{}"}
        return {"role": "assistant", "tool_calls": [{"id": "call_1", "function": function}]}

    host = memories.host("my-agent", f"circles_{memories.dataset}")
    async with example.MemoryAgent(host, circling, {"read_notes": example.read_notes}) as agent:
        assert await agent.ask("Please read the notes.") == "I did not come to an end."
