"""Gemini CLI, Qwen Code, Cursor and GitHub Copilot CLI: files of hooks, each in its own shape."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.errors import InstallRefused, UsageError
from cognee_hooks.install import (
    INSTALLERS,
    copilot_cli,
    cursor,
    engine,
    gemini_cli,
    opencode,
    qwen_code,
)
from cognee_hooks.install.command import hook_argv
from cognee_hooks.install.plan import FileChange, Place, Scope

NOW = datetime(2026, 5, 4, tzinfo=UTC)
OTHERS = '{{\n\t"theme": "dark", {comment}\n\t"hooks": {{"stop": [{{"command": "beep"}}]}}\n}}\n'


@dataclass(frozen=True)
class Case:
    """What an agent's file has to say.

    Attributes:
        name: The agent.
        events: Our events and the time limits of those that wait for us.
        empty: What our command prints when nobody answers.
        command: Where a command stands in our entry.
        limit: Where its time limit stands.
        user: The file for a person.
        project: The file for a project.
        scaffold: Members that the agent demands.
        comments: Whether the agent takes comments.
    """

    name: str
    events: dict[str, int]
    empty: Callable[[str], str]
    command: str
    limit: str
    user: str
    project: str
    scaffold: dict[str, Any]
    comments: bool


CASES = {
    case.name: case
    for case in (
        Case(
            name="gemini-cli",
            events=gemini_cli.TIMEOUTS,
            empty=lambda _: gemini_cli.EMPTY,
            command="command",
            limit="timeout",
            user=".gemini/settings.json",
            project=".gemini/settings.json",
            scaffold={},
            comments=True,
        ),
        Case(
            name="qwen-code",
            events=qwen_code.TIMEOUTS,
            empty=lambda _: qwen_code.EMPTY,
            command="command",
            limit="timeout",
            user=".qwen/settings.json",
            project=".qwen/settings.json",
            scaffold={},
            comments=True,
        ),
        Case(
            name="cursor",
            events=cursor.TIMEOUTS,
            empty=cursor.empty_answer,
            command="command",
            limit="timeout",
            user=".cursor/hooks.json",
            project=".cursor/hooks.json",
            scaffold={"version": 1},
            comments=False,
        ),
        Case(
            name="copilot-cli",
            events=copilot_cli.TIMEOUTS,
            empty=lambda _: copilot_cli.EMPTY,
            command="bash",
            limit="timeoutSec",
            user=".copilot/hooks/cognee-hooks.json",
            project=".github/hooks/cognee-hooks.json",
            scaffold={"version": 1},
            comments=False,
        ),
    )
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def change_of(name: str, place: Place) -> FileChange:
    [change] = INSTALLERS[name].install(place).changes
    return change


def document(name: str, place: Place) -> dict[str, Any]:
    return json.loads(change_of(name, place).after)


def handlers(hooks: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for event, [entry] in hooks.items():
        [handler] = entry.get("hooks", [entry])
        yield event, handler


def install(name: str, place: Place) -> None:
    engine.apply(INSTALLERS[name].install(place), NOW)


def uninstall(name: str, place: Place) -> None:
    engine.apply(INSTALLERS[name].uninstall(place), NOW)


def test_every_event_of_the_adapter_runs_our_client(case, place):
    said = document(case.name, place)
    assert {key: value for key, value in said.items() if key != "hooks"} == case.scaffold
    found = dict(handlers(said["hooks"]))
    assert set(found) == set(BUILT_IN[case.name].events)
    for event, handler in found.items():
        expected = hook_argv(case.name, event, case.empty(event))
        assert shlex.split(handler[case.command]) == expected
        assert handler[case.limit] == case.events[event]


def test_what_is_printed_when_nobody_answers_is_the_adapters_empty_answer(case):
    agent = BUILT_IN[case.name]
    for event in agent.events:
        assert json.loads(case.empty(event)) == json.loads(agent.empty(event))


def test_time_limits_are_in_the_unit_of_the_agent(case):
    unit = 1000 if case.limit == "timeout" and case.comments else 1
    assert {each // unit for each in case.events.values()} <= {10, 15, 40}


def test_each_scope_has_its_file(case, place):
    assert change_of(case.name, place).path == place.home / case.user
    assert change_of(case.name, place).mode == 0o600
    project = replace(place, scope=Scope.PROJECT)
    assert change_of(case.name, project).path == place.cwd / case.project
    assert change_of(case.name, project).mode == 0o644
    with pytest.raises(UsageError, match="no scope 'local'"):
        INSTALLERS[case.name].install(replace(place, scope=Scope.LOCAL))


@pytest.mark.parametrize(
    ("name", "variable", "expected"),
    [
        ("gemini-cli", "GEMINI_CLI_HOME", "elsewhere/.gemini/settings.json"),
        ("qwen-code", "QWEN_HOME", "elsewhere/settings.json"),
        ("copilot-cli", "COPILOT_HOME", "elsewhere/hooks/cognee-hooks.json"),
        ("opencode", "XDG_CONFIG_HOME", "elsewhere/opencode/plugin/cognee-hooks.js"),
    ],
)
def test_the_file_follows_the_agents_own_variable(name, variable, expected, place, tmp_path):
    moved = {**place.environ, variable: str(tmp_path / "elsewhere")}
    assert change_of(name, replace(place, environ=moved)).path == tmp_path / expected
    project = replace(place, environ=moved, scope=Scope.PROJECT)
    assert change_of(name, project).path.is_relative_to(place.cwd)


@pytest.mark.parametrize("scope", [Scope.USER, Scope.PROJECT])
def test_a_file_of_others_comes_back_byte_for_byte(case, place, scope):
    where = replace(place, scope=scope)
    path = change_of(case.name, where).path
    path.parent.mkdir(parents=True)
    before = OTHERS.format(comment="// mine" if case.comments else "")
    path.write_text(before)
    for _ in range(2):
        install(case.name, where)
        installed = path.read_text()
        assert installed != before
        assert '{"command": "beep"}' in installed
        assert ("// mine" in installed) is case.comments
        assert not INSTALLERS[case.name].install(where).effective
        uninstall(case.name, where)
        assert path.read_text() == before
    assert not INSTALLERS[case.name].uninstall(where).effective


def test_a_file_that_was_not_there_is_gone_again(case, place):
    path = change_of(case.name, place).path
    install(case.name, place)
    assert path.exists()
    uninstall(case.name, place)
    assert not path.exists()


def test_a_broken_file_is_refused(case, place):
    path = change_of(case.name, place).path
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "hooks": }')
    with pytest.raises(InstallRefused, match="line 2, column 12: a value is expected"):
        INSTALLERS[case.name].install(place)


@pytest.mark.parametrize("name", ["cursor", "copilot-cli"])
def test_comments_are_refused_where_the_agent_takes_none(name, place):
    path = change_of(name, place).path
    path.parent.mkdir(parents=True)
    path.write_text("{\n  // mine\n}")
    with pytest.raises(InstallRefused, match="a comment stands here"):
        INSTALLERS[name].install(place)


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("gemini-cli", '{"hooksConfig": {"enabled": false}}', True),
        ("gemini-cli", '{"hooksConfig": {"enabled": true}}', False),
        ("gemini-cli", '{"hooksConfig": {}}', False),
        ("qwen-code", '{"disableAllHooks": true}', True),
        ("qwen-code", '{"disableAllHooks": false}', False),
    ],
)
def test_a_switch_that_turns_hooks_off_is_named(name, text, named, place):
    path = change_of(name, place).path
    path.parent.mkdir(parents=True)
    path.write_text(text)
    notes = INSTALLERS[name].install(place).notes
    assert any("runs no hooks" in each for each in notes) is named


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("gemini-cli", "trust"),
        ("qwen-code", "trust"),
        ("cursor", "trust"),
        ("copilot-cli", "cloud agent"),
    ],
)
def test_what_is_special_of_hooks_of_a_project_is_said(name, word, place, in_project):
    assert not any(word in each for each in INSTALLERS[name].install(place).notes)
    assert any(word in each for each in INSTALLERS[name].install(in_project).notes)


def test_gemini_cli_does_not_wait_for_us_before_each_request(place):
    hooks = document("gemini-cli", place)["hooks"]
    assert hooks["PreCompress"][0]["matcher"] == "manual"
    assert [event for event, [entry] in hooks.items() if "matcher" in entry] == ["PreCompress"]


def test_cursor_is_told_that_a_prompt_may_go_on(place):
    [entry] = document("cursor", place)["hooks"]["beforeSubmitPrompt"]
    assert shlex.split(entry["command"])[-1] == '{"continue": true}'


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope.USER, "home/.config/opencode/plugin/cognee-hooks.js"),
        (Scope.PROJECT, "project/.opencode/plugin/cognee-hooks.js"),
    ],
)
def test_opencodes_plugin_is_copied_and_removed(scope, expected, place, tmp_path):
    where = replace(place, scope=scope)
    install("opencode", where)
    path = tmp_path / expected
    lines = path.read_text().splitlines()
    assert lines[0] == opencode.MARK
    assert opencode.LAUNCHER_LINE not in lines
    assert sum(each.startswith('const LAUNCHER = ["') for each in lines) == 1
    assert not INSTALLERS["opencode"].install(where).effective
    uninstall("opencode", where)
    assert not path.exists()


def test_a_plugin_of_somebody_else_is_left_alone(place):
    path = opencode.plugin_path(place)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({});\n")
    with pytest.raises(InstallRefused, match="was not written by cognee-hooks"):
        INSTALLERS["opencode"].install(place)
    plan = INSTALLERS["opencode"].uninstall(place)
    assert not plan.effective
    assert "stays" in plan.notes[0]
