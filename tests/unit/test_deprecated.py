"""What a plugin is told about what will go away, and that its user never suffers from it."""

from __future__ import annotations

import json
import pickle
import warnings
from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks import __version__, deprecated, hookimpl, hookspecs
from cognee_hooks.cli import main
from cognee_hooks.cli.hook_reference import reference
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.errors import CogneeHooksDeprecationWarning
from cognee_hooks.host import Host
from cognee_hooks.markers import Kind, hookspec
from cognee_hooks.registry import PluginRecord, PluginState, Registry
from cognee_hooks.results import CheckStatus
from cognee_hooks.settings import PluginSelection
from cognee_hooks.testing import assert_plugin, check_plugin

OLD_HOOK = CogneeHooksDeprecationWarning(
    "The hook cognee_old", "1.2", "2.0", "Implement cognee_stop instead."
)
OLD_TEXT = CogneeHooksDeprecationWarning(
    "The argument `text` of cognee_aged", "1.3", "2.0", "Take `event.text` instead."
)


class Old:
    @hookimpl
    def cognee_old(self, event: Any) -> None:
        """Implement what goes away."""


class AsksForText:
    @hookimpl
    def cognee_aged(self, event: Any, text: str) -> None:
        """Ask for what goes away."""


class AsksForTextByAnotherName:
    @hookimpl(specname="cognee_aged")
    def first(self, text: str) -> None:
        """Ask once."""

    @hookimpl(specname="cognee_aged", wrapper=True)
    def second(self, text: str) -> Any:
        """Ask again."""
        return (yield)


class Fresh:
    @hookimpl
    def cognee_aged(self, event: Any) -> None:
        """Leave the old argument alone."""

    @hookimpl(optionalhook=True)
    def cognee_not_yet(self, event: Any) -> None:
        """Wait for a newer version."""


@pytest.fixture(autouse=True)
def hooks(monkeypatch):
    @hookspec(Kind.NOTIFY, budget=1.0, on_fault="nothing", warn_on_impl=OLD_HOOK)
    def cognee_old(event: Any) -> None:
        """Be deprecated."""

    @hookspec(Kind.NOTIFY, budget=1.0, on_fault="nothing", warn_on_impl_args={"text": OLD_TEXT})
    def cognee_aged(event: Any, text: str) -> None:
        """Have a deprecated argument."""

    for spec in (cognee_old, cognee_aged):
        monkeypatch.setattr(hookspecs, spec.__name__, spec, raising=False)


def load(**plugins: object) -> tuple[Registry, list[warnings.WarningMessage]]:
    registry = Registry(PluginSelection(only=frozenset(plugins)), entry_points=())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry.load(lambda _: None, plugins.items())
    return registry, caught


def record(registry: Registry, name: str) -> PluginRecord:
    return next(each for each in registry.records if each.name == name)


# -- at registration -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "warning"),
    [(Old, OLD_HOOK), (AsksForText, OLD_TEXT)],
)
def test_an_author_is_warned_once_at_the_line_of_the_implementation(plugin, warning):
    registry, caught = load(it=plugin)
    assert [str(each.message) for each in caught] == [str(warning)]
    assert caught[0].category is CogneeHooksDeprecationWarning
    assert caught[0].filename == __file__
    [function] = (each for name, each in vars(plugin).items() if name.startswith("cognee_"))
    assert caught[0].lineno == function.__code__.co_firstlineno
    assert record(registry, "it").deprecations == (str(warning),)
    assert record(registry, "it").state is PluginState.ACTIVE


def test_the_warning_says_since_when_until_when_and_what_to_do():
    assert str(OLD_HOOK) == (
        "The hook cognee_old is deprecated since cognee-hooks 1.2 and goes away in 2.0. "
        "Implement cognee_stop instead."
    )


def test_who_leaves_the_deprecated_argument_alone_is_not_warned():
    registry, caught = load(fresh=Fresh)
    assert caught == []
    assert record(registry, "fresh").deprecations == ()


def test_only_the_plugin_that_uses_it_is_warned():
    registry, _ = load(fresh=Fresh, old=AsksForText)
    assert record(registry, "fresh").deprecations == ()
    assert record(registry, "old").deprecations == (str(OLD_TEXT),)


def test_each_implementation_has_a_line_of_its_own_and_the_record_one_sentence():
    registry, caught = load(it=AsksForTextByAnotherName)
    assert len({each.lineno for each in caught}) == 2
    assert record(registry, "it").deprecations == (str(OLD_TEXT),)


def test_a_decorated_implementation_is_warned_at_its_own_line():
    def decorated(function: Any) -> Any:
        @wraps(function)
        def inner(*args: Any) -> Any:
            return function(*args)

        return inner

    def cognee_old(event: Any) -> None:
        """Implement what goes away."""

    _, [caught] = load(it=SimpleNamespace(cognee_old=hookimpl(decorated(cognee_old))))
    assert caught.lineno == cognee_old.__code__.co_firstlineno


