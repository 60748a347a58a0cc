from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import engine, mcp_server
from cognee_hooks.install.claude_code import ClaudeCodeInstaller
from cognee_hooks.install.codex import CodexInstaller
from cognee_hooks.install.command import mcp_argv
from cognee_hooks.install.jsonhooks import WrongShapeError
from cognee_hooks.install.jsonmember import TakenError, with_member, without_member
from cognee_hooks.install.plan import Place, Tools
from cognee_hooks.install.tomltable import ConfigEditError, table_of, with_table, without_table

NOW = datetime(2026, 5, 4, tzinfo=UTC)
CLAUDE, CODEX = ClaudeCodeInstaller(), CodexInstaller()
VALUE = {"command": "ours"}


@pytest.fixture
def wanted(place: Place) -> Place:
    return replace(place, tools=Tools.MCP)


def install(agent, place):
    engine.apply(agent.install(place), NOW)


def test_claude_code_is_told_of_the_server_in_its_own_file_and_all_else_in_it_stays(wanted, home):
    path = home / ".claude.json"
    theirs = '{\n  "numStartups": 3,\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n'
    path.write_text(theirs)
    install(CLAUDE, wanted)
    document = json.loads(path.read_text())
    program, *arguments = mcp_argv("claude-code")
    assert document["mcpServers"]["cognee-hooks"] == {
        "command": program,
        "args": arguments,
        "alwaysLoad": True,
    }
    assert document["mcpServers"]["other"] == {"command": "x"}
    assert not [
        change for change in CLAUDE.install(wanted).effective if change.path.name == ".claude.json"
    ]
    engine.apply(CLAUDE.uninstall(wanted), NOW)
    assert path.read_text() == theirs


def test_without_the_option_the_server_goes_again(wanted, home):
    install(CLAUDE, wanted)
    install(CODEX, wanted)
    assert (home / ".claude.json").exists()
    install(CLAUDE, replace(wanted, tools=Tools.SKILLS))
    install(CODEX, replace(wanted, tools=Tools.SKILLS))
    assert not (home / ".claude.json").exists()
    assert not (home / ".codex/config.toml").exists()


def test_projects_and_plugins_name_the_server_in_files_of_their_own(in_project, project):
    place = replace(in_project, tools=Tools.MCP)
    install(CLAUDE, place)
    assert set(json.loads((project / ".mcp.json").read_text())["mcpServers"]) == {"cognee-hooks"}
    install(CODEX, place)
    config = tomllib.loads((project / ".codex/config.toml").read_text())
    assert set(config["mcp_servers"]) == {"cognee-hooks"}
    for agent in (CLAUDE, CODEX):
        engine.apply(agent.uninstall(place), NOW)
    assert not (project / ".mcp.json").exists()
    assert not (project / ".codex/config.toml").exists()
    plugin = replace(place, plugin_folder=Path("out"))
    install(CLAUDE, plugin)
    assert (project / "out/plugins/memory/.mcp.json").exists()
    engine.apply(CLAUDE.uninstall(plugin), NOW)
    assert not (project / "out").exists()


def test_codex_is_told_of_the_server_behind_everything_else(wanted, home):
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    theirs = 'model = "m" # mine\n\n[mcp_servers.other]\ncommand = "x"\n'
    path.write_text(theirs)
    install(CODEX, wanted)
    table = tomllib.loads(path.read_text())["mcp_servers"]["cognee-hooks"]
    assert [table["command"], *table["args"]] == mcp_argv("codex")
    assert "COGNEE_HOOKS_STATE_DIR" in table["env_vars"]
    assert path.read_text().startswith(theirs)
    assert [change.path for change in CODEX.install(wanted).effective] == []
    engine.apply(CODEX.uninstall(wanted), NOW)
    assert path.read_text() == theirs


def test_a_server_of_our_name_that_is_somebody_else_s_is_not_touched(wanted, home):
    (home / ".claude.json").write_text('{"mcpServers": {"cognee-hooks": {"command": "x"}}}')
    with pytest.raises(InstallRefused, match="somebody else's"):
        CLAUDE.install(wanted)
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('[mcp_servers.cognee-hooks]\ncommand = "x"\n')
    with pytest.raises(InstallRefused, match="somebody else's"):
        CODEX.install(wanted)
    assert CLAUDE.uninstall(wanted).effective == []
    assert CODEX.uninstall(wanted).effective == []


