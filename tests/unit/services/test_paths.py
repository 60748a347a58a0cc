from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cognee_hooks.daemon import thin_client
from cognee_hooks.services.paths import Paths


def test_a_pi_session_uses_the_folder_of_the_extension_it_follows():
    paths = Paths.of({"HOME": "/home/ann"}, "pi")
    assert paths.state_dir == Path("/home/ann/.cognee-plugin/pi")
    assert paths.bridge_dir == Path("/home/ann/.cognee-plugin/pi/bridge")
    assert paths.breaker_file == Path("/home/ann/.cognee-plugin/pi/breaker.json")


def test_any_other_agent_gets_a_folder_of_its_own():
    paths = Paths.of({"HOME": "/home/ann"}, "claude-code")
    assert paths.state_dir == Path("/home/ann/.cognee-plugin/hooks/claude-code")
    assert paths.sessions_dir == paths.state_dir / "sessions"


def test_shared_files_lie_where_the_other_plugins_look():
    paths = Paths.of({"HOME": "/home/ann"}, "codex")
    assert paths.env_file == Path("/home/ann/.cognee/.env")
    assert paths.api_key_cache == Path("/home/ann/.cognee-plugin/api_key.json")
    assert paths.shared_dir == Path("/home/ann/.cognee-plugin")


def test_our_own_files_lie_below_the_home_that_the_environment_names():
    paths = Paths.of({"HOME": "/home/ann"}, "codex")
    for folder in (paths.config_dir, paths.data_dir, paths.log_dir, paths.embedded_dir):
        assert folder.is_relative_to("/home/ann")
    assert paths.config_file.name == "config.yaml"


def test_platform_folders_of_the_environment_win():
    environ = {
        "HOME": "/home/ann",
        "XDG_CONFIG_HOME": "/c",
        "XDG_DATA_HOME": "/d",
        "XDG_STATE_HOME": "relative/is/ignored",
    }
    paths = Paths.of(environ, "codex")
    assert paths.config_dir == Path("/c/cognee-hooks")
    assert paths.data_dir == Path("/d/cognee-hooks")
    assert paths.log_dir.is_relative_to("/home/ann")


def test_folders_of_the_process_itself_do_not_leak_in(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert Paths.of({"HOME": "/home/ann"}, "pi").config_dir == Path(
        "/home/ann/.config/cognee-hooks"
    )


@pytest.mark.parametrize(
    ("variable", "agent", "attribute"),
    [
        ("COGNEE_ENV_FILE", "codex", "env_file"),
        ("COGNEE_API_KEY_CACHE", "codex", "api_key_cache"),
        ("COGNEE_BREAKER_FILE", "codex", "breaker_file"),
        ("COGNEE_HOOKS_STATE_DIR", "codex", "state_dir"),
        ("COGNEE_PI_STATE_DIR", "pi", "state_dir"),
    ],
)
@pytest.mark.parametrize(
    ("value", "expected"),
    [("/x/y", "/x/y"), ("~/y", "/home/ann/y"), ("~", "/home/ann"), ("y", "/home/ann/y")],
)
def test_single_places_can_be_moved(variable, agent, attribute, value, expected):
    paths = Paths.of({"HOME": "/home/ann", variable: value}, agent)
    assert getattr(paths, attribute) == Path(expected)


def test_what_is_meant_for_pi_moves_pi_only_and_wins_there():
    environ = {
        "HOME": "/home/ann",
        "COGNEE_PI_STATE_DIR": "/pi",
        "COGNEE_HOOKS_STATE_DIR": "/all",
    }
    assert Paths.of(environ, "pi").state_dir == Path("/pi")
    assert Paths.of(environ, "codex").state_dir == Path("/all")


@pytest.mark.parametrize("agent", ["../../etc", "a/b", ".", "", "x\0y"])
def test_an_agents_name_cannot_lead_out_of_its_folder(agent):
    state = Paths.of({"HOME": "/home/ann"}, agent).state_dir
    assert state.parent == Path("/home/ann/.cognee-plugin/hooks")
    assert ".." not in state.parts


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "not/absolute"}])
def test_without_a_home_the_users_own_is_used(environ):
    import pwd

    assert Paths.of(environ, "pi").home == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_a_user_whom_nobody_knows_gets_a_home_that_cannot_be_written(monkeypatch):
    import pwd

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert Paths.of({}, "pi").home == Path("/")


@pytest.mark.parametrize(
    "value",
    [None, "", " ", "/x/y", "/x/../y/", "~", "~/", "~/y", "~//y", "y", "./y", "~ann", " /x "],
)
@pytest.mark.parametrize("agent", ["daemon", "pi", "claude-code"])
def test_the_thin_client_finds_the_daemon_where_everybody_else_looks(value, agent):
    environ = {"HOME": "/home/ann", "COGNEE_PI_STATE_DIR": "/not/for/the/daemon"}
    if value is not None:
        environ["COGNEE_HOOKS_STATE_DIR"] = value
    raw = {os.fsencode(name): os.fsencode(text) for name, text in environ.items()}
    found = Path(os.fsdecode(thin_client.daemon_folder(raw)))
    assert found == Paths.of(environ, agent).daemon_dir


@pytest.mark.parametrize("home", [None, "", "not/absolute", "/home/ann/", "/h\udcff"])
def test_both_find_it_in_whatever_home_there_is(home):
    environ = {} if home is None else {"HOME": home}
    raw = {os.fsencode(name): os.fsencode(text) for name, text in environ.items()}
    found = Path(os.fsdecode(thin_client.daemon_folder(raw)))
    assert found == Paths.of(environ, "daemon").daemon_dir


def test_the_daemon_is_one_for_all_agents_and_lies_beside_their_state():
    places = {Paths.of({"HOME": "/home/ann"}, each).daemon_dir for each in ("pi", "codex", "x")}
    assert places == {Path("/home/ann/.cognee-plugin/hooks/daemon")}


def test_the_key_lies_with_our_data_and_not_with_what_it_encrypts():
    environ = {"HOME": "/home/ann", "COGNEE_HOOKS_STATE_DIR": "/s"}
    paths = Paths.of(environ, "daemon")
    assert paths.key_file == Path("/home/ann/.local/share/cognee-hooks/key")
    # A terminal may bring folders of its own, for the same state.
    assert Paths.of(environ | {"XDG_DATA_HOME": "/d"}, "daemon").key_file == paths.key_file
    assert not paths.key_file.is_relative_to(paths.daemon_dir)


def test_making_paths_touches_nothing(tmp_path):
    Paths.of({"HOME": str(tmp_path)}, "pi")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["statefile", "names", "paths", "breaker", "retry", "failures"])
def test_a_small_module_loads_nothing_heavy(module):
    code = (
        f"import sys, cognee_hooks.services.{module}; "
        "print(sorted({'httpx', 'asyncio', 'yaml', 'rich', 'cryptography', 'platformdirs'} & "
        "set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("agent", ["pi", "codex"])
def test_w30_code_state_follows_the_root_and_may_be_moved(agent):
    home = {"HOME": "/home/ann"}
    assert Paths.of(home, agent).code_dir == Path("/home/ann/.cognee-plugin/hooks/code-graph")
    moved = Paths.of({**home, "COGNEE_HOOKS_STATE_DIR": "/s"}, agent)
    assert moved.code_dir == Path("/s/code-graph")
    named = Paths.of({**home, "COGNEE_CODE_STATE_DIR": "~/code"}, agent)
    assert named.code_dir == Path("/home/ann/code")
