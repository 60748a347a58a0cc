"""The core's options, their sources, and the decision between local and cloud."""

from __future__ import annotations

import dataclasses
import json
import typing
from enum import Enum

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.bootstrap.settings import BootstrapSettings
from builtin_plugins.bridge.settings import BridgeSettings
from builtin_plugins.capture.settings import CaptureSettings
from builtin_plugins.compaction.settings import CompactionSettings
from builtin_plugins.recall.settings import RecallSettings
from builtin_plugins.statusline.settings import StatuslineSettings
from builtin_plugins.sync.settings import SyncSettings
from cognee_hooks.configuration.declarations import METADATA, Narrow, Option
from cognee_hooks.core_settings import CoreSettings, decide_mode
from cognee_hooks.settings import Settings

UUID = "3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"
DECLARING = {
    "": CoreSettings,
    "bootstrap": BootstrapSettings,
    "bridge": BridgeSettings,
    "capture": CaptureSettings,
    "compaction": CompactionSettings,
    "recall": RecallSettings,
    "statusline": StatuslineSettings,
    "sync": SyncSettings,
}


def core(environ=None, **sources):
    settings = Settings.load(environ or {}, **sources)
    return settings, settings.resolve("", CoreSettings)


def mode(environ=None, agent="", **sources):
    settings, options = core(environ, **sources)
    return decide_mode(settings, options, agent), settings.problems


def declared():
    for section, cls in DECLARING.items():
        hints = typing.get_type_hints(cls)
        for each in dataclasses.fields(cls):
            yield section, cls, each, hints[each.name]


def texts(each, hint, count=5):
    """Return different texts that are right for an option, none of them its default."""
    if hint is bool:
        other = str(not each.default).lower()
        return [other] * count
    if hint in {int, float}:
        return [str(each.default + step) for step in range(1, count + 1)]
    if isinstance(hint, type) and issubclass(hint, Enum):
        others = [member.value for member in hint if member is not each.default]
        return (others * count)[:count]
    if each.name == "read_dataset_ids":
        return [json.dumps([f"{UUID[:-1]}{step}"]) for step in range(count)]
    return [f"value-{step}" for step in range(count)]


PAUSES = {"sync.idle_threshold_ms", "sync.cooldown_ms"}
"""Times between things, not limits of them: none at all is fine."""
MATRIX = [
    pytest.param(section, cls, each, hint, id=f"{section or 'core'}.{each.name}")
    for section, cls, each, hint in declared()
]


# -- what holds for every declared option ----------------------------------------------------------


@pytest.mark.parametrize(("section", "cls", "each", "hint"), MATRIX)
def test_every_option_follows_the_order_of_sources(tmp_path, section, cls, each, hint):
    option = each.metadata[METADATA]
    dotted = f"{section}.{each.name}" if section else each.name
    config, env = tmp_path / "config.yaml", tmp_path / ".env"
    in_config, in_env, in_shell, as_argument, _ = texts(each, hint)
    table = {each.name: in_config}
    config.write_text(yaml.safe_dump({"plugins": {section: table}} if section else table))
    config.chmod(0o600)
    env.write_text(f"{option.env[0]}={in_env}\n")
    seen = []
    for sources in (
        {},
        {"config_file": config},
        {"config_file": config, "env_file": env},
        {"config_file": config, "env_file": env, "environ": {option.env[0]: in_shell}},
        {
            "config_file": config,
            "env_file": env,
            "environ": {option.env[0]: in_shell},
            "arguments": {dotted: as_argument},
        },
    ):
        settings = Settings.load(sources.pop("environ", {}), **sources)
        values = settings.resolve(section, cls)
        assert settings.problems == ()
        seen.append((getattr(values, each.name), settings.get_source(section, each.name)))
    assert [source for _, source in seen] == [
        "default",
        "config.yaml",
        "env file",
        "shell env",
        "argument",
    ]
    assert seen[0][0] == each.default
    assert all(value != each.default for value, _ in seen[1:])
    if not (isinstance(hint, type) and issubclass(hint, (bool, Enum))):
        assert len({value for value, _ in seen}) == 5


@pytest.mark.parametrize(("section", "cls", "each", "hint"), MATRIX)
def test_every_option_lets_a_project_only_narrow(tmp_path, section, cls, each, hint):
    option = each.metadata[METADATA]
    wrong = texts(each, hint)[0]
    if option.narrow is Narrow.SWITCH_OFF:
        wrong = "true"
    table = {each.name: wrong}
    (tmp_path / ".cognee-hooks.yaml").write_text(
        yaml.safe_dump({"plugins": {section: table}} if section else table)
    )
    settings = Settings.load({}, project_dir=tmp_path)
    value = getattr(settings.resolve(section, cls), each.name)
    if option.narrow in {Narrow.CHOOSE, Narrow.ADD}:
        assert settings.problems == ()
        assert settings.get_source(section, each.name) == "project file"
    else:
        assert value == each.default
        assert "a project file can only narrow" in settings.problems[0].message