@pytest.mark.parametrize("text", ["[1]", '{"mcpServers": []}', "{", "\xff"])
def test_a_file_that_is_not_what_the_agent_reads_is_left_alone(wanted, home, text):
    (home / ".claude.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InstallRefused):
        CLAUDE.install(wanted)


def test_a_person_is_told_where_the_sdk_is_missing(wanted, monkeypatch):
    assert mcp_server.notes(wanted) == []
    monkeypatch.setattr(mcp_server, "find_spec", lambda _: None)
    assert "cognee-hooks[mcp]" in mcp_server.notes(wanted)[0]
    assert mcp_server.notes(replace(wanted, tools=Tools.SKILLS)) == []


# -- one member of a JSON object ------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
PLAIN = st.dictionaries(NAMES, st.one_of(st.integers(), NAMES), max_size=3)


@given(PLAIN, st.none() | PLAIN, st.sampled_from([None, 2, "\t"]))
def test_a_member_comes_and_goes_and_everything_else_stays(others, inner, indent):
    document = {f"a{name}": value for name, value in others.items()}
    if inner is not None:
        document["box"] = {f"a{name}": value for name, value in inner.items()}
    added = with_member(json.dumps(document, indent=indent), "box", "ours", VALUE, lambda *_: True)
    assert json.loads(added) == {**document, "box": {**document.get("box", {}), "ours": VALUE}}
    assert with_member(added, "box", "ours", VALUE, lambda *_: True) == added
    removed = json.loads(without_member(added, "box", "ours", lambda *_: True))
    # An object in which nothing is left goes, too.
    assert removed == {name: value for name, value in document.items() if value != {}}


def test_a_member_that_is_not_ours_is_neither_replaced_nor_removed():
    text = '{"box": {"ours": {"command": "theirs"}}}'
    with pytest.raises(TakenError):
        with_member(text, "box", "ours", VALUE, lambda *_: False)
    assert without_member(text, "box", "ours", lambda *_: False) == text
    changed = with_member(text, "box", "ours", VALUE, lambda *_: True)
    assert json.loads(changed) == {"box": {"ours": VALUE}}
    assert without_member('{"box": 1}', "box", "ours", lambda *_: True) == '{"box": 1}'
    with pytest.raises(WrongShapeError):
        with_member('{"box": 1}', "box", "ours", VALUE, lambda *_: True)


# -- one table of a TOML file ---------------------------------------------------------------------

PATH = ("servers", "o u r s")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "[servers.x]\ny = 1\n\n# the end\n",
        '[[many]]\na = 1\n[[many]]\na = 2\n[servers."x y"]\n',
    ],
)
def test_a_table_comes_and_goes_and_everything_else_stays(text):
    value = {"command": 'a "b"', "args": ["1", "ü"]}
    added = with_table(text, PATH, value)
    assert table_of(added, PATH) == value
    assert with_table(added, PATH, value) == added
    changed = with_table(added, PATH, {"command": "new"})
    assert table_of(changed, PATH) == {"command": "new"}
    removed = without_table(added, PATH)
    assert removed.rstrip("\r\n") == text.rstrip("\r\n")


def test_what_is_below_the_table_goes_with_it_and_what_comes_behind_stays():
    text = '[servers."o u r s"]\na = 1\n[servers."o u r s".env]\nB = "c"\n[other]\nd = 1\n'
    assert without_table(text, PATH) == "[other]\nd = 1\n"


@pytest.mark.parametrize("text", ["a = ", "servers = {x = 1}\n"])
def test_a_file_that_lines_cannot_be_added_to_is_refused(text):
    with pytest.raises(ConfigEditError):
        with_table(text, PATH, {"command": "x"})


def test_a_table_that_is_written_inline_is_not_removed_line_by_line():
    with pytest.raises(ConfigEditError):
        without_table('servers = {"o u r s" = {a = 1}}\n', PATH)
