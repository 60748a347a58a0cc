"""Real OpenCode with our plugin, a scripted model, and a memory server on loopback."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.install import engine
from cognee_hooks.install.opencode import OpenCodeInstaller
from cognee_hooks.install.plan import Place
from cognee_hooks.testing.loopback import FACT
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.real_agents import OPENCODE_VERSION, install
from tests.support.recording_memory import RecordingMemory

PROMPT = (
    'Please run the tests. {{call: bash {"command":"echo 3 passed","description":"Run tests"}}} '
    '{{call: task {"description":"look","prompt":"Check the docs folder, please.",'
    '"subagent_type":"general"}}} {{say: They pass.}}'
)


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def memory() -> Iterator[RecordingMemory]:
    with RecordingMemory() as server:
        yield server


def set_up(home: Path, model: ChatEndpoint) -> None:
    """Write OpenCode's settings, and install our plugin."""
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
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
    place = Place(environ={"HOME": str(home)}, cwd=home)
    engine.apply(OpenCodeInstaller().install(place), datetime.now(UTC))


def test_memory_reaches_the_model_and_the_turn_reaches_the_server(
    model, memory, isolated_environment
):
    home = isolated_environment
    set_up(home, model)
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "COGNEE_BASE_URL": memory.url,
        "COGNEE_API_KEY": "none",
    }
    daemon = home / ".cognee-plugin" / "hooks" / "daemon"
    # How long a daemon takes to come up is no subject here.
    assert control.start(daemon, environ, Deadline.after(60))
    done = subprocess.run(
        [str(install("opencode", OPENCODE_VERSION)), "run"],
        cwd=home,
        env=environ,
        input=PROMPT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert control.stop(daemon, Deadline.after(60))

    assert done.stdout.strip() == "They pass."
    turn = [each for each in model.requests if "tools" in each]
    assert FACT in json.dumps([each for each in turn[0]["messages"] if each["role"] == "system"])
    # It stays out of the conversation, which is sent again and again.
    assert FACT not in json.dumps(
        [each for each in turn[-1]["messages"] if each["role"] != "system"]
    )
    assert memory.turns == [(PROMPT, "They pass.")]
    assert memory.calls == [("bash", "success")]
    [session] = memory.sessions
    assert session.startswith("opencode_ses_")