def test_where_warnings_are_errors_the_plugin_works_all_the_same():
    registry = Registry(PluginSelection(only=frozenset({"old"})), strict=True, entry_points=())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry.load(lambda _: None, [("old", Old)])
    assert registry.is_active("old")
    assert [each.plugin_name for each in registry.manager.hook.cognee_old.get_hookimpls()] == [
        "old"
    ]
    assert record(registry, "old").deprecations == (str(OLD_HOOK),)


def test_people_who_use_a_plugin_see_no_warning_by_default():
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)  # as Python does outside of tests
        Registry(PluginSelection(only=frozenset({"old"})), entry_points=()).load(
            lambda _: None, [("old", Old)]
        )
    assert caught == []


def test_a_warning_survives_a_way_between_processes():
    copied = pickle.loads(pickle.dumps(OLD_HOOK))  # noqa: S301 - made a line ago
    assert (str(copied), copied.removed_in) == (str(OLD_HOOK), "2.0")


# -- where it shows ------------------------------------------------------------------------------


def test_the_kit_names_it_after_everything_else(tmp_path):
    [problem] = check_plugin(AsksForText, tmp_path)
    assert problem.message == str(OLD_TEXT)
    assert check_plugin(Fresh, tmp_path) == []


def test_the_kit_fails_an_authors_test(tmp_path):
    with pytest.raises(AssertionError, match=r"goes away in 2\.0"):
        assert_plugin(Old, tmp_path)


@pytest.fixture
def installed(monkeypatch):
    found = SimpleNamespace(
        name="aged",
        value="aged:plugin",
        dist=SimpleNamespace(name="cognee-hooks-aged", version="1.0"),
        load=lambda: Old,
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [found])


@pytest.mark.usefixtures("installed", "isolated_environment")
def test_the_table_of_plugins_tells_of_it_beside_an_active_plugin(capsys):
    assert main(["plugins"]) == 0
    shown = capsys.readouterr()
    assert f"! aged: {OLD_HOOK}" in shown.err
    assert main(["plugins", "--json"]) == 0
    [aged] = (each for each in json.loads(capsys.readouterr().out) if each["name"] == "aged")
    assert (aged["state"], aged["deprecations"]) == ("active", [str(OLD_HOOK)])


async def test_doctor_tells_of_it_and_that_it_works(isolated_environment):
    host = Host(
        "claude-code",
        environ={
            "HOME": str(isolated_environment),
            "COGNEE_LOCAL_API_URL": "http://127.0.0.1:9",
        },
        plugins={"aged": Old},
        entry_points=(),
    )
    rows = await examine(host, Deadline.after(20.0))
    await host.close(Deadline.after(1.0))
    [row] = (each for each in rows if each.name == "plugin aged")
    assert row.status is CheckStatus.WARNING
    assert row.detail == str(OLD_HOOK)
    assert "works for now" in row.remedy


def test_the_manual_of_hooks_says_what_of_them_goes_away(capsys):
    manual = reference()
    assert manual.count("**Deprecated.**") == 2
    assert f"**Deprecated.** {OLD_TEXT}" in manual.partition("### `cognee_aged`")[2]
    assert main(["hooks", "--json"]) == 0
    hooks = {row["name"]: row["deprecations"] for row in json.loads(capsys.readouterr().out)}
    assert (hooks["cognee_old"], hooks["cognee_aged"]) == ([str(OLD_HOOK)], [str(OLD_TEXT)])
    assert hooks["cognee_stop"] == []


# -- the policy ----------------------------------------------------------------------------------


def overdue(module: object, version: str) -> list[str]:
    """Return what a release of this version should no longer have."""

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.partition("+")[0].split(".")[:2])

    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, CogneeHooksDeprecationWarning)
        and (
            numbers(version) >= numbers(value.removed_in)
            or value.removed_in.partition(".")[0] == value.since.partition(".")[0]
        )
    ]


def test_what_is_deprecated_goes_away_when_it_was_announced_to():
    sample = SimpleNamespace(
        OLD_HOOK=OLD_HOOK,
        HASTY=CogneeHooksDeprecationWarning("It", "1.2", "1.3", "Do without."),
    )
    assert overdue(sample, "1.9") == ["HASTY"]
    assert overdue(sample, "2.0") == ["OLD_HOOK", "HASTY"]
    assert overdue(deprecated, __version__) == []


def test_nothing_that_comes_with_us_uses_what_is_deprecated():
    registry = Registry(PluginSelection(), entry_points=())
    registry.load(lambda name: Host("claude-code", environ={}, entry_points=())._context(name))
    assert [each.name for each in registry.records if each.deprecations] == []
