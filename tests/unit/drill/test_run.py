"""The drill, with few faults of its own where the whole of it would only take longer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.deadline import Deadline
from cognee_hooks.drill import Drill, DrillRow, run
from cognee_hooks.drill.environment import drill_environment
from cognee_hooks.drill.faults import DrillFault, all_faults
from cognee_hooks.drill.script import DrillConversation, planted_secrets
from cognee_hooks.drill.server import Spoiled
from cognee_hooks.drill.verdict import Played, judge
from cognee_hooks.drill.world import Reply, World
from cognee_hooks.results import CheckStatus
from tests.support.command import command, install_plugin

SECONDS = 90.0
BOTH = ("qa", "trace")


async def drilled(faults: Sequence[DrillFault] = (), **environ: str) -> dict[str, DrillRow]:
    own = dict(os.environ) | environ
    drill = Drill(own, str(Path.cwd()), faults=list(faults))
    return {row.name: row for row in await drill.run(Deadline.after(SECONDS))}


def moments(home: Path) -> dict[Path, int]:
    """When each file and folder was changed last."""
    return {path: path.stat().st_mtime_ns for path in home.rglob("*")}


def left_behind() -> list[str]:
    """Processes that a drill started and did not end."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"cognee-hooks-drill-" in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
    return found


# -- the whole of it -----------------------------------------------------------------------------


