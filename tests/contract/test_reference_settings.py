"""Every setting of the cognee extension for pi is read, with its default, or differs in writing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cognee_hooks import Host
from cognee_hooks.services.paths import Paths

ROOT = Path(__file__).parents[2]
DIFFERENCES = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
UUID = "3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"

OPTIONS = {
    "COGNEE_BACKEND": ("", "backend", "", "local"),
    "COGNEE_BASE_URL": ("", "base_url", "", "http://127.0.0.1:9"),
    "COGNEE_LOCAL_API_URL": ("", "local_api_url", "http://localhost:8011", "http://127.0.0.1:9"),
    "COGNEE_API_KEY": ("", "api_key", "", "none"),
    "COGNEE_API_KEY_CACHE": ("", "api_key_cache", "", "/tmp/keys.json"),
    "COGNEE_USER_EMAIL": ("", "user_email", "default_user@example.com", "ann@example.com"),
    "COGNEE_USER_PASSWORD": ("", "user_password", "default_" + "password", "other"),
    "COGNEE_PLUGIN_DATASET": ("", "dataset", "agent_sessions", "other"),
    "COGNEE_PLUGIN_READ_DATASET_IDS": ("", "read_dataset_ids", (), f'["{UUID}"]'),
    "COGNEE_SESSION_ID": ("", "session_id", "", "fixed"),
    "COGNEE_SESSION_PREFIX": ("", "session_prefix", "", "mine"),
    "COGNEE_CAPTURE": ("", "capture", True, "off"),
    "COGNEE_CAPTURE_TOOLS": ("capture", "tools", None, "Bash|Read"),
    "COGNEE_CAPTURE_DENY_PATHS": ("capture", "deny_paths", (), "*.plan,*.draft"),
    "COGNEE_CAPTURE_REDACT": ("", "redact", True, "false"),
    "COGNEE_CAPTURE_REDACT_PATTERNS": ("", "redact_patterns", (), "EMP-[0-9]+\nX-[0-9]+"),
    "COGNEE_CONTEXT_MAX_CHARS": ("recall", "max_chars", 2000, "900"),
    "COGNEE_RECALL_TIMEOUT_MS": ("", "recall_timeout_ms", 4000, "5000"),
    "COGNEE_REQUEST_TIMEOUT_MS": ("", "request_timeout_ms", 10_000, "5000"),
    "COGNEE_HEALTH_TIMEOUT_MS": ("", "health_timeout_ms", 2500, "5000"),
    "COGNEE_IMPROVE_SUBMIT_TIMEOUT_MS": ("sync", "submit_timeout_ms", 60_000, "5000"),
    "COGNEE_IMPROVE_COOLDOWN_MS": ("sync", "cooldown_ms", 1_800_000, "5000"),
    "COGNEE_AUTO_IMPROVE_EVERY": ("sync", "auto_every", 150, "7"),
    "COGNEE_IDLE_THRESHOLD_MS": ("sync", "idle_threshold_ms", 60_000, "5000"),
    "COGNEE_IDLE_IMPROVE": ("sync", "idle", True, "no"),
    "COGNEE_DRAIN_BUDGET_MS": ("bridge", "drain_budget_ms", 20_000, "5000"),
    "COGNEE_REMEMBER_WAIT_SECONDS": ("memory", "wait_seconds", 8.0, "3"),
    "COGNEE_REMEMBER_BACKGROUND": ("memory", "background", True, "0"),
    "COGNEE_FINAL_SYNC": ("sync", "final", True, "false"),
    "COGNEE_BUFFER_LIMIT": ("", "buffer_limit", 100, "7"),
    "COGNEE_BREAKER_THRESHOLD": ("", "breaker_threshold", 5, "7"),
    "COGNEE_BREAKER_WINDOW_MS": ("", "breaker_window_ms", 300_000, "5000"),
    "COGNEE_BREAKER_COOLDOWN_MS": ("", "breaker_cooldown_ms", 120_000, "5000"),
    "COGNEE_BREAKER_FILE": ("", "breaker_file", "", "/tmp/breaker.json"),
    "COGNEE_CODE_AUTOINDEX": ("code_lane", "autoindex", "auto", "always"),
    "COGNEE_CODE_INDEX_TIMEOUT_MS": ("code_lane", "index_timeout_ms", 120_000, "5000"),
    "COGNEE_STATUSLINE_COUNTS": ("recall", "status_counts", "default", "full"),
    "COGNEE_STATUSLINE_CREDITS": ("statusline", "credits", True, "off"),
    "COGNEE_CREDITS_FILE": ("statusline", "credits_file", "", "/tmp/credits.json"),
    "COGNEE_BILLING_URL": (
        *("statusline", "billing_url"),
        *("https://platform.cognee.ai/billing", "https://example.com"),
    ),
    "COGNEE_PLUGIN_IDENTITY": ("provisioning", "identity", "auto", "false"),
    "COGNEE_SHARED_AGENT_MEMORY": ("provisioning", "shared_memory", True, "off"),
    "COGNEE_LOCAL_BOOTSTRAP": ("bootstrap", "enabled", True, "off"),
    "COGNEE_SERVER_BOOT_DEADLINE": ("bootstrap", "boot_deadline", 600, "7"),
    "COGNEE_INSTALL_TIMEOUT": ("bootstrap", "install_timeout", 600, "7"),
    "COGNEE_PRESENCE_REPROBE_DELAY": ("bootstrap", "reprobe_delay", 3.0, "7"),
    "COGNEE_PLUGIN_PYTHON": ("bootstrap", "python", "3.12", "3.11"),
    "COGNEE_PLUGIN_LOG_MAX_BYTES": ("bootstrap", "log_max_bytes", 20_971_520, "7"),
    "LLM_API_KEY": ("statusline", "llm_api_key", "", "none"),
}
"""Section, option, the reference's default (None: a longer list of ours), and another value."""

