from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognee_hooks.errors import UsageError
from cognee_hooks.install import codex_trust, engine
from cognee_hooks.install.codex import CodexInstaller
from cognee_hooks.install.codex_config import trusted_hashes
from cognee_hooks.install.codex_hooks import hooks_of
from cognee_hooks.install.codex_trust import codex_trust_problems
from cognee_hooks.install.command import hook_argv
from cognee_hooks.install.plan import Place, Scope

NOW = datetime(2026, 5, 4, tzinfo=UTC)
WILD = Path(__file__).parents[2] / "data" / "settings" / "codex"
CODEX = CodexInstaller()
EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "Interrupt",
    "SessionEnd",
]


@pytest.fixture
def folder(place) -> Path:
    made = place.home / ".codex"
    made.mkdir()
    return made


def install(place: Place, *, trust: bool = True) -> list[str]:
    plan = CODEX.install(place)
    engine.apply(plan, NOW)
    return [line for each in plan.consents if trust for line in each.grant(NOW)]


def uninstall(place: Place) -> None:
    engine.apply(CODEX.uninstall(place), NOW)


def problems(place: Place) -> list[str]:
    return codex_trust_problems(place.environ, place.cwd)


# -- hooks -------------------------------------------------------------------------------------


def test_every_event_starts_our_client_through_the_shell(place):
    [change] = CODEX.install(place).changes
    document = json.loads(change.after)
    assert list(document) == ["hooks"]
    assert list(document["hooks"]) == EVENTS
    seconds = {}
    for event, [group] in document["hooks"].items():
        [handler] = group["hooks"]
        assert shlex.split(handler["command"]) == hook_argv("codex", event)
        assert set(handler) == {"type", "command", "timeout"}
        seconds[event] = handler["timeout"]
    assert (seconds["UserPromptSubmit"], seconds["Interrupt"], seconds["SessionEnd"]) == (40, 3, 3)


def test_paths_with_spaces_are_quoted(place, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/opt/my env/bin/python")
    [change] = CODEX.install(place).changes
    handler = json.loads(change.after)["hooks"]["Stop"][0]["hooks"][0]
    assert handler["command"].startswith("'/opt/my env/bin/python' -I -S ")


def test_our_groups_stand_behind_those_of_others(place, folder):
    (folder / "hooks.json").write_bytes((WILD / "others.json").read_bytes())
    [change] = CODEX.install(place).changes
    before = [each.key for each in hooks_of((WILD / "others.json").read_text(), change.path)]
    after = [each.key for each in hooks_of(change.after.decode(), change.path) if not each.ours]
    assert after == before


@pytest.mark.parametrize(
    ("scope", "environ", "hooks", "config"),
    [
        (Scope.USER, {}, "home/.codex/hooks.json", "home/.codex/config.toml"),
        (Scope.USER, {"CODEX_HOME": "link"}, "project/real/hooks.json", "project/real/config.toml"),
        (Scope.PROJECT, {}, "project/.codex/hooks.json", "home/.codex/config.toml"),
    ],
)
def test_each_scope_has_its_file(place, tmp_path, scope, environ, hooks, config):
    (place.cwd / "real").mkdir()
    (place.cwd / "link").symlink_to("real")
    where = replace(place, scope=scope, environ={**place.environ, **environ})
    [change] = CODEX.install(where).changes
    assert change.path == tmp_path / hooks
    assert codex_trust.config_path(where) == tmp_path / config
    assert change.mode == (0o644 if scope is Scope.PROJECT else 0o600)


def test_there_is_no_local_scope(place):
    where = replace(place, scope=Scope.LOCAL)
    for method in (CODEX.install, CODEX.uninstall):
        with pytest.raises(UsageError, match="there is: user, project"):
            method(where)


def test_top_level_names_that_void_the_file_are_named(place, folder):
    (folder / "hooks.json").write_text('{"description": "x", "version": 1}')
    assert any("'version'" in each for each in CODEX.install(place).notes)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("[features]\nhooks = false\n", True),
        ("[features]\nhooks = true\n", False),
        ("features = 1\n", False),
        ("broken =", False),
    ],
)
def test_a_switch_that_turns_hooks_off_is_named(place, folder, config, named):
    (folder / "config.toml").write_text(config)
    assert any("switches hooks off" in each for each in CODEX.install(place).notes) is named


def test_trust_in_the_project_is_mentioned(in_project):
    assert any("trust the project" in each for each in CODEX.install(in_project).notes)


# -- trust without the program -----------------------------------------------------------------


def test_without_consent_nothing_is_trusted(place):
    plan = CODEX.install(place)
    assert len(plan.consents) == 1
    assert all(event in plan.consents[0].text for event in EVENTS)
    install(place, trust=False)
    assert problems(place) == EVENTS
    assert not codex_trust.config_path(place).exists()


