from __future__ import annotations

from pathlib import Path

import pytest

from builtin_plugins.bootstrap.environment import server_environment

HOME = Path("/home/dev")


def made(
    environ: dict[str, str] | None = None, file: dict[str, str] | None = None, **login: str
) -> dict[str, str]:
    login = {"email": "me@example.com", "password": "mine"} | login
    return server_environment(environ or {}, file or {}, home=HOME, **login)


def test_v31_the_shell_wins_and_the_file_counts():
    # What the file may not set at all is taken out where the file is read.
    found = made({"X": "shell"}, {"X": "file", "CACHING": "false"})
    assert (found["X"], found["CACHING"]) == ("shell", "false")


def test_v32_defaults_of_a_server_of_ours():
    found = made()
    assert found["LLM_INSTRUCTOR_MODE"] == "json_schema_mode"
    assert (found["CACHING"], found["AUTO_FEEDBACK"]) == ("true", "true")
    assert "COGNEE_AGENT_MODE" not in found
    assert found["SYSTEM_ROOT_DIRECTORY"] == "/home/dev/.cognee/system"
    assert found["DATA_ROOT_DIRECTORY"] == "/home/dev/.cognee/data"
    assert found["CACHE_ROOT_DIRECTORY"] == "/home/dev/.cognee/cache"


def test_w21_the_server_knows_the_login_with_which_we_make_a_key():
    found = made(email="a@example.com", password="b")
    assert found["DEFAULT_USER_EMAIL"] == "a@example.com"
    assert found["DEFAULT_USER_PASSWORD"] == "b"


@pytest.mark.parametrize(
    "name",
    ["PATH", "LANG", "LC_ALL", "https_proxy", "LLM_MODEL", "EMBEDDING_DIMENSIONS", "AWS_REGION",
     "GRAPH_DATABASE_URL", "DB_PASSWORD", "HF_HUB_OFFLINE", "ENV", "UV_INDEX_URL"],
)  # fmt: skip
def test_what_a_server_and_its_models_need_is_handed_over(name: str):
    assert made({name: "value"})[name] == "value"


@pytest.mark.parametrize(
    "name",
    ["PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "VIRTUAL_ENV",
     "CLAUDE_PROJECT_DIR", "CODEX_HOME", "PI_SESSION", "GITHUB_TOKEN", "SSH_AUTH_SOCK",
     "COGNEE_API_KEY", "COGNEE_BASE_URL", "COGNEE_AGENT_MODE", "COGNEE_HOOKS_STATE_DIR",
     "COGNEE_SESSION_ID"],
)  # fmt: skip
def test_what_is_the_agents_or_another_programs_is_not(name: str):
    assert name not in made({name: "value"})


def test_a_client_setting_in_the_shared_file_does_not_reach_the_server():
    assert "COGNEE_API_KEY" not in made({}, {"COGNEE_API_KEY": "k"})
