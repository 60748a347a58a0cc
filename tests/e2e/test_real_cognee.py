"""The main job on real input: captured payloads of a real agent, a real cognee server behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.servers import Server

PAYLOADS = Path(__file__).parent.parent / "data" / "claude-code"
FACT = "The orders service is deployed with the blue pelican pipeline, never by hand."
SECRET = "ghp_" + "Zk3vQ9tR7yW1uX5pL8mN" + "2bC4dF6hJ0aEsG"


def payload(name: str, session: str, **changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return document | {"session_id": session} | changes


def run(event: str, document: dict[str, Any], server: Server) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "COGNEE_BASE_URL": server.url,
        "COGNEE_API_KEY": server.key,
        "COGNEE_RECALL_TIMEOUT_MS": "9000",
    }
    return subprocess.run(
        [sys.executable, "-m", "cognee_hooks", "run", "claude-code", event],
        input=json.dumps(document),
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def dataset(real_cognee_165: Server) -> str:
    """A dataset that holds one remembered fact."""
    name = "e2e_main_job"
    answer = httpx.post(
        f"{real_cognee_165.url}/api/v1/remember",
        headers={"X-Api-Key": real_cognee_165.key},
        data={"datasetName": name, "run_in_background": "false", "self_improvement": "false"},
        files={"data": ("facts.txt", FACT.encode(), "text/plain")},
        timeout=120,
    )
    assert answer.status_code == 200, answer.text
    return name


@pytest.mark.real_cognee
def test_a_remembered_fact_is_in_the_context_of_a_real_prompt(
    real_cognee_165: Server, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_PLUGIN_DATASET", dataset)
    prompt = payload("UserPromptSubmit", "e2e-recall", prompt="How is the orders service deployed?")
    # The first recall opens the server's stores, which is what the session-start event is for.
    run("SessionStart", payload("SessionStart", "e2e-recall"), real_cognee_165)

    done = run("UserPromptSubmit", prompt, real_cognee_165)

    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert FACT in context
    assert "1 memory hits" in context
    assert "The question is" not in context
    assert "Keep the answer brief" not in context


@pytest.mark.real_cognee
def test_a_tool_call_with_a_secret_arrives_without_it(
    real_cognee_165: Server, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_PLUGIN_DATASET", dataset)
    document = payload(
        "PostToolUse.Bash",
        "e2e-capture",
        tool_input={"command": f"curl -H 'Authorization: token {SECRET}' https://example.org"},
        tool_response={"stdout": f"GITHUB_TOKEN={SECRET}\n3 passed", "stderr": ""},
    )

    done = run("PostToolUse", document, real_cognee_165)

    assert (done.returncode, done.stdout) == (0, "")
    answer = httpx.get(
        f"{real_cognee_165.url}/api/v1/sessions/claude_e2e-capture",
        headers={"X-Api-Key": real_cognee_165.key},
        timeout=120,
    )
    assert SECRET not in answer.text
    (trace,) = answer.json()["traces"]
    assert trace["origin_function"] == "Bash"
    assert "3 passed" in trace["method_return_value"]
    assert "[redacted:" in trace["method_return_value"]


@pytest.mark.real_cognee
def test_a_turn_is_stored_as_question_and_answer(
    real_cognee_165: Server, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_PLUGIN_DATASET", dataset)
    run("UserPromptSubmit", payload("UserPromptSubmit", "e2e-turn"), real_cognee_165)

    done = run("Stop", payload("Stop", "e2e-turn"), real_cognee_165)

    assert (done.returncode, done.stdout) == (0, "")
    answer = httpx.get(
        f"{real_cognee_165.url}/api/v1/sessions/claude_e2e-turn",
        headers={"X-Api-Key": real_cognee_165.key},
        timeout=120,
    )
    (turn,) = answer.json()["qas"]
    assert turn["question"] == "Please update a.txt and run the tests"
    assert turn["answer"] == "I changed a.txt and wrote notes.md."
    assert turn["context"] == f"claude-code · dataset {dataset}"
