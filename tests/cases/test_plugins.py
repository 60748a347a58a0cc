"""P20: one bad plugin among the installed ones costs nothing but itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cases.machine import Machine
from tests.support.command import command, install_plugin, payload

BAD = {
    "needs_more": ("import left_pad_that_is_not_there\n", "No module named"),
    "no_python": ("def plugin(:\n", "SyntaxError"),
    "leaves": ("raise SystemExit(3)\n", "SystemExit"),
    "odd": ("class Odd(BaseException):\n    pass\n\nraise Odd\n", "Odd"),
    "sleeps": ("import time\n\ntime.sleep(60)\n", "took more than"),
    "half": (
        """
from cognee_hooks import hookimpl


class Half:
    @hookimpl
    def cognee_post_tool_use(self, event):
        raise ValueError("it is registered")

    @hookimpl
    def cognee_stop(self, nothing_like_it):
        pass


plugin = Half()
""",
        "nothing_like_it",
    ),
    "from_the_future": (
        """
from cognee_hooks import hookimpl


class Future:
    cognee_hooks_api = 99

    @hookimpl
    def cognee_post_tool_use(self, event):
        raise ValueError("it is registered")


plugin = Future()
""",
        "99",
    ),
    "capture": ("plugin = object()\n", "already taken"),
}
"""Source of each, and a word of the reason that is to be told."""
GOOD = """
from cognee_hooks import hookimpl
from cognee_hooks.results import AdditionalContext


class Good:
    @hookimpl
    def cognee_user_prompt_submit(self, event):
        return AdditionalContext(text="told by the good one", priority=1)


plugin = Good()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment of a program in which all of them are installed."""
    for name, (source, _) in BAD.items():
        folder = tmp_path / name
        folder.mkdir()
        install_plugin(folder, name, source)
    good = tmp_path / "good"
    good.mkdir()
    install_plugin(good, "good", GOOD)
    folders = [str(each) for each in sorted(tmp_path.iterdir())]
    return {"PYTHONPATH": os.pathsep.join([*folders, str(Path.cwd())])}


async def test_p20_each_bad_one_is_named_once_with_its_package_and_its_reason(installed):
    shown = await command("plugins", "--all", "--json", **installed)
    assert shown.code == 0, shown.err
    rows = json.loads(shown.out)
    for name, (_, reason) in BAD.items():
        bad = [each for each in rows if each["distribution"] == name]
        assert [each["state"] for each in bad] == ["failed"], name
        assert reason in bad[0]["reason"], name
    active = {each["name"] for each in rows if each["state"] == "active"}
    assert {"good", "capture", "recall", "bridge"} <= active


async def test_p20_doctor_names_them_and_goes_on(installed, machine: Machine):
    shown = await command("doctor", "--json", **(machine.environ | installed))
    rows = json.loads(shown.out)
    text = json.dumps(rows)
    for name in BAD:
        assert name in text
    assert {"server", "redaction"} <= {each["name"] for each in rows}
    assert "Traceback" not in shown.err


async def test_p20_a_session_works_beside_them(installed, machine: Machine):
    machine.environ |= installed
    prompt = payload("UserPromptSubmit", prompt="Which port does the billing service use?")
    for event, document in (
        ("PostToolUse", payload("PostToolUse.Bash")),
        ("UserPromptSubmit", prompt),
        ("Stop", payload("Stop", last_assistant_message="7431")),
    ):
        shown = await command("run", "claude-code", event, stdin=document, **machine.environ)
        assert shown.code == 0
        assert "Traceback" not in shown.err
        if event == "UserPromptSubmit":
            context = shown.json["hookSpecificOutput"]["additionalContext"]
            assert "told by the good one" in context
            assert "port 7431" in context
    assert {each["type"] for each in machine.entries} == {"qa", "trace"}


@pytest.mark.parametrize("name", BAD)
async def test_p20_an_author_has_it_raised(tmp_path: Path, name: str):
    source, reason = BAD[name]
    environ = {"PYTHONPATH": install_plugin(tmp_path, name, source), "COGNEE_HOOKS_STRICT": "1"}
    shown = await command("plugins", **environ)
    assert shown.code == 1
    assert name in shown.err
    assert reason in shown.err
    assert "Traceback" not in shown.err
