from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.install import INSTALLERS
from cognee_hooks.install.codex_trust import BY_HAND, codex_trust_problems
from cognee_hooks.services.process import current_environ
from tests.support.command import command, install_plugin

ADAPTER = """
from pathlib import Path
from cognee_hooks import hookimpl
from cognee_hooks.install.plan import FileChange, Plan

class Sets:
    def install(self, place):
        path = place.home / ".acme"
        return Plan(changes=[FileChange(path=path, before=None, after=b"x")])
    def uninstall(self, place):
        return Plan(changes=[])

class Acme:
    name = "acme"
    session_prefix = "acme"
    max_context_bytes = 1000
    events = ()
    installer = Sets()
    def origin(self, payload): ...
    def read(self, event, payload, *, session_id): ...
    def answer(self, event, context, notice): return ""
    def empty(self, event): return ""

class Plain(Acme):
    name = "plain"
    installer = None

class Plugin:
    @hookimpl
    def cognee_register_agents(self):
        return [Acme(), Plain()]

plugin = Plugin()
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def answering(monkeypatch):
    def put(*answers: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{each}\n" for each in answers)))

    return put


@pytest.fixture(autouse=True)
def nobody_there(monkeypatch, tmp_path, isolated_environment):
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    monkeypatch.setenv("PATH", "")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def settings(isolated_environment) -> Path:
    return isolated_environment / ".claude" / "settings.json"


def problems() -> list[str]:
    return codex_trust_problems(current_environ(), Path.cwd())


def test_an_agent_is_set_up_and_what_was_done_is_told(settings, capsys):
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}')
    assert main(["install", "claude-code", "--yes"]) == 0
    out = capsys.readouterr().out
    assert f"+++ {settings}" in out
    assert f"wrote {settings}" in out
    assert f"kept a copy of the file as it was: {settings}.cognee-hooks-backup-" in out
    assert "next: Restart running Claude Code sessions" in out
    assert "next: cognee-hooks doctor --agent claude-code" in out
    assert main(["install", "claude-code"]) == 0
    assert "set up already; nothing was changed" in capsys.readouterr().out


def test_of_many_files_of_ours_each_is_named_once_in_what_is_planned_and_counted_when_done(
    settings, capsys
):
    skill = settings.parent / "skills" / "cognee-search" / "SKILL.md"
    assert main(["install", "claude-code", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.count(str(skill)) == 1
    assert f"wrote {settings}" in out
    assert re.search(r"^wrote \d+ files of ours, those above$", out, re.MULTILINE)
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert re.search(
        r"^removed \d+ files of ours, those above$", capsys.readouterr().out, re.MULTILINE
    )


def test_removal_leaves_the_file_as_it_was(settings, capsys):
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}')
    main(["install", "claude-code", "--yes"])
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert settings.read_text() == '{"model": "opus"}'
    assert "Memory and captured entries were left alone" in capsys.readouterr().out
    assert main(["uninstall", "claude-code"]) == 0
    assert "Nothing of cognee-hooks is set up" in capsys.readouterr().out


@pytest.fixture
def folders(isolated_environment):
    """The folders of agents that are in the home folder."""

    def list_them() -> list[str]:
        found = (each.relative_to(isolated_environment) for each in isolated_environment.rglob("*"))
        return sorted(
            str(each)
            for each in found
            if each.parts[0] != ".cognee-plugin" and (isolated_environment / each).is_dir()
        )

    return list_them


@pytest.mark.parametrize("agent", ["claude-code", "codex", "pi", "gemini-cli", "opencode"])
def test_removal_leaves_no_folder_that_was_made_and_is_empty(agent, folders):
    before = folders()
    assert main(["install", agent, "--yes"]) == 0
    assert len(folders()) > len(before)
    assert main(["uninstall", agent, "--yes"]) == 0
    assert folders() == before


def test_removal_leaves_folders_that_were_there_and_those_that_hold_something(settings, folders):
    settings.parent.mkdir()
    assert main(["install", "claude-code", "--yes"]) == 0
    (settings.parent / "skills" / "mine").mkdir()
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert [each for each in folders() if each.startswith(".claude")] == [
        ".claude",
        ".claude/skills",
        ".claude/skills/mine",
    ]
    (settings.parent / "skills" / "mine").rmdir()
    main(["install", "claude-code", "--yes"])
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert [each for each in folders() if each.startswith(".claude")] == [".claude"]


def test_removal_in_one_project_leaves_the_folders_of_another(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert main(["install", "claude-code", "--yes", "--scope", "project"]) == 0
    for each in (tmp_path / "one" / ".claude").rglob("*"):
        each.unlink() if each.is_file() else None  # somebody has cleaned up by hand
    assert main(["uninstall", "claude-code", "--yes", "--scope", "project"]) == 0
    assert not (tmp_path / "two" / ".claude").exists()
    assert (tmp_path / "one" / ".claude").is_dir()


def test_a_folder_that_a_link_leads_to_is_nobodys_of_ours(tmp_path, monkeypatch):
    project, theirs = tmp_path / "project", tmp_path / "theirs"
    project.mkdir()
    monkeypatch.chdir(project)
    assert main(["install", "claude-code", "--yes", "--scope", "project"]) == 0
    skills = project / ".claude" / "skills"
    names = [each.name for each in skills.iterdir()]
    assert names
    skills.rename(tmp_path / "aside")
    for name in names:
        (theirs / name).mkdir(parents=True)
    skills.symlink_to(theirs)
    assert main(["uninstall", "claude-code", "--yes", "--scope", "project"]) == 0
    assert sorted(each.name for each in theirs.iterdir()) == sorted(names)


def test_a_folder_whose_name_is_no_text_can_be_set_up(tmp_path, monkeypatch):
    project = tmp_path / os.fsdecode(b"caf\xe9")
    project.mkdir()
    monkeypatch.chdir(project)
    assert main(["install", "claude-code", "--yes", "--scope", "project"]) == 0
    assert main(["uninstall", "claude-code", "--yes", "--scope", "project"]) == 0
    assert not (project / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"folders": 7}',
        '{"folders": ["relative", 5]}',
        '{"folders": {"relative": 5, "/\\ud800": 5, "/": null, "/tmp": "5"}}',
        '{"folders": {"/": 2, "/\\u0000": 2}}',
    ],
)
def test_what_is_remembered_of_folders_may_be_damaged(content, settings, isolated_environment):
    file = isolated_environment / ".cognee-plugin" / "hooks" / "made-folders.json"
    assert main(["install", "claude-code", "--yes"]) == 0
    assert file.exists()
    file.write_text(content)
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert settings.parent.is_dir()


def test_what_is_remembered_of_folders_speaks_for_no_other_folder(settings, isolated_environment):
    file = isolated_environment / ".cognee-plugin" / "hooks" / "made-folders.json"
    assert main(["install", "claude-code", "--yes"]) == 0
    known = json.loads(file.read_text())["folders"]
    known[str(settings.parent)] += 1
    known["/\ud800"] = 5
    file.write_text(json.dumps({"folders": known}))
    assert main(["uninstall", "claude-code", "--yes"]) == 0
    assert settings.parent.is_dir()
    assert list(settings.parent.iterdir()) == []


@pytest.mark.parametrize("agent", ["claude-code", "codex", "pi"])
def test_a_dry_run_changes_nothing(agent, isolated_environment, capsys):
    before = sorted(isolated_environment.rglob("*"))
    assert (
        main(
            ["install", agent, "--dry-run", "--yes", "--trust"]
            if agent == "codex"
            else ["install", agent, "--dry-run"]
        )
        == 0
    )
    assert sorted(isolated_environment.rglob("*")) == before
    out = capsys.readouterr().out
    assert "Nothing was changed (--dry-run)." in out
    assert ("would ask: Trust these hooks in Codex?" in out) is (agent == "codex")


def test_a_dry_removal_changes_nothing(settings):
    main(["install", "claude-code", "--yes"])
    before = settings.read_bytes()
    assert main(["uninstall", "claude-code", "-n"]) == 0
    assert settings.read_bytes() == before


@pytest.mark.parametrize("stdin", [io.StringIO("yes\n"), None])
def test_where_nobody_can_answer_nothing_is_changed(settings, capsys, monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["install", "claude-code"]) == 2
    done = capsys.readouterr()
    assert "+++" in done.out
    assert "Add --yes" in done.err
    assert not settings.exists()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("YES", 0), ("n", 1), ("", 1)])
def test_a_person_is_asked(settings, answering, answer, code):
    answering(answer)
    assert main(["install", "claude-code"]) == code
    assert settings.exists() is (code == 0)
    answering(answer)
    assert main(["uninstall", "claude-code"]) in {0, code}
    assert not settings.exists()


def test_a_person_may_keep_what_is_set_up(settings, answering):
    main(["install", "claude-code", "-y"])
    answering("n")
    assert main(["uninstall", "claude-code"]) == 1
    assert settings.exists()


def test_scopes_and_the_status_line_are_passed_on(tmp_path, settings):
    assert main(["install", "claude-code", "-y", "--scope", "local"]) == 0
    assert (tmp_path / ".claude" / "settings.local.json").exists()
    assert main(["install", "claude-code", "-y", "--no-status-line"]) == 0
    assert "statusLine" not in json.loads(settings.read_text())


def test_a_plugin_folder_is_written_and_removed(tmp_path, capsys):
    assert main(["install", "claude-code", "-y", "--plugin-folder", "market"]) == 0
    assert f"next: claude plugin marketplace add {tmp_path / 'market'}" in capsys.readouterr().out
    assert main(["uninstall", "claude-code", "-y", "--plugin-folder", "market"]) == 0
    assert not (tmp_path / "market").exists()


def test_a_file_that_cannot_be_used_ends_with_a_message(settings, capsys):
    settings.parent.mkdir()
    settings.write_text("{broken")
    assert main(["install", "claude-code", "--yes"]) == 1
    assert f"{settings}: line 1, column 2: " in capsys.readouterr().err
    assert settings.read_text() == "{broken"


@pytest.mark.parametrize("name", ["install", "uninstall"])
def test_an_agent_that_nobody_knows_is_wrong_usage(name, capsys):
    assert main([name, "nobody"]) == 2
    assert f"there are: {', '.join(sorted(INSTALLERS))}" in capsys.readouterr().err


# -- trust -------------------------------------------------------------------------------------


def test_yes_answers_the_question_of_trust_too_and_shows_it(capsys):
    assert main(["install", "codex", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "Codex runs a hook only when you trust it." in out
    assert "Trust these hooks in Codex? yes" in out
    assert problems() == []
    assert main(["install", "codex", "--yes"]) == 0
    assert "set up already" in capsys.readouterr().out


def test_trust_can_be_left_out(capsys):
    assert main(["install", "codex", "--yes", "--no-trust"]) == 0
    assert BY_HAND in capsys.readouterr().out
    assert "Stop" in problems()


def test_trust_can_be_given_later(capsys):
    main(["install", "codex", "--yes", "--no-trust"])
    assert main(["install", "codex", "--trust"]) == 0
    assert problems() == []


def test_a_person_is_asked_for_trust(answering, capsys):
    answering("y", "n")
    assert main(["install", "codex"]) == 0
    assert BY_HAND in capsys.readouterr().out
    assert "Stop" in problems()
    answering("y")
    assert main(["install", "codex"]) == 0
    assert problems() == []


# -- the model's tools -------------------------------------------------------------------------


def test_tools_come_as_skills_or_by_a_server_or_not_at_all(isolated_environment, capsys):
    home = isolated_environment
    skill = home / ".claude/skills/cognee-remember/SKILL.md"
    assert main(["install", "claude-code", "--yes"]) == 0
    assert "disable-model-invocation" not in skill.read_text()
    assert main(["install", "claude-code", "--yes", "--mcp"]) == 0
    assert "cognee-hooks" in (home / ".claude.json").read_text()
    assert "disable-model-invocation" in skill.read_text()
    assert main(["install", "claude-code", "--yes", "--no-tools"]) == 0
    assert not skill.exists()
    assert not (home / ".claude.json").exists()
    assert main(["install", "claude-code", "--yes", "--no-tools", "--mcp"]) == 2


def test_other_agents_take_no_tools_this_way(capsys):
    assert main(["install", "pi", "--yes", "--mcp"]) == 2
    assert "leave them out for pi" in capsys.readouterr().err


# -- agents of third parties -------------------------------------------------------------------


async def test_an_adapter_may_bring_its_own_installer(tmp_path, isolated_environment, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    path = install_plugin(tmp_path, "acme", ADAPTER)
    done = await command("install", "acme", "--yes", PYTHONPATH=path)
    assert (done.code, done.err) == (0, "")
    assert (isolated_environment / ".acme").read_text() == "x"
    unknown = await command("install", "nobody", "--yes", PYTHONPATH=path)
    assert f"there are: {', '.join(sorted(['acme', *INSTALLERS]))}" in unknown.err