async def test_this_installation_survives_and_nothing_of_the_persons_is_touched(
    isolated_environment: Path,
):
    config = isolated_environment / "config" / "cognee-hooks" / "config.yaml"
    env_file = isolated_environment / ".cognee" / ".env"
    for path, text in ((config, "recall: {}\n"), (env_file, "LLM_API_KEY=their-own-key\n")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    before = moments(isolated_environment)

    # The server and the key of the person are never spoken to: nobody listens there.
    done = await command(
        "doctor", "--drill", "--json", COGNEE_BASE_URL="http://127.0.0.1:9", COGNEE_API_KEY="theirs"
    )

    rows = {row["name"]: row for row in done.json}
    assert done.code == 0, rows
    assert {row["status"] for row in rows.values()} <= {"ok", "warning", "info"}, rows
    assert [*rows][:2] == ["all is well", "key refused (401)"]
    assert {fault.name for fault in all_faults()} < rows.keys()
    assert rows["secrets"]["status"] == "ok"
    assert rows["all is well"]["detail"].endswith("2 of 2 entries stored once")
    assert moments(isolated_environment) == before
    assert left_behind() == []


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, capsys):
    for name in [each for each in sys.modules if each.startswith("cognee_hooks.embedded")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [each for each in sys.modules if each.startswith("cognee_hooks.drill")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["doctor", "--drill"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'cognee-hooks[embedded]'" in error
    assert error.count("\n") == 1


# -- plugins of others ---------------------------------------------------------------------------

RAISES = """
from cognee_hooks import Redactor, hookimpl

def broken(text):
    raise ValueError(text)

class Plugin:
    @hookimpl
    def cognee_register_redactors(self):
        return Redactor(name="broken", function=broken)

plugin = Plugin()
"""
HANGS = """
import time
from cognee_hooks import hookimpl

class Plugin:
    @hookimpl
    def cognee_user_prompt_submit(self, event):
        time.sleep(60)

plugin = Plugin()
"""
LEAKS = """
import os
from pathlib import Path
from cognee_hooks import hookimpl

class Plugin:
    def __init__(self, context):
        self.path = context.services.paths.state_dir

    @hookimpl
    def cognee_user_prompt_submit(self, event):
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "audit.log").write_text(event.prompt)

plugin = Plugin
"""


@pytest.mark.parametrize(
    ("source", "row", "found"),
    [
        (RAISES, "redaction", "ValueError"),
        (HANGS, "plugin bad", "timeout in cognee_user_prompt_submit"),
        (LEAKS, "secrets", "a GitHub token in state/audit.log"),
    ],
    ids=["redactor-raises", "hangs", "leaks"],
)
@pytest.mark.expects_faults
async def test_a_bad_plugin_is_found(tmp_path, monkeypatch, source, row, found):
    monkeypatch.syspath_prepend(tmp_path)
    install_plugin(tmp_path, "bad", source)
    monkeypatch.setenv("COGNEE_RECALL_TIMEOUT_MS", "1000")
    try:
        rows = await drilled()
    finally:
        sys.modules.pop("bad", None)
    assert rows[row].status is CheckStatus.FAILED, rows
    assert found in rows[row].detail
    assert rows[row].remedy


async def test_capture_that_is_off_is_no_failure():
    rows = await drilled(COGNEE_CAPTURE="false")
    assert rows["all is well"].status is CheckStatus.INFO
    assert "capture is off" in rows["all is well"].detail


async def test_redaction_that_is_off_is_found():
    rows = await drilled(COGNEE_CAPTURE_REDACT="false")
    assert rows["secrets"].status is CheckStatus.FAILED
    assert "in a request to the server" in rows["secrets"].detail


async def test_an_entry_that_is_lost_is_found(monkeypatch):
    monkeypatch.setattr(run, "RECOVERY_SECONDS", 2.0)

    async def forgets(world: World, conversation: DrillConversation) -> list[Reply]:
        prompt, _, answer = conversation.turn()
        return await world.play([prompt, answer])

    rows = await drilled([DrillFault("no answer", "x", forgets)])
    assert rows["no answer"].status is CheckStatus.FAILED
    assert "1 of 2 entries are lost" in rows["no answer"].detail


async def test_a_blocked_bridge_is_found(monkeypatch):
    monkeypatch.setattr(run, "RECOVERY_SECONDS", 2.0)

    async def refuses(world: World, conversation: DrillConversation) -> list[Reply]:
        world.server.spoiled = Spoiled(status=500)
        try:
            return await world.play(conversation.turn())
        finally:
            await asyncio.sleep(0.5)
            world.server.spoiled = None

    rows = await drilled([DrillFault("refused", "x", refuses)], COGNEE_HOOKS_DISABLE="bridge")
    assert rows["refused"].status is CheckStatus.FAILED
    assert "load the plugin bridge again" in rows["refused"].remedy


async def test_what_there_is_no_time_for_is_told():
    drill = Drill(dict(os.environ), str(Path.cwd()))
    rows = {row.name: row for row in await drill.run(Deadline.after(2.0))}
    assert rows["disk full" if "disk full" in rows else "garbage"].detail.startswith("not done")


# -- the verdict ---------------------------------------------------------------------------------


def played(*, texts=None, replies=()) -> Played:
    conversation = DrillConversation("c", planted_secrets())
    conversation.turn()
    marks = [entry.mark for entry in conversation.entries]
    return Played("fault", "proof", conversation, replies, marks if texts is None else texts(marks))


def reply(**changes) -> Reply:
    return Reply(**{"event": "Stop", "seconds": 0.1, "context": "", "problem": ""} | changes)


@pytest.mark.parametrize(
    ("case", "waiting", "status", "told"),
    [
        (played(), 0, CheckStatus.OK, "2 of 2 entries stored once"),
        (played(texts=lambda m: m[:1]), 0, CheckStatus.FAILED, "1 of 2 entries are lost"),
        (played(texts=lambda m: m[:1]), 1, CheckStatus.WARNING, "still wait on disk"),
        (played(texts=lambda m: [*m, m[0]]), 0, CheckStatus.FAILED, "stored more than once"),
        (played(replies=[reply(problem="it hung")]), 0, CheckStatus.FAILED, "Stop failed: it hung"),
        (played(replies=[reply(seconds=6.0)]), 0, CheckStatus.FAILED, "waited 6.0 s for its Stop"),
        (
            played(replies=[reply(event="UserPromptSubmit", seconds=5.0)]),
            0,
            CheckStatus.OK,
            "5.0 s",
        ),
        (
            played(replies=[reply(event="UserPromptSubmit", seconds=8.1)]),
            0,
            CheckStatus.FAILED,
            "8.1",
        ),
    ],
)
def test_a_turn_is_judged_by_its_answers_and_its_entries(case, waiting, status, told):
    row = judge(case, BOTH, waiting, recall_seconds=3.0)
    assert row.status is status
    assert told in row.detail
    assert bool(row.remedy) is (status is not CheckStatus.OK)
    assert json.dumps(row.as_json())


def test_only_what_is_captured_here_can_be_lost():
    row = judge(played(texts=lambda _: []), (), 0, recall_seconds=3.0)
    assert row.status is CheckStatus.OK
    assert "entries" not in row.detail


# -- the environment -----------------------------------------------------------------------------


def test_the_drills_environment_has_the_settings_and_nothing_else_of_the_person(tmp_path):
    home = tmp_path / "me"
    (home / ".cognee").mkdir(parents=True)
    (home / ".cognee" / ".env").write_text("LLM_API_KEY=theirs\nCOGNEE_CAPTURE=false\n")
    secret = {"COGNEE_API_KEY": "theirs", "GITHUB_TOKEN": "theirs", "DB": "pg://u:theirs@h/d"}
    own = {"HOME": str(home), "COGNEE_CAPTURE_TOOLS": "Bash", "COGNEE_HOOKS_NESTED": "1"} | secret
    made = drill_environment(own, tmp_path / "drill", "http://127.0.0.1:1")
    assert "theirs" not in str(made.values())
    assert made["LLM_API_KEY"] == ""
    assert made["COGNEE_CAPTURE_TOOLS"] == "Bash"
    assert made["COGNEE_ENV_FILE"] == str(home / ".cognee" / ".env")
    assert made["COGNEE_BASE_URL"] == made["COGNEE_LOCAL_API_URL"] == "http://127.0.0.1:1"
    assert "COGNEE_HOOKS_NESTED" not in made
    places = [made["HOME"], made["COGNEE_HOOKS_STATE_DIR"], made["COGNEE_API_KEY_CACHE"]]
    assert all(each.startswith(str(tmp_path / "drill")) for each in places)
