from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import engine
from cognee_hooks.install.claude_code import ClaudeCodeInstaller
from cognee_hooks.install.command import hook_argv
from cognee_hooks.install.plan import Scope

NOW = datetime(2026, 5, 4, tzinfo=UTC)
CLAUDE = ClaudeCodeInstaller()


def content(plan):
    [change] = plan.changes
    return json.loads(change.after)


def test_every_event_starts_our_client_without_a_shell(place):
    hooks = content(CLAUDE.install(place))["hooks"]
    assert list(hooks) == [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStop",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ]
    for event, [group] in hooks.items():
        assert set(group) == {"hooks"}
        [handler] = group["hooks"]
        assert [handler["command"], *handler["args"]] == hook_argv("claude-code", event)
        assert set(handler) == {"type", "command", "args", "timeout"}
        assert handler["type"] == "command"
    seconds = {event: group[0]["hooks"][0]["timeout"] for event, group in hooks.items()}
    assert seconds["UserPromptSubmit"] == 40
    assert seconds["SessionEnd"] == 15
    assert seconds["Stop"] == 10


def test_the_status_line_is_a_shell_command(place):
    line = content(CLAUDE.install(place))["statusLine"]
    assert line["type"] == "command"
    assert shlex.split(line["command"]) == hook_argv("claude-code", "statusLine")


@pytest.mark.parametrize(
    ("scope", "environ", "expected"),
    [
        (Scope.USER, {}, "home/.claude/settings.json"),
        (Scope.USER, {"CLAUDE_CONFIG_DIR": "~/conf"}, "home/conf/settings.json"),
        (Scope.PROJECT, {"CLAUDE_CONFIG_DIR": "~/conf"}, "project/.claude/settings.json"),
        (Scope.LOCAL, {}, "project/.claude/settings.local.json"),
    ],
)
def test_each_scope_has_its_file(place, tmp_path, scope, environ, expected):
    where = replace(place, scope=scope, environ={**place.environ, **environ})
    [change] = CLAUDE.install(where).changes
    assert change.path == tmp_path / expected
    assert change.mode == (0o644 if scope is Scope.PROJECT else 0o600)
    assert ("statusLine" in json.loads(change.after)) is (scope is Scope.USER)


def test_no_status_line_is_set_where_none_is_wanted(place):
    assert "statusLine" not in content(CLAUDE.install(replace(place, status_line=False)))


def settings(place, text: str):
    path = place.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_a_status_line_of_another_tool_stays_and_is_named(place):
    path = settings(place, '{"statusLine": {"type": "command", "command": "ccstatusline"}}')
    plan = CLAUDE.install(place)
    assert content(plan)["statusLine"]["command"] == "ccstatusline"
    assert any("status line already" in each for each in plan.notes)
    engine.apply(plan, NOW)
    engine.apply(CLAUDE.uninstall(place), NOW)
    assert path.read_text() == '{"statusLine": {"type": "command", "command": "ccstatusline"}}'


def test_a_switch_that_turns_hooks_off_is_named(place):
    settings(place, '{"disableAllHooks": true}')
    assert any("runs no hooks" in each for each in CLAUDE.install(place).notes)


@pytest.mark.parametrize(("enabled", "named"), [("true", True), ("false", False)])
def test_a_plugin_that_would_run_hooks_twice_is_named(place, enabled, named):
    plugins = f'"enabledPlugins": {{"memory@cognee-hooks": {enabled}}}'
    settings(place, f'{{"disableAllHooks": false, {plugins}}}')
    assert any("twice" in each for each in CLAUDE.install(place).notes) is named


def test_settings_with_comments_are_refused(place):
    settings(place, '{\n  // mine\n  "a": 1\n}')
    with pytest.raises(
        InstallRefused, match=r"line 2, column 3: a comment stands here\. Claude Code"
    ):
        CLAUDE.install(place)


def test_install_and_uninstall_and_install_again(place):
    path = settings(place, '{\n  "model": "opus"\n}\n')
    engine.apply(CLAUDE.install(place), NOW)
    assert not CLAUDE.install(place).effective
    installed = path.read_bytes()
    engine.apply(CLAUDE.uninstall(place), NOW)
    assert path.read_text() == '{\n  "model": "opus"\n}\n'
    assert not CLAUDE.uninstall(place).effective
    engine.apply(CLAUDE.install(place), NOW)
    assert path.read_bytes() == installed


# -- plugin folder -----------------------------------------------------------------------------


@pytest.fixture
def for_plugin(place, tmp_path):
    return replace(place, plugin_folder=tmp_path / "my plugins")


def test_a_plugin_folder_is_a_marketplace_with_one_plugin(for_plugin):
    plan = CLAUDE.install(for_plugin)
    folder = for_plugin.plugin_folder
    engine.apply(plan, NOW)
    market = json.loads((folder / ".claude-plugin" / "marketplace.json").read_text())
    [plugin] = market["plugins"]
    assert (market["name"], plugin["name"], plugin["source"]) == (
        "cognee-hooks",
        "memory",
        "./plugins/memory",
    )
    root = folder / plugin["source"]
    assert json.loads((root / ".claude-plugin" / "plugin.json").read_text())["name"] == "memory"
    hooks = json.loads((root / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks == content(CLAUDE.install(replace(for_plugin, plugin_folder=None)))["hooks"]
    assert plan.next_steps[0] == f"claude plugin marketplace add '{folder}'"
    assert plan.next_steps[1] == "claude plugin install memory@cognee-hooks"
    assert not CLAUDE.install(for_plugin).effective


def test_a_plugin_folder_is_brought_up_to_date_and_removed(for_plugin):
    engine.apply(CLAUDE.install(for_plugin), NOW)
    folder = for_plugin.plugin_folder
    hooks = folder / "plugins" / "memory" / "hooks" / "hooks.json"
    hooks.write_text("{}")
    engine.apply(CLAUDE.install(for_plugin), NOW)
    assert "SessionStart" in hooks.read_text()
    plan = CLAUDE.uninstall(for_plugin)
    engine.apply(plan, NOW)
    assert not folder.exists()
    assert plan.next_steps == [
        "claude plugin uninstall memory@cognee-hooks",
        "claude plugin marketplace remove cognee-hooks",
    ]
    assert not CLAUDE.uninstall(for_plugin).effective


@pytest.mark.parametrize("manifest", ["{broken", "[]", '{"name": "other"}'])
def test_a_folder_of_something_else_is_refused(for_plugin, manifest):
    path = for_plugin.plugin_folder / ".claude-plugin" / "marketplace.json"
    path.parent.mkdir(parents=True)
    path.write_text(manifest)
    with pytest.raises(InstallRefused, match="this folder holds other files"):
        CLAUDE.install(for_plugin)
    with pytest.raises(InstallRefused, match="is not a plugin of cognee-hooks"):
        CLAUDE.uninstall(for_plugin)


def test_an_empty_folder_will_do(for_plugin):
    for_plugin.plugin_folder.mkdir()
    assert len(CLAUDE.install(for_plugin).effective) == 3
