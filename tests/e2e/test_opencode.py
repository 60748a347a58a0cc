"""Real OpenCode with our plugin, a scripted model, and a memory server on loopback."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.install.command import launcher_argv
from cognee_hooks.testing.loopback import FACT, LoopbackServer
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.real_agents import OPENCODE_VERSION, install

PROMPT = (
    'Please run the tests. {{call: bash {"command":"echo 3 passed","description":"Run tests"}}} '
    '{{call: task {"description":"look","prompt":"Check the docs folder, please.",'
    '"subagent_type":"general"}}} {{say: They pass.}}'
)


class Recording(LoopbackServer):
    """A memory server that notes down what it is asked to keep."""

    def __init__(self) -> None:
        super().__init__("well")
        self.kept: list[dict[str, Any]] = []

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        if path == "/api/v1/remember/entry":
            self.kept.append(json.loads(body))
        return super().answer(path, body)


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def memory() -> Iterator[Recording]:
    with Recording() as server:
        yield server


def set_up(home: Path, model: ChatEndpoint) -> None:
    """Write OpenCode's settings and our plugin, as an installer would."""
    folder = home / ".config" / "opencode"
    (folder / "plugin").mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": model.url, "apiKey": "none"},
        "models": {"scripted": {"limit": {"context": 100_000, "output": 1000}}},
    }
    settings = {
        "model": "fake/scripted",
        "small_model": "fake/scripted",
        "share": "disabled",
        "permission": {"*": "allow"},
        "provider": {"fake": provider},
    }
    (folder / "opencode.json").write_text(json.dumps(settings))
    plugin = files("cognee_hooks").joinpath("agents", "opencode_plugin.js").read_text("utf-8")
    line = f"const LAUNCHER = {json.dumps(launcher_argv())};"
    (folder / "plugin" / "cognee-hooks.js").write_text(plugin.replace("const LAUNCHER = [];", line))


def test_memory_reaches_the_model_and_the_turn_reaches_the_server(
    model, memory, isolated_environment
):
    home = isolated_environment
    set_up(home, model)
    done = subprocess.run(
        [str(install("opencode", OPENCODE_VERSION)), "run"],
        cwd=home,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "COGNEE_BASE_URL": memory.url,
            "COGNEE_API_KEY": "none",
        },
        input=PROMPT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    daemon = home / ".cognee-plugin" / "hooks" / "daemon"
    assert control.stop(daemon, Deadline.after(20))

    assert done.stdout.strip() == "They pass."
    turn = [each for each in model.requests if "tools" in each]
    assert FACT in json.dumps([each for each in turn[0]["messages"] if each["role"] == "system"])
    # It stays out of the conversation, which is sent again and again.
    assert FACT not in json.dumps(
        [each for each in turn[-1]["messages"] if each["role"] != "system"]
    )
    entries = [each["entry"] for each in memory.kept]
    answers = [(each["question"], each["answer"]) for each in entries if each["type"] == "qa"]
    assert answers == [(PROMPT, "They pass.")]
    calls = [each["origin_function"] for each in entries if each["type"] == "trace"]
    assert calls == ["bash"]
    [session] = {each["session_id"] for each in memory.kept}
    assert session.startswith("opencode_ses_")
