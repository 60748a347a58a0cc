"""Finding and loading plugins: each bad one is named, and the rest loads."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cognee_hooks import hookimpl
from cognee_hooks import registry as registry_module
from cognee_hooks.errors import PluginError, PluginRefused
from cognee_hooks.registry import PluginRecord, PluginState, Registry, declared_policies
from cognee_hooks.settings import PluginSelection
from tests.support.plugins import HANG
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
BUILT_INS = {
    "bootstrap",
    "bridge",
    "capture",
    "code_lane",
    "compaction",
    "datasets",
    "memory",
    "provisioning",
    "recall",
    "statusline",
    "sync",
    "updates",
}


class Good:
    @hookimpl
    def cognee_stop(self, event: Any) -> None:
        """Do nothing."""


class HalfBroken:
    """Has one good hook before the one that pluggy cannot take."""

    @hookimpl
    def cognee_post_tool_use(self, event: Any) -> None:
        """Do nothing."""

    @hookimpl
    def cognee_stop(self, nothing_like_it: Any) -> None:
        """Ask for an argument that there is not."""


class FakeEntryPoint:
    """As much of an entry point as the registry looks at."""

    def __init__(self, name: str, load: Any, dist: tuple[str, str] | None = None) -> None:
        self.name = name
        self.value = f"{name}_package:plugin"
        self.dist = SimpleNamespace(name=dist[0], version=dist[1]) if dist else None
        self.load = load


def entry(name: str, loaded: Any, version: str = "1.0") -> FakeEntryPoint:
    return FakeEntryPoint(name, lambda: loaded, (f"cognee-hooks-{name}", version))


def failing(name: str, error: BaseException) -> FakeEntryPoint:
    def load() -> None:
        raise error

    return FakeEntryPoint(name, load, (f"cognee-hooks-{name}", "1.0"))


def load(
    *entry_points: Any,
    extra: dict[str, object] | None = None,
    strict: bool = False,
    load_timeout: float = PATIENCE,
    **selection: Any,
) -> Registry:
    registry = Registry(
        PluginSelection(**{"block": frozenset(BUILT_INS), **selection}),
        strict=strict,
        entry_points=entry_points,
        load_timeout=load_timeout,
    )
    registry.load(lambda name: f"context of {name}", (extra or {}).items())
    return registry


def record(registry: Registry, name: str) -> PluginRecord:
    return next(each for each in registry.records if each.name == name)


# -- what can be a plugin ------------------------------------------------------------------------


def test_an_object_a_module_and_both_kinds_of_factory_are_plugins():
    module = ModuleType("a_module")
    module.cognee_stop = hookimpl(lambda event: None)
    seen: list[Any] = []

    def with_context(context: Any) -> Good:
        seen.append(context)
        return Good()

    registry = load(
        entry("object", Good()),
        entry("module", module),
        entry("class", Good),
        entry("factory", with_context),
    )
    assert {each.name for each in registry.records if each.state is PluginState.ACTIVE} == {
        "object",
        "module",
        "class",
        "factory",
    }
    assert seen == ["context of factory"]
    found = record(registry, "object")
    assert (found.distribution, found.version) == ("cognee-hooks-object", "1.0")
    assert found.hooks == ("cognee_stop",)
    assert found.load_seconds >= 0


def test_a_plugin_handed_over_has_no_distribution():
    registry = load(extra={"mine": Good()})
    assert registry.is_active("mine")
    assert not registry.is_built_in("mine")
    assert not registry.is_built_in("nobody")
    assert record(registry, "mine").distribution == ""


def test_an_entry_point_without_a_distribution_is_named_by_its_target():
    assert record(load(FakeEntryPoint("bare", Good)), "bare").distribution == "bare_package:plugin"


def test_the_order_of_installed_plugins_is_that_of_their_names():
    names = ["zeta", "alpha", "mid"]
    registry = load(*(entry(name, Good()) for name in names))
    impls = registry.manager.hook.cognee_stop.get_hookimpls()
    assert [each.plugin_name for each in impls] == sorted(names)


def test_a_plugin_handed_over_comes_before_installed_ones_and_those_before_built_ins():
    registry = Registry(
        PluginSelection(block=frozenset({"recall"})), entry_points=[entry("a", Good())]
    )
    registry.load(lambda _: _Context(), [("mine", Good())])
    impls = registry.manager.hook.cognee_stop.get_hookimpls()
    assert [each.plugin_name for each in reversed(impls)] == ["mine", "a", "capture"]
    assert registry.is_built_in("capture")


class _Context:
    state = SimpleNamespace(read=dict)

    def settings(self, options: type) -> Any:
        return options()


# -- what cannot ---------------------------------------------------------------------------------


class Weird(BaseException):
    """Neither an Exception nor known."""


class Unspeakable(ImportError):
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ImportError("No module named 'left_pad'"), "ImportError: No module named 'left_pad'"),
        (SyntaxError("bad"), "SyntaxError: bad"),
        (AttributeError("no\nplugin"), "AttributeError: no plugin"),
        (SystemExit(3), "It raised SystemExit while it was loaded."),
        (KeyboardInterrupt(), "It raised KeyboardInterrupt while it was loaded."),
        (Weird(), "It raised Weird while it was loaded."),
        (ValueError("a secret"), "It raised ValueError while it was loaded."),
        (Unspeakable(), "It cannot be imported: Unspeakable."),
        (ModuleNotFoundError("x" * 9000), "xxx"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_one_that_fails_on_import_is_named_and_the_rest_loads(error, reason):
    registry = load(failing("bad", error), entry("good", Good()))
    bad = record(registry, "bad")
    assert bad.state is PluginState.FAILED
    assert reason in bad.reason
    assert "secret" not in bad.reason
    assert len(bad.reason) < 1000
    assert bad.distribution == "cognee-hooks-bad"
    assert registry.is_active("good")


def test_one_that_sleeps_on_import_is_left_behind():
    started = time.monotonic()
    slow = FakeEntryPoint("slow", lambda: time.sleep(HANG))
    registry = load(slow, entry("good", Good()), load_timeout=1.0)
    assert time.monotonic() - started < PATIENCE
    assert record(registry, "slow").reason == "Importing it took more than 1 s."
    assert registry.is_active("good")


def test_who_took_too_long_once_is_hardly_waited_for_again_and_taken_when_it_has_come():
    coming = threading.Event()

    def arrive():
        coming.wait(HANG)
        return Good()

    slow: set[str] = set()

    def registry() -> Registry:
        made = Registry(
            PluginSelection(block=frozenset(BUILT_INS)),
            entry_points=[FakeEntryPoint("slow", arrive)],
            load_timeout=HANG if slow else 0.2,
            slow=slow,
        )
        made.load(lambda _: None)
        return made

    assert not registry().is_active("slow")
    assert slow == {"slow"}
    started = time.monotonic()
    assert not registry().is_active("slow")
    assert time.monotonic() - started < PATIENCE
    coming.set()
    assert registry().is_active("slow")


def test_half_a_registration_is_rolled_back():
    registry = load(entry("half", HalfBroken()))
    assert record(registry, "half").state is PluginState.FAILED
    assert not registry.manager.has_plugin("half")
    assert registry.manager.hook.cognee_post_tool_use.get_hookimpls() == []


@pytest.mark.parametrize("registers_first", [True, False])
def test_what_pluggy_itself_refuses_is_rolled_back(monkeypatch, registers_first):
    registry = Registry(
        PluginSelection(block=frozenset(BUILT_INS)), entry_points=[entry("a", Good())]
    )
    register = registry.manager.register

    def refuses(plugin: object, name: str) -> None:
        if registers_first:
            register(plugin, name)
        raise ValueError("pluggy says no")

    monkeypatch.setattr(registry.manager, "register", refuses)
    registry.load(lambda _: None)
    assert record(registry, "a").reason == "It raised ValueError while it was loaded."
    assert not registry.manager.has_plugin("a")


@pytest.mark.parametrize("version", [2, 0, "1"])
def test_one_for_another_version_of_the_hook_api_says_so(version):
    class Newer(Good):
        cognee_hooks_api = version

    reason = record(load(entry("newer", Newer())), "newer").reason
    assert f"written for version {version}" in reason
    assert "Install a matching version" in reason


def test_a_factory_for_another_version_is_not_called_and_its_product_may_say_so_too():
    class Newer(Good):
        cognee_hooks_api = 2

    def makes() -> Newer:
        return Newer()

    def never() -> Good:
        raise AssertionError

    never.cognee_hooks_api = 2
    for factory in (makes, never, Newer):
        reason = record(load(entry("newer", factory)), "newer").reason
        assert "written for version 2" in reason


def test_a_name_that_is_taken_stays_with_the_first():
    first, second = entry("twin", Good()), entry("twin", Good())
    second.value = "zz:plugin"
    second.dist = SimpleNamespace(name="other-package", version="2")
    registry = load(second, first, extra={"twin": Good()})
    assert record(registry, "twin").distribution == "cognee-hooks-twin"
    assert record(registry, "twin (other-package)").reason == (
        "The name 'twin' is already taken by cognee-hooks-twin."
    )
    assert record(registry, "twin (object)").state is PluginState.FAILED


def test_a_name_of_an_object_of_the_embedding_program_is_said_to_be_theirs():
    registry = Registry(PluginSelection(block=frozenset(BUILT_INS)), entry_points=())
    registry.load(lambda _: None, [("mine", Good()), ("mine", Good())])
    assert "taken by the embedding program" in record(registry, "mine (object)").reason


def test_an_object_that_fails_whoever_looks_at_it_is_left_out():
    class Hidden:
        def __dir__(self) -> list[str]:
            raise RuntimeError

    assert "RuntimeError" in record(load(entry("hidden", Hidden())), "hidden").reason


def test_damaged_metadata_of_an_installed_package_is_reported(monkeypatch):
    def damaged(group: str) -> None:
        raise ValueError

    monkeypatch.setattr("importlib.metadata.entry_points", damaged)
    registry = Registry(PluginSelection(block=frozenset(BUILT_INS)))
    registry.load(lambda _: None)
    [problem] = registry.problems
    assert "pip check" in problem


def test_without_a_list_the_installed_packages_are_looked_at(monkeypatch):
    groups: list[str] = []

    def installed(group: str) -> list[Any]:
        groups.append(group)
        return [entry("found", Good())]

    monkeypatch.setattr("importlib.metadata.entry_points", installed)
    registry = Registry(PluginSelection(block=frozenset(BUILT_INS)))
    registry.load(lambda _: None)
    assert registry.is_active("found")
    assert groups == ["cognee_hooks"]


def test_a_damaged_distribution_does_not_hide_its_plugin():
    class Damaged:
        @property
        def name(self) -> str:
            raise KeyError("Name")

    point = entry("odd", Good())
    point.dist = Damaged()
    assert record(load(point), "odd").distribution == "odd_package:plugin"


# -- built-ins -----------------------------------------------------------------------------------


def test_a_stranger_under_the_name_of_the_built_ins_is_refused_and_not_run(monkeypatch):
    stranger = ModuleType("builtin_plugins")
    monkeypatch.setitem(sys.modules, "builtin_plugins", stranger)
    registry = Registry(PluginSelection(), entry_points=[entry("good", Good())])
    registry.load(lambda _: None)
    for name in BUILT_INS:
        assert "belongs to another project" in record(registry, name).reason
    assert registry.is_active("good")


def test_ctrl_c_while_a_built_in_loads_ends_the_program(monkeypatch):
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry_module, "import_module", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Registry(PluginSelection(), entry_points=()).load(lambda _: None)


# -- selection -----------------------------------------------------------------------------------


def test_a_blocked_plugin_is_not_even_imported():
    registry = load(
        failing("bad", ImportError()),
        block=frozenset({*BUILT_INS, "bad"}),
        block_sources={"bad": "config.yaml"},
    )
    assert record(registry, "bad").state is PluginState.BLOCKED
    assert record(registry, "bad").reason == "Blocked by config.yaml."
    assert record(registry, "recall").reason == "Blocked by configuration."


def test_only_those_on_the_list_are_loaded():
    registry = load(entry("a", Good()), entry("b", Good()), only=frozenset({"a"}))
    assert registry.is_active("a")
    assert "`only`" in record(registry, "b").reason


def test_without_autoload_only_required_and_handed_over_plugins_load():
    registry = load(
        entry("a", Good()),
        entry("b", Good()),
        extra={"mine": Good()},
        autoload=False,
        require=("a>=1",),
    )
    assert registry.is_active("a")
    assert registry.is_active("mine")
    assert "`autoload`" in record(registry, "b").reason


@pytest.mark.parametrize("name", ["redaction", "dispatch"])
def test_essentials_refuse_to_be_blocked_with_a_sentence(name):
    registry = load(block=frozenset({*BUILT_INS, name}))
    [problem] = registry.problems
    assert problem.startswith(f"{name} cannot be blocked: ")


def test_unknown_names_are_reported():
    registry = load(block=frozenset({*BUILT_INS, "nobody"}))
    assert registry.problems == ["No plugin is called 'nobody'; see `cognee-hooks plugins`."]
    assert "'someone'" in load(only=frozenset({"someone"})).problems[0]


@pytest.mark.parametrize(
    ("requirement", "version", "met"),
    [
        ("a", "1.0", True),
        ("a>=1.0", "1.0", True),
        ("a>=1.0.0", "1.0", True),
        ("a >= 1.2", "1.10", True),
        ("a>=1.2", "1.2rc1", True),
        ("a>=2", "1.9.9", False),
        ("a>=1", "", False),
        ("a>=1.2", "main", False),
        ("missing", "1.0", False),
    ],
)
def test_requirements_compare_versions_by_number(requirement, version, met):
    registry = load(entry("a", Good(), version), require=(requirement,))
    assert (registry.problems == []) is met


def test_a_required_plugin_that_failed_is_reported_with_its_reason():
    [problem] = load(failing("a", ImportError("gone")), require=("a",)).problems
    assert problem == (
        "The required plugin 'a' is failed. It cannot be imported: ImportError: gone"
    )


# -- for authors ---------------------------------------------------------------------------------


def test_strict_mode_raises_what_makes_a_plugin_unusable():
    with pytest.raises(PluginError, match="plugin bad: It cannot be imported"):
        load(failing("bad", ImportError("gone")), strict=True)


def test_strict_mode_raises_an_unmet_requirement():
    with pytest.raises(PluginError, match="not installed"):
        load(require=("missing",), strict=True)


def test_a_plugin_that_is_refused_later_is_unregistered_once():
    registry = load(entry("a", Good()))
    registry.refuse("a", "It misbehaved.")
    registry.refuse("a", "It misbehaved again.")
    assert not registry.is_active("a")
    assert registry.manager.hook.cognee_stop.get_hookimpls() == []


def test_every_hook_has_a_policy():
    hooks = vars(Registry(PluginSelection(), entry_points=()).manager.hook)
    assert set(declared_policies()) == {name for name in hooks if name.startswith("cognee_")}


def test_a_refusal_is_also_a_plugin_error():
    assert issubclass(PluginRefused, PluginError)


# -- really installed ----------------------------------------------------------------------------


def test_installed_packages_are_found_by_their_entry_points(tmp_path):
    for name, body in {
        "fine": """
            from cognee_hooks import hookimpl
            class Plugin:
                def __init__(self, context): pass
                @hookimpl
                def cognee_stop(self, event): pass
        """,
        "leaving": "import sys; sys.exit(9)",
        "garbled": "def (",
    }.items():
        (tmp_path / f"{name}_pkg.py").write_text(textwrap.dedent(body), encoding="utf-8")
        info = tmp_path / f"cognee_hooks_{name}-0.3.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: cognee-hooks-{name}\nVersion: 0.3\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[cognee_hooks]\n{name} = {name}_pkg:Plugin\n", encoding="utf-8"
        )
    program = """
        from cognee_hooks.registry import Registry
        from cognee_hooks.settings import PluginSelection
        registry = Registry(PluginSelection(block=frozenset({"recall", "capture"})))
        registry.load(lambda name: None)
        for each in registry.records:
            print(each.name, each.distribution, each.version, each.state.value, each.reason)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert "fine cognee-hooks-fine 0.3 active " in lines
    assert (
        "leaving cognee-hooks-leaving 0.3 failed It raised SystemExit while it was loaded." in lines
    )
    assert any(line.startswith("garbled cognee-hooks-garbled 0.3 failed") for line in lines)