@pytest.mark.parametrize(("section", "cls", "each", "hint"), MATRIX)
def test_every_option_is_described_and_can_be_set_by_a_variable(section, cls, each, hint):
    option = each.metadata[METADATA]
    assert isinstance(option, Option)
    assert option.help.endswith(".")
    # The one that is not ours is the server's.
    assert all(name.startswith("COGNEE_") or name == "LLM_API_KEY" for name in option.env)
    assert option.env


def test_no_two_options_share_a_variable():
    names = [name for *_, each, _ in declared() for name in each.metadata[METADATA].env]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("section", "cls", "each", "hint"),
    [each for each in MATRIX if each.values[2].name.endswith("_ms") and each.id not in PAUSES],
)
def test_w41_no_time_can_be_so_short_that_everything_is_aborted(section, cls, each, hint):
    name = each.metadata[METADATA].env[0]
    for raw in ("0", "1", "-5", "soon"):
        settings = Settings.load({name: raw})
        assert getattr(settings.resolve(section, cls), each.name) == each.default
        assert name in settings.problems[0].message
    settings = Settings.load({name: "  "})
    assert getattr(settings.resolve(section, cls), each.name) == each.default
    assert settings.problems == ()


def test_the_project_switches_of_capture_and_recall(tmp_path):
    (tmp_path / ".cognee-hooks.yaml").write_text("capture: false\nrecall: false\n")
    settings, options = core(project_dir=tmp_path)
    assert options.capture is False
    assert settings.plugins.block_sources == {"recall": "project file"}
    assert settings.problems == ()


# -- single options --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("my project/2!),", "my-project-2---"),
        ("", "agent_sessions"),
        ("a.b c", "a-b-c"),
        ("x" * 200, "x" * 100),
        ("ünï", "-n-"),
    ],
)
def test_a_dataset_name_is_one_that_every_route_of_the_server_takes(raw, name):
    assert core({"COGNEE_PLUGIN_DATASET": raw})[1].dataset == name
    assert core(arguments={"dataset": raw})[1].dataset == name


def test_a_project_chooses_the_dataset_and_its_name_is_made_safe(tmp_path):
    (tmp_path / ".cognee-hooks.yaml").write_text("dataset: our team\n")
    settings, options = core({"COGNEE_PLUGIN_DATASET": "mine"}, project_dir=tmp_path)
    assert options.dataset == "our-team"
    assert settings.get_source("", "dataset") == "project file"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("[not json", "COGNEE_PLUGIN_READ_DATASET_IDS is not valid JSON: "),
        *(
            (raw, "COGNEE_PLUGIN_READ_DATASET_IDS must be a nonempty JSON list of UUIDs")
            for raw in ('"a-string"', "[]", '["agent_sessions"]', f'["{UUID}", 42]', "5")
        ),
    ],
)
def test_a_read_set_that_cannot_be_used_is_off_and_reported(raw, message):
    settings, options = core({"COGNEE_PLUGIN_READ_DATASET_IDS": raw})
    assert options.read_dataset_ids == ()
    assert settings.problems[0].message.startswith(message)


