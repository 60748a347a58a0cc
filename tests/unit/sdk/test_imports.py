"""The SDKs are optional: nothing loads them but the module that needs them, which says so."""

from __future__ import annotations

import subprocess
import sys

import pytest

SDKS = {"openai_agents": "agents", "claude_agent": "claude_agent_sdk"}
EXTRAS = {"openai_agents": "openai-agents", "claude_agent": "claude-agent-sdk"}


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_no_sdk_is_loaded_without_being_asked_for():
    loaded = run(
        "import sys, cognee_hooks, cognee_hooks.sdk, cognee_hooks.cli\n"
        "cognee_hooks.Host\n"
        "print(*sys.modules)"
    ).split()
    assert not {"agents", "claude_agent_sdk", "openai", "mcp", "pydantic"} & set(loaded)


@pytest.mark.parametrize("module", SDKS)
def test_without_its_sdk_a_module_says_what_to_install(module: str):
    told = run(
        "import sys\n"
        f"sys.modules[{SDKS[module]!r}] = None\n"
        "try:\n"
        f"    import cognee_hooks.sdk.{module}\n"
        "except ImportError as error:\n"
        "    print(error.name, error)"
    )
    assert told.startswith(SDKS[module])
    assert f"pip install 'cognee-hooks[{EXTRAS[module]}]'" in told
