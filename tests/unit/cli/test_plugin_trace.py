from __future__ import annotations

import json
from pathlib import Path

import pytest

from cognee_hooks.cli.plugin_trace import SAMPLES
from tests.support.command import command, install_plugin, payload

SOURCE = """
from cognee_hooks import hookimpl
from cognee_hooks.results import AdditionalContext


class Plugin:
    @hookimpl
    def cognee_user_prompt_submit(self, event):
        return [AdditionalContext(text="told\\x1b[2J by mine", priority=1)]

    @hookimpl
    def cognee_stop(self, event):
        raise ValueError("a secret")


class Around:
    @hookimpl(wrapper=True)
    def cognee_stop(self):
        return (yield)


plugin = Plugin()
around = Around()
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    for name, target in (("mine", "plugin"), ("around", "around")):
        path = install_plugin(tmp_path, name, SOURCE, target)
    return {"PYTHONPATH": path}


def sessions_below(home: Path) -> list[Path]:
    return list(home.rglob("sessions/*"))


async def trace(*arguments: str, **environ: str):
    done = await command("plugins", "--json", "trace", *arguments, **environ)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("kind", SAMPLES)
async def test_every_event_can_be_traced_without_a_payload(kind):
    rows = await trace(kind.__name__)
    assert rows
    assert {row["kind"] for row in rows} == {"built-in"}
    assert not [row for row in rows if row["came_to"].startswith("fault")]


async def test_implementations_are_shown_in_call_order_with_times_and_results(installed):
    rows = await trace("UserPromptSubmit", **installed)
    shown = [row for row in rows if row["hook"] == "cognee_user_prompt_submit"]
    assert shown[0]["plugin"] == "mine"
    assert shown[0]["kind"] == "plugin"
    assert shown[0]["came_to"] == "AdditionalContext: told by mine"
    assert {"recall", "capture"} < {row["plugin"] for row in shown}
    assert all(row["ms"] >= 0 for row in shown)


async def test_wrappers_and_faults_are_shown_and_no_text_of_an_error(installed):
    rows = await trace("Stop", **installed)
    stop = [row for row in rows if row["hook"] == "cognee_stop"]
    assert (stop[0]["plugin"], stop[0]["kind"], stop[0]["ms"] >= 0) == ("around", "wrapper", True)
    assert [row["came_to"] for row in stop if row["plugin"] == "mine"] == ["fault: ValueError"]
    assert "secret" not in json.dumps(rows)


async def test_a_payload_of_the_agent_is_traced_too():
    done = await command("plugins", "trace", "PostToolUse", stdin=payload("PostToolUse.Bash"))
    assert done.code == 0
    assert "post_tool_use" in done.out
    assert "capture" in done.out


@pytest.mark.parametrize("stdin", [b"", payload("Stop")])
async def test_an_unknown_event_is_named_with_what_there_is(stdin):
    done = await command("plugins", "trace", "Nix", stdin=stdin)
    assert done.code == 2
    assert "'Nix'" in done.err


async def test_nothing_is_sent_and_no_session_is_changed(isolated_environment: Path):
    await trace("Stop", COGNEE_BASE_URL="http://127.0.0.1:9")
    assert sessions_below(isolated_environment) == []
