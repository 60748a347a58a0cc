"""The README is a front door: short, right, and of use where it is read elsewhere."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from cognee_hooks import Host
from cognee_hooks.agents import BUILT_IN, VERIFIED
from cognee_hooks.cli.hooks import markdown_table as hooks_table
from cognee_hooks.install import INSTALLERS
from tests.support.documents import ROOT, Page

README = Page(ROOT / "README.md")
MOST_BYTES = 20_000


def test_the_readme_stays_short():
    assert len(README.text.encode()) <= MOST_BYTES


def test_the_hook_table_is_the_generated_one():
    assert README.between("hooks") == hooks_table()


def test_the_agents_are_those_that_there_are():
    rows = [
        f"| {name} | {f'`cognee-hooks install {name}`' if name in INSTALLERS else 'hand'} | "
        f"{VERIFIED[name]} |"
        for name in BUILT_IN
    ]
    assert README.between("agents").splitlines()[2:] == rows


def test_its_settings_are_as_the_settings_say(tmp_path: Path):
    part = README.text.partition("## Settings")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(COGNEE_\w+)` \|(.*)\|(.*)\|$", part, re.MULTILINE)
    made = Host("claude-code", environ={"HOME": str(tmp_path)}, entry_points=())
    known = {row.env: row for row in made.settings.rows()}
    assert len(rows) > 5
    for variable, default, text in rows:
        row = known[variable]
        shown = "" if row.default == "********" else row.default
        assert (default.strip().strip("`"), text.strip()) == (shown, row.help)


def test_the_test_command_is_the_one_of_the_continuous_integration():
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (block,) = (each for each in README.blocks if "-m tests" in each.text)
    for command in block.text.strip().split(" && "):
        assert command in steps


async def test_the_plugin_in_it_redacts(tmp_path: Path):
    (block,) = (each for each in README.blocks if "cognee_register_redactors" in each.text)
    plugin = types.ModuleType("tickets")
    exec(compile(block.text, str(block), "exec"), plugin.__dict__)  # noqa: S102 - our own README
    made = Host(
        "claude-code",
        environ={"HOME": str(tmp_path)},
        entry_points=(),
        plugins={"tickets": plugin},
    )
    assert (await made.redact("see TICKET-1234")).value == "see [redacted:tickets]"


@pytest.mark.parametrize("word", ["new-plugin", "pip install", "pytest", "plugins disable"])
def test_a_newcomer_finds_each_step_to_a_first_plugin(word: str):
    part = README.text.partition("## Write a plugin")[2].partition("\n## ")[0]
    assert word in "".join(block.text for block in README.blocks if block.text in part)
