"""Commands that need no plugin, as an agent offers and shows them."""

from __future__ import annotations

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.core_commands import aligned, checks_as_text, commands_of, offered
from cognee_hooks.host import Host
from cognee_hooks.results import CheckResult, CheckStatus, Command, StatusRow
from tests.support.scripted import ScriptedClient


@pytest.fixture
def build(tmp_path):
    def make(*plugins):
        return Host(
            "pi",
            environ={"HOME": str(tmp_path), "COGNEE_BASE_URL": "http://127.0.0.1:9"},
            session_id="pi_s1",
            client=ScriptedClient(),
            entry_points=(),
            plugins={each.__name__: each for each in plugins},
        )

    return make


def test_commands_are_offered_under_names_that_are_clearly_ours():
    assert offered("search") == "cognee-search"
    assert offered("cognee-search") == "cognee-search"
    assert offered("cognee") == "cognee"


class Doctor:
    """Brings a doctor of its own."""

    @hookimpl
    def cognee_register_commands(self) -> Command:
        async def run(_: str) -> str:
            return "mine"

        return Command(name="doctor", help="Mine.", run=run)


async def test_a_plugins_command_takes_the_place_of_the_cores(build):
    commands = commands_of(build(Doctor))
    assert await commands["cognee-doctor"].run("") == "mine"
    assert await commands["cognee"].run("") != "mine"


async def test_doctor_says_at_the_agent_what_it_says_on_the_command_line(build):
    text = await commands_of(build())["cognee-doctor"].run("")
    names = [line[2:].partition("  ")[0] for line in text.splitlines()[1:] if line[:1] != " "]
    assert {"mode", "settings", "server", "redaction", "recall", "sync", "dataset"} <= set(names)


def test_labels_stand_apart_from_what_is_said():
    rows = [StatusRow(label="A", text="x"), StatusRow(label="Server pidfile", text="y")]
    assert aligned(rows) == ["A:              x", "Server pidfile: y"]
    assert aligned([]) == []


def test_doctors_rows_tell_what_to_do_and_the_worst_comes_first_in_the_head():
    rows = [
        CheckResult(name="one", status=CheckStatus.OK, detail="fine"),
        CheckResult(name="longer", status=CheckStatus.FAILED, detail="a\nb", remedy="mend it"),
        CheckResult(name="x", status=CheckStatus.WARNING, detail="hm"),
    ]
    assert checks_as_text(rows).splitlines() == [
        "⚠ Cognee Doctor — 1 failed, 1 to look at",
        "✓ one     fine",
        "✕ longer  a b",
        "  → mend it",
        "! x       hm",
    ]
    assert checks_as_text(rows[:1]).startswith("Cognee Doctor — all is well\n")
