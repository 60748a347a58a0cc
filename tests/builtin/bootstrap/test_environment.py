from __future__ import annotations

from pathlib import Path

import pytest

from builtin_plugins.bootstrap.environment import server_environment, without_installers
from builtin_plugins.bootstrap.secrets_out import Cleaner
from cognee_hooks.settings import Settings

HOME = Path("/home/dev")


def made(
    environ: dict[str, str] | None = None, file: dict[str, str] | None = None, **login: str
) -> dict[str, str]:
    login = {"email": "me@example.com", "password": "mine"} | login
    return server_environment(environ or {}, file or {}, home=HOME, **login)


def test_v31_the_shell_wins_and_the_file_counts(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("X=file\nPYTHONPATH=/p\nLD_PRELOAD=/l\nPATH=/q\nCACHING=false\n")
    found = made({"X": "shell"}, Settings.load({}, env_file=file).env_values)
    assert (found["X"], found["CACHING"]) == ("shell", "false")
    assert not {"PYTHONPATH", "LD_PRELOAD", "PATH"} & set(found)


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


def test_what_only_installing_needs_does_not_reach_the_server():
    environ = made({"UV_INDEX_URL": "https://me:pw@host", "PIP_INDEX_URL": "x", "LLM_MODEL": "m"})
    assert set(environ) - set(without_installers(environ)) == {"UV_INDEX_URL", "PIP_INDEX_URL"}


def test_secrets_of_the_environment_are_known_by_their_value():
    value = "kept" + "-in-mind-4711"
    clean = Cleaner({"LLM_API_KEY": value, "LLM_MODEL": "openai/gpt", "DB_PASSWORD": "short"})
    assert clean(f"Incorrect API key provided: {value}.") == (
        "Incorrect API key provided: [redacted:CREDENTIAL]."
    )
    assert clean("openai/gpt is short of breath") == "openai/gpt is short of breath"