def test_a_read_set_from_a_file_is_checked_as_well(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(f"read_dataset_ids: [{UUID.upper()}, {UUID}]\n")
    assert core(config_file=config)[1].read_dataset_ids == (UUID,)
    config.write_text("read_dataset_ids: [agent_sessions]\n")
    settings, options = core(config_file=config)
    assert options.read_dataset_ids == ()
    assert "must be a nonempty JSON list of UUIDs" in settings.problems[0].message


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_blank_read_set_is_off_without_a_problem(blank):
    settings, options = core({"COGNEE_PLUGIN_READ_DATASET_IDS": blank})
    assert options.read_dataset_ids == ()
    assert settings.problems == ()


def test_patterns_stand_one_a_line_and_may_hold_commas():
    assert core({"COGNEE_CAPTURE_REDACT_PATTERNS": "a{1,2}\nb"})[1].redact_patterns == (
        "a{1,2}",
        "b",
    )


def test_a_project_adds_patterns_and_cannot_switch_redaction_off(tmp_path):
    (tmp_path / ".cognee-hooks.yaml").write_text("redact_patterns: [emp-1]\nredact: false\n")
    settings, options = core({"COGNEE_CAPTURE_REDACT_PATTERNS": "mine"}, project_dir=tmp_path)
    assert options.redact_patterns == ("mine", "emp-1")
    assert options.redact is True
    assert [problem.name for problem in settings.problems] == ["redact"]


# -- local or cloud --------------------------------------------------------------------------------


def test_nothing_set_means_the_local_server_that_may_be_started():
    decided, problems = mode()
    assert (decided.backend, decided.url) == ("local", "http://localhost:8011")
    assert not decided.explicit_url
    assert not decided.missing_base_url
    assert decided.forced_by == ""
    assert decided.reason == "no other server is set"
    assert problems == ()


@pytest.mark.parametrize("url", ["http://localhost:9000", "http://localhost:8011"])
def test_p08_a_local_address_that_the_user_named_is_told_from_the_default(url):
    decided, _ = mode({"COGNEE_LOCAL_API_URL": url})
    assert (decided.backend, decided.url, decided.explicit_url) == ("local", url, True)
    assert mode({"COGNEE_BASE_URL": url})[0].explicit_url
    assert mode({"COGNEE_LOCAL_API_URL": "  "})[0].explicit_url is False


def test_a_base_url_means_cloud():
    decided, _ = mode({"COGNEE_BASE_URL": " https://c.example/// "})
    assert (decided.backend, decided.url) == ("cloud", "https://c.example")
    assert decided.explicit_url
    assert decided.reason == "COGNEE_BASE_URL is set"


@pytest.mark.parametrize("pin", ["local", "native", "sdk", " LOCAL "])
def test_a_local_pin_beats_a_base_url_and_keeps_the_key(pin):
    environ = {
        "COGNEE_BACKEND": pin,
        "COGNEE_BASE_URL": "https://c.example",
        "COGNEE_API_KEY": "k",
    }
    decided, problems = mode(environ)
    assert (decided.backend, decided.url) == ("local", "http://localhost:8011")
    assert decided.forced_by == "COGNEE_BACKEND"
    assert core(environ)[1].api_key == "k"
    assert problems == ()


@pytest.mark.parametrize("pin", ["cloud", "http", "api", "server", "Cloud"])
def test_a_cloud_pin_never_falls_back_to_local(pin):
    decided, _ = mode({"COGNEE_HOOKS_BACKEND": pin})
    assert (decided.backend, decided.url, decided.missing_base_url) == ("cloud", "", True)
    decided, _ = mode({"COGNEE_HOOKS_BACKEND": pin, "COGNEE_BASE_URL": "https://c.example/"})
    assert (decided.url, decided.missing_base_url) == ("https://c.example", False)
    assert decided.reason == f"COGNEE_HOOKS_BACKEND is {pin.lower()}"


def test_the_pin_of_pi_counts_for_pi_only():
    environ = {"COGNEE_PI_BACKEND": "cloud", "COGNEE_HOOKS_BACKEND": "local"}
    assert mode(environ, agent="pi")[0].forced_by == "COGNEE_PI_BACKEND"
    assert mode(environ, agent="pi")[0].backend == "cloud"
    assert mode(environ, agent="codex")[0].backend == "local"
    assert mode({"COGNEE_HOOKS_BACKEND": "local"}, agent="pi")[0].forced_by == (
        "COGNEE_HOOKS_BACKEND"
    )


def test_the_pin_of_this_package_beats_the_shared_one():
    decided, _ = mode({"COGNEE_HOOKS_BACKEND": "local", "COGNEE_BACKEND": "cloud"})
    assert (decided.backend, decided.forced_by) == ("local", "COGNEE_HOOKS_BACKEND")


def test_a_pin_from_another_source_is_called_by_the_options_name(tmp_path):
    (tmp_path / "config.yaml").write_text("backend: cloud")
    assert mode(config_file=tmp_path / "config.yaml")[0].forced_by == "backend"
    assert mode(arguments={"backend": "local"})[0].forced_by == "backend"


@pytest.mark.parametrize(
    ("environ", "agent", "name"),
    [
        ({"COGNEE_BACKEND": "clowd"}, "", "COGNEE_BACKEND"),
        ({"COGNEE_PI_BACKEND": "clowd"}, "pi", "COGNEE_PI_BACKEND"),
    ],
)
def test_w42_an_unknown_pin_is_reported_and_the_mode_decided_without_it(environ, agent, name):
    decided, (problem,) = mode(environ, agent)
    assert (decided.backend, decided.forced_by) == ("local", "")
    assert (problem.name, problem.source) == (name, "shell env")
    assert "'clowd'" in problem.message
    assert "use local or cloud" in problem.message
    decided, _ = mode({**environ, "COGNEE_BASE_URL": "https://c.example"}, agent)
    assert decided.backend == "cloud"


def test_an_unknown_pin_in_the_env_file_is_told_with_that_source(tmp_path):
    (tmp_path / ".env").write_text("COGNEE_BACKEND=clowd")
    _, (problem,) = mode(env_file=tmp_path / ".env")
    assert problem.source == "env file"


@given(pin=st.text(), url=st.text())
def test_a_mode_comes_out_of_any_text(pin, url):
    decided, _ = mode({"COGNEE_HOOKS_BACKEND": pin, "COGNEE_BASE_URL": url})
    assert decided.backend in {"local", "cloud"}
    assert decided.missing_base_url is (decided.url == "")
    assert not decided.url.endswith("/")


def test_secrets_are_in_no_representation():
    secret = "k" * 20
    assert secret not in repr(CoreSettings(api_key=secret, user_password=secret))