PATHS = {
    "COGNEE_ENV_FILE": ("env_file", ".cognee/.env"),
    "COGNEE_PI_STATE_DIR": ("state_dir", ".cognee-plugin/pi"),
    "COGNEE_CODE_STATE_DIR": ("code_dir", ".cognee-plugin/hooks/code-graph"),
    "COGNEE_API_KEY_CACHE": ("api_key_cache", ".cognee-plugin/api_key.json"),
    "COGNEE_BREAKER_FILE": ("breaker_file", ".cognee-plugin/pi/breaker.json"),
}
"""Places that a variable moves: the attribute of `Paths`, and where they are below the home."""

ELSEWHERE = {"COGNEE_PI_BACKEND", "LLM_MODEL"}
"""Read where they are used: the first by the choice of the mode, the second by doctor."""

DIFFERENT = {
    "COGNEE_BUFFER_LIMIT": "and 1000 of them instead of 100",
    "COGNEE_CODE_STATE_DIR": "What is indexed is kept for each server, for all agents together",
    "COGNEE_CAPTURE_TOOLS": "The list of tools whose calls are kept holds those of all agents",
}
"""Defaults that are not the reference's, with the words that say so in writing."""


def host(tmp_path: Path, **environ: str) -> Host:
    return Host(
        "pi", environ={"HOME": str(tmp_path), **environ}, session_id="pi_s1", entry_points=()
    )


def value(made: Host, section: str, option: str) -> tuple[str, str]:
    """What is in force, as it is shown, and where it comes from."""
    rows = [row for row in made.settings.rows() if (row.section, row.name) == (section, option)]
    assert rows, f"{section}.{option} is no option"
    return rows[0].value, rows[0].source


@pytest.mark.parametrize("variable", OPTIONS)
def test_it_is_read_from_the_environment_and_from_the_shared_file(tmp_path: Path, variable: str):
    section, option, _, other = OPTIONS[variable]
    default, _ = value(host(tmp_path), section, option)
    shown, source = value(host(tmp_path, **{variable: other}), section, option)
    assert source == "shell env"
    assert shown != default or shown == "********"
    file = tmp_path / ".cognee" / ".env"
    file.parent.mkdir()
    file.write_text(f"{variable}='{other}'\n")
    if "\n" not in other:
        assert value(host(tmp_path), section, option) == (shown, "env file")
    # What is exported as nothing hides what the file says.
    assert value(host(tmp_path, **{variable: ""}), section, option) == (default, "default")


@pytest.mark.parametrize("variable", OPTIONS)
def test_its_default_is_the_references_or_a_page_says_otherwise(tmp_path: Path, variable: str):
    section, option, expected, _ = OPTIONS[variable]
    if variable in DIFFERENT:
        assert DIFFERENT[variable] in DIFFERENCES
        return
    made = host(tmp_path)
    (cls,) = {type(made.core)} if not section else _options(made, section)
    assert cls.__dataclass_fields__[option].default == expected


def _options(made: Host, section: str) -> set[type]:
    """The options of a plugin, which keeps them in an attribute."""
    plugin = made.registry.manager.get_plugin(section)
    return {
        type(each) for each in vars(plugin).values() if type(each).__name__.endswith("Settings")
    }


@pytest.mark.parametrize("variable", PATHS)
def test_it_moves_what_it_names(variable: str):
    attribute, place = PATHS[variable]
    assert getattr(Paths.of({"HOME": "/home/ann"}, "pi"), attribute) == Path("/home/ann") / place
    moved = Paths.of({"HOME": "/home/ann", variable: "~/elsewhere"}, "pi")
    assert getattr(moved, attribute) == Path("/home/ann/elsewhere")


def test_pi_has_a_pin_of_its_own(tmp_path: Path):
    pinned = host(tmp_path, COGNEE_PI_BACKEND="local", COGNEE_BASE_URL="http://127.0.0.1:9")
    assert (pinned.mode.backend, pinned.mode.forced_by) == ("local", "COGNEE_PI_BACKEND")


def _read_attributes() -> set[str]:
    """Names of all attributes that code reads, the declarations of options left out."""
    found: set[str] = set()
    for package in ("cognee_hooks", "builtin_plugins"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    found.add(node.attr)
    return found


def test_each_option_is_used_by_code():
    read = _read_attributes()
    assert {option for _, option, *_ in OPTIONS.values()} - read == set()


def test_no_setting_of_the_reference_is_forgotten():
    sources = "".join(
        path.read_text(encoding="utf-8")
        for package in ("cognee_hooks", "builtin_plugins")
        for path in (ROOT / package).rglob("*.py")
    )
    for variable in {*OPTIONS, *PATHS, *ELSEWHERE}:
        assert re.search(rf'"{variable}"', sources), variable
