from __future__ import annotations

from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.services.paths import Paths

OWN = """# my settings
dataset: work  # not play
plugins:
  recall:
    top_k: 3
"""


@pytest.fixture
def config(isolated_environment: Path) -> Path:
    path = Paths.of({"HOME": str(isolated_environment)}, "claude-code").config_file
    path.parent.mkdir(parents=True)
    return path


def active(capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    assert main(["plugins"]) == 0
    return {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()}


def test_a_plugin_goes_and_comes_back_and_comments_stay(config, capsys):
    config.write_text(OWN)
    assert main(["plugins", "disable", "sync"]) == 0
    assert str(config) in capsys.readouterr().out
    assert "sync" not in active(capsys)
    assert config.read_text() == OWN.replace("plugins:\n", "plugins:\n  block: [sync]\n")
    assert main(["plugins", "enable", "sync"]) == 0
    assert "sync" in active(capsys)


def test_a_file_that_is_not_there_is_made_for_its_owner_only(config, capsys):
    assert main(["plugins", "disable", "sync"]) == 0
    assert config.stat().st_mode & 0o777 == 0o600
    assert "sync" not in active(capsys)


@pytest.mark.parametrize("action", ["enable", "disable"])
def test_what_holds_already_is_said_and_nothing_is_written(config, capsys, action):
    config.write_text("plugins: {block: [statusline]}\n")
    name = {"enable": "sync", "disable": "statusline"}[action]
    assert main(["plugins", action, name]) == 0
    assert "already" in capsys.readouterr().out
    assert config.read_text() == "plugins: {block: [statusline]}\n"


def test_one_that_is_not_on_the_list_of_the_only_ones_comes_onto_it(config, capsys):
    config.write_text("plugins:\n  only: [recall]\n")
    assert main(["plugins", "enable", "sync"]) == 0
    assert {"recall", "sync"} <= active(capsys)
    assert config.read_text() == "plugins:\n  only: [recall, sync]\n"


def test_an_installed_one_is_asked_for_by_name_where_none_loads_by_itself():
    from cognee_hooks.cli.plugin_switch import lists_with
    from cognee_hooks.registry import PluginRecord

    mine = PluginRecord(name="mine", distribution="cognee-hooks-mine")
    lists = lists_with({"block": "mine, b"}, mine, on=True, autoload=False)
    assert lists == {"block": ["b"], "require": ["mine"]}
    assert lists_with({}, mine, on=True, autoload=True) == {}


def test_who_else_keeps_it_out_is_named(config, capsys, monkeypatch):
    monkeypatch.setenv("COGNEE_HOOKS_DISABLE", "sync")
    assert main(["plugins", "enable", "sync"]) == 1
    assert "COGNEE_HOOKS_DISABLE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["disable", "redaction"], "nothing may leave the machine without it"),
        (["disable", "nope"], "no plugin is called 'nope'"),
        (["enable", "nope"], "statusline"),
    ],
)
def test_what_cannot_be_switched_is_wrong_usage(config, capsys, arguments, said):
    assert main(["plugins", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not config.exists()


@pytest.mark.parametrize("text", ["plugins: [\n", "plugins: 7\n", "- a\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone_with_what_to_write(
    config, capsys, text
):
    config.write_text(text)
    assert main(["plugins", "disable", "sync"]) == 1
    said = capsys.readouterr().err
    assert str(config) in said
    assert "plugins.block: [sync]" in said
    assert config.read_text() == text
