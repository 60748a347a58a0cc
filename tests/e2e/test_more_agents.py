"""Real Gemini CLI and Qwen Code with our hooks, scripted models and a loopback memory server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.testing.loopback import FACT
from tests.support import npm, real_agents
from tests.support.agent_process import scrubbed
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.command import Done, command
from tests.support.gemini_endpoint import gemini_endpoint
from tests.support.recording_memory import RecordingMemory


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """The agents' scripts; installed here, before a test has a home of its own."""
    return {
        "gemini-cli": real_agents.install("gemini-cli", real_agents.GEMINI_CLI_VERSION),
        "qwen-code": real_agents.install("qwen-code", real_agents.QWEN_CODE_VERSION),
    }


@pytest.fixture
def home(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GEMINI_CLI_HOME", "QWEN_HOME"):
        monkeypatch.delenv(name, raising=False)
    return isolated_environment


@pytest.fixture
def memory() -> Iterator[RecordingMemory]:
    with RecordingMemory() as server:
        yield server


def written(path: Path, settings: str) -> Path:
    """Settings as a person has them."""
    path.parent.mkdir()
    path.write_text(settings)
    return path


async def cognee_hooks(*arguments: str) -> None:
    """Run our command, which must succeed."""
    done = await command(*arguments)
    assert done.code == 0, done.err


async def run(*arguments: str | Path, home: Path, memory: RecordingMemory, **environ: str) -> Done:
    """Run an agent's script to its end, and the daemon that its hooks started."""
    environment = scrubbed(
        home, {"COGNEE_BASE_URL": memory.url, "COGNEE_API_KEY": "none", **environ}
    )
    folder = home / ".cognee-plugin" / "hooks" / "daemon"
    # How long a daemon takes to come up is no subject here.
    await asyncio.to_thread(control.start, folder, environment, Deadline.after(60))
    process = await asyncio.create_subprocess_exec(
        npm.NODE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=home,
        env=environment,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), 120)
    finally:
        if process.returncode is None:
            process.kill()
        stopped = await asyncio.to_thread(control.stop, folder, Deadline.after(60))
    assert stopped
    return Done(process.returncode, out.decode(), err.decode(), 0.0)


GEMINI_SETTINGS = """{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
"""
# Without its version the agent would add it.
QWEN_SETTINGS = """{
  // mine
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false},
  "$version": 4
}
"""


async def test_gemini_cli_reads_memory_and_leaves_its_turn_there(programs, home, memory):
    path = written(home / ".gemini" / "settings.json", GEMINI_SETTINGS)
    await cognee_hooks("install", "gemini-cli", "--yes")
    prompt = "Please run the tests. {{tool: echo 3 passed}} {{tool: exit 3}} {{say: One fails.}}"
    with gemini_endpoint() as model:
        done = await run(
            programs["gemini-cli"],
            *("--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--prompt", prompt),
            home=home,
            memory=memory,
            GEMINI_API_KEY="none",
            GOOGLE_GEMINI_BASE_URL=model.url,
        )
    assert done.out.strip() == "One fails.", done.err
    assert len(model.requests) == 3
    assert all(FACT in "".join(model.context_texts(index)) for index in range(3))
    assert memory.turns == [(prompt, "One fails.")]
    assert memory.calls == [("run_shell_command", "success"), ("run_shell_command", "error")]
    [session] = memory.sessions
    assert session.startswith("gemini_")
    await cognee_hooks("uninstall", "gemini-cli", "--yes")
    assert path.read_text() == GEMINI_SETTINGS


async def test_qwen_code_reads_memory_and_leaves_its_turn_there(programs, home, memory):
    path = written(home / ".qwen" / "settings.json", QWEN_SETTINGS)
    await cognee_hooks("install", "qwen-code", "--yes")
    call = '{{{{call: run_shell_command {{"command":"{}","is_background":false}}}}}}'
    calls = f"{call.format('echo 3 passed')} {call.format('exit 3')}"
    prompt = f"Please run the tests. {calls} {{{{say: One fails.}}}}"
    with ChatEndpoint() as model:
        done = await run(
            programs["qwen-code"],
            *("--yolo", "--prompt", prompt),
            home=home,
            memory=memory,
            OPENAI_BASE_URL=model.url,
            OPENAI_API_KEY="none",
            OPENAI_MODEL="scripted",
        )
    assert done.out.strip() == "One fails.", done.err
    assert len(model.requests) == 3
    assert all(FACT in json.dumps(request["messages"]) for request in model.requests)
    assert memory.turns == [(prompt, "One fails.")]
    assert memory.calls == [("run_shell_command", "success"), ("run_shell_command", "error")]
    [session] = memory.sessions
    assert session.startswith("qwen_")
    await cognee_hooks("uninstall", "qwen-code", "--yes")
    assert path.read_text() == QWEN_SETTINGS