def test_with_consent_our_hooks_are_trusted_and_no_others(place, folder):
    (folder / "hooks.json").write_bytes((WILD / "others.json").read_bytes())
    (folder / "config.toml").write_bytes((WILD / "config.toml").read_bytes())
    lines = install(place)
    assert lines[0] == f"Trusted in {folder / 'config.toml'}."
    assert "cognee-hooks-backup" in lines[1]
    assert problems(place) == []
    hooks = hooks_of((folder / "hooks.json").read_text(), folder / "hooks.json")
    expected = {each.key: each.hash for each in hooks if each.ours}
    assert trusted_hashes((folder / "config.toml").read_text()) == expected
    assert not CODEX.install(place).consents


def test_all_comes_back_byte_for_byte(place, folder):
    for name in ("hooks.json", "config.toml"):
        wild = "others.json" if name == "hooks.json" else name
        (folder / name).write_bytes((WILD / wild).read_bytes())
    for _ in range(2):
        install(place)
        install(place)
        uninstall(place)
        assert (folder / "hooks.json").read_bytes() == (WILD / "others.json").read_bytes()
        assert (folder / "config.toml").read_bytes() == (WILD / "config.toml").read_bytes()
    assert not CODEX.uninstall(place).effective


@pytest.mark.parametrize("config", ["", "a = 1", "\n\n", "[hooks.state]\n\n[tui]\na = 1\n"])
def test_odd_configurations_come_back_byte_for_byte(place, folder, config):
    (folder / "config.toml").write_text(config)
    install(place)
    uninstall(place)
    assert (folder / "config.toml").read_text() == config


def test_files_that_were_not_there_are_gone_again(place, folder):
    install(place)
    uninstall(place)
    assert list(folder.iterdir()) == []


def test_removal_without_trust_leaves_the_configuration_alone(place, folder):
    install(place, trust=False)
    uninstall(place)
    assert list(folder.iterdir()) == []
    (folder / "config.toml").write_text("a = 1")
    install(place, trust=False)
    uninstall(place)
    assert (folder / "config.toml").read_text() == "a = 1"


def test_hooks_of_others_stay_trusted_when_ours_before_them_go(place, folder):
    install(place)
    hooks, config = folder / "hooks.json", folder / "config.toml"
    document = json.loads(hooks.read_text())
    document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "theirs"}]})
    hooks.write_text(json.dumps(document))
    theirs = next(each for each in hooks_of(hooks.read_text(), hooks) if not each.ours)
    with config.open("a") as file:
        file.write(f'\n[hooks.state."{theirs.key}"]\ntrusted_hash = "{theirs.hash}"\n')
    uninstall(place)
    [left] = hooks_of(hooks.read_text(), hooks)
    assert left.key != theirs.key
    assert trusted_hashes(config.read_text()) == {left.key: left.hash}


def test_a_changed_command_has_to_be_trusted_anew(place, monkeypatch):
    install(place)
    monkeypatch.setattr(sys, "executable", "/elsewhere/bin/python")
    assert install(place)
    assert problems(place) == []


def test_a_project_is_trusted_in_the_persons_own_configuration(in_project):
    install(in_project)
    assert problems(in_project) == []
    uninstall(in_project)
    assert not codex_trust.config_path(in_project).exists()


@pytest.mark.parametrize("config", [b"broken =", b"\xff", b"[hooks]\nstate = {}\n"])
def test_a_configuration_that_cannot_be_edited_is_left_alone(place, folder, config):
    (folder / "config.toml").write_bytes(config)
    lines = install(place)
    assert "could not be trusted" in lines[0]
    assert lines[1] == codex_trust.BY_HAND
    assert (folder / "config.toml").read_bytes() == config


def test_a_configuration_that_cannot_be_read_trusts_nothing(place, folder):
    (folder / "hooks.json").mkdir()
    assert problems(place) == []
    (folder / "hooks.json").rmdir()
    install(place, trust=False)
    (folder / "config.toml").mkdir()
    assert problems(place) == EVENTS


@pytest.mark.parametrize("spoil", [b"\xff", b"\n[hooks]\n"])
def test_trust_that_cannot_be_taken_back_is_mentioned(place, folder, spoil):
    install(place)
    config = folder / "config.toml"
    quoted = config.read_text().replace("[hooks.state.", "[ hooks.'state'.").encode()
    config.write_bytes(quoted + (spoil if spoil == b"\xff" else b""))
    plan = CODEX.uninstall(place)
    assert "does no harm" in plan.notes[0]
    engine.apply(plan, NOW)
    assert not (folder / "hooks.json").exists()


def test_copies_that_cannot_be_the_origin_are_passed_over(place, folder):
    (folder / "config.toml").write_text("a = 1\n")
    install(place)
    name = "config.toml.cognee-hooks-backup-9"
    (folder / f"{name}1").write_bytes(b"\xff")
    (folder / f"{name}2").write_text("broken =")
    (folder / f"{name}3").write_bytes((folder / "config.toml").read_bytes())
    uninstall(place)
    assert (folder / "config.toml").read_text() == "a = 1\n"
