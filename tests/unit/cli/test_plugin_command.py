from __future__ import annotations

import sys

import pytest

from cognee_hooks.cli import main, plugin_command
from cognee_hooks.errors import UsageError
from cognee_hooks.results import Command


class Spoken:
    """What the command was told, and what it says."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.refusal = ""

    def replace(self, host) -> None:
        async def run(argument: str) -> str:
            self.arguments.append(argument)
            for text in ("working", "working", "nearly\x1b[31m there"):
                host.progress(text)
            if self.refusal:
                raise UsageError(self.refusal)
            return "done\x1b[2J"

        for name in ("up", "down", "logs"):
            host.registered.commands[name] = Command(name=name, help="h", run=run)


@pytest.fixture
def spoken(monkeypatch) -> Spoken:
    found = Spoken()
    make = plugin_command.make_host

    def made(*arguments):
        host = make(*arguments)
        found.replace(host)
        return host

    monkeypatch.setattr(plugin_command, "make_host", made)
    return found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["up"], "--wait 3600"),
        (["up", "--wait", "5"], "--wait 5"),
        (["down"], ""),
        (["logs"], "-n 40"),
        (["logs", "-n", "3"], "-n 3"),
    ],
)
def test_a_command_of_a_plugin_is_run_with_its_argument(spoken, capsys, arguments, told):
    assert main(arguments) == 0
    assert spoken.arguments == [told]
    out, err = capsys.readouterr()
    assert out.startswith("done")
    assert "\x1b" not in out
    assert "\x1b" not in err
    assert [line.split()[0] for line in err.splitlines()] == ["working", "nearly"]


def test_what_a_command_refuses_is_a_failure_and_no_wrong_usage(spoken, capsys):
    spoken.refusal = "There is no such thing."
    assert main(["down"]) == 1
    assert "There is no such thing." in capsys.readouterr().err


def test_without_the_plugin_the_command_says_where_to_look(capsys):
    assert main(["up", "-p", "no:bootstrap"]) == 1
    assert "cognee-hooks plugins --all" in capsys.readouterr().err


def test_on_a_terminal_progress_is_a_line_with_the_time(spoken, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["up"]) == 0
    assert capsys.readouterr().out.startswith("done")
