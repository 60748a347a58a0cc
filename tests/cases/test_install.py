"""P19: an installation adds what is ours to settings that belong to others, and takes it out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command import command

OTHERS = """{
  // written by hand
  "model": "opus",
  "permissions": {"allow": ["Bash(npm test:*)"], "deny": ["Read(./.env)"]},
  "mcpServers": {"tickets": {"command": "tickets-mcp", "args": ["--stdio"]}},
  "statusLine": {"type": "command", "command": "my-status"},
  "somethingNew": [1, 2.50, null],
  "hooks": {
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "other-memory recall"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "notify-send done", "timeout": 3}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]
  }
}
"""
PLAIN = OTHERS.replace("  // written by hand\n", "")
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "qwen-code": ".qwen/settings.json",
    "cursor": ".cursor/hooks.json",
}
EVENT = {"gemini-cli": "BeforeAgent", "cursor": "beforeSubmitPrompt"}
"""What a prompt is called where it is not ``UserPromptSubmit``."""
CODEX = '{"hooks": ' + json.dumps(json.loads(PLAIN)["hooks"]) + "}\n"
CURSOR = '{\n\t"version": 1,\n\t"hooks": {"stop": [{"command": "notify-send done"}]}\n}\n'
CONTENT = {"codex": CODEX, "cursor": CURSOR}


def settings_of(agent: str, home: Path) -> Path:
    """An agent's settings as a person and other tools left them."""
    path = home / FILES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CONTENT.get(agent, PLAIN))
    return path


@pytest.fixture
def home(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", os.defpath)
    return isolated_environment


@pytest.mark.parametrize("agent", FILES)
async def test_p19_only_our_entries_are_added_once_and_taken_out_again(home: Path, agent: str):
    path = settings_of(agent, home)
    before = path.read_text()
    for _ in range(2):
        done = await command("install", agent, "--yes")
        assert done.code == 0, done.err
    hooks = json.loads(path.read_text())["hooks"]
    ours = json.dumps(hooks[EVENT.get(agent, "UserPromptSubmit")]).count("cognee_hooks")
    assert ours == 1
    assert _without_ours(json.loads(path.read_text())) == json.loads(before)
    kept = [each.read_text() for each in path.parent.glob(f"{path.name}.*")]
    assert before in kept, "no copy of what was there"
    done = await command("uninstall", agent, "--yes")
    assert done.code == 0, done.err
    assert path.read_text() == before


def _without_ours(value: object) -> object:
    """A document without what holds a command of ours, and without what became empty thereby."""
    if isinstance(value, dict):
        found = {name: _without_ours(each) for name, each in value.items()}
        return {name: each for name, each in found.items() if each != [] or value[name] == []}
    if isinstance(value, list):
        return [_without_ours(each) for each in value if "cognee_hooks" not in json.dumps(each)]
    return value


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "qwen-code"])
async def test_p19_another_tools_status_line_is_not_taken_over(home: Path, agent: str):
    path = settings_of(agent, home)
    await command("install", agent, "--yes")
    assert json.loads(path.read_text())["statusLine"]["command"] == "my-status"


async def test_p19_a_linked_file_stays_a_link(home: Path):
    path = settings_of("claude-code", home)
    real = home / "dotfiles.json"
    path.rename(real)
    path.symlink_to(real)
    assert (await command("install", "claude-code", "--yes")).code == 0
    assert path.is_symlink()
    assert "cognee_hooks" in real.read_text()
    assert (await command("uninstall", "claude-code", "--yes")).code == 0
    assert real.read_text() == PLAIN


@pytest.mark.parametrize("agent", FILES)
@pytest.mark.parametrize("trouble", ["read-only", "no JSON", "hooks of a wrong shape"])
async def test_p19_a_file_that_cannot_be_edited_is_left_alone_with_a_sentence(
    home: Path, agent: str, trouble: str
):
    path = settings_of(agent, home)
    if trouble == "no JSON":
        path.write_text(path.read_text()[:-3])
    elif trouble == "hooks of a wrong shape":
        path.write_text('{"hooks": "none"}')
    else:
        path.chmod(0o400)
    before = path.read_bytes()
    done = await command("install", agent, "--yes")
    assert done.code != 0
    assert str(path) in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert path.read_bytes() == before


async def test_p19_comments_are_kept_where_the_agent_takes_them(home: Path):
    """Which agents do is in the tests of the installers; here a comment survives both ways."""
    path = settings_of("gemini-cli", home)
    path.write_text(OTHERS)
    assert (await command("install", "gemini-cli", "--yes")).code == 0
    assert "// written by hand" in path.read_text()
    assert (await command("uninstall", "gemini-cli", "--yes")).code == 0
    assert path.read_text() == OTHERS
