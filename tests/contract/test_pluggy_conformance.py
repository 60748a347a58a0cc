"""For plugins that behave, our dispatcher gives the results that pluggy gives.

Plugin sets are made at random, called once by pluggy and once by us. The same file runs again in a
process of its own against the oldest pluggy that we support.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pluggy
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.faults import Faults, FaultType
from cognee_hooks.markers import PROJECT, Kind, Policy, hookimpl, hookspec, policy_of

ROOT = Path(__file__).parents[2]
OLDEST = "1.6.0"
VERSION_FILE = "PLUGGY_VERSION_FILE"
HOOKS = ("told", "gathered", "asked")
ARGUMENTS = ("alpha", "beta")


@hookspec(Kind.NOTIFY, budget=10.0, on_fault="skipped")
def told(alpha: int, beta: int) -> Any:
    """Everybody is told."""


@hookspec(Kind.COLLECT, budget=10.0, on_fault="skipped", result=int)
def gathered(alpha: int, beta: int) -> Any:
    """Everybody is asked."""


@hookspec(Kind.FIRST, budget=10.0, on_fault="skipped", result=int)
def asked(alpha: int, beta: int) -> Any:
    """The first answer counts."""


SPECS = SimpleNamespace(told=told, gathered=gathered, asked=asked)


@dataclass(frozen=True)
class Implementation:
    """One implementation, drawn at random."""

    hook: str
    by_specname: bool
    order: str
    arguments: tuple[str, ...]
    role: str
    answer: int | None


IMPLEMENTATIONS = st.builds(
    Implementation,
    hook=st.sampled_from(HOOKS),
    by_specname=st.booleans(),
    order=st.sampled_from(["", "tryfirst", "trylast"]),
    arguments=st.permutations(ARGUMENTS).flatmap(
        lambda names: st.integers(0, len(names)).map(lambda n: tuple(names[:n]))
    ),
    role=st.sampled_from(["plain", "plain", "plain", "pass", "change", "append"]),
    answer=st.none() | st.integers(0, 9),
)
PLUGINS = st.lists(
    st.lists(IMPLEMENTATIONS, min_size=1, max_size=4, unique_by=lambda each: each.hook),
    max_size=6,
)


def changed(hook: str, value: Any) -> Any:
    """What a changing wrapper makes of a value."""
    if hook == "asked":
        return None if value is None else value + 100
    return [each + 100 for each in value]


def appended(hook: str, value: Any, answer: int | None) -> Any:
    """What an appending wrapper makes of a value."""
    return (value if answer is None else answer) if hook == "asked" else [*value, answer or 0]


def function_of(each: Implementation, calls: list[str]) -> Callable[..., Any]:
    """Return a function with exactly the drawn parameters, since pluggy reads the signature."""

    def plain(**given: int) -> int | None:
        calls.append(f"{each.hook}{sorted(given.items())}{each.answer}")
        return None if each.answer is None else each.answer + sum(given.values())

    def wrap(**given: int) -> Any:
        calls.append(f"open {each.hook}{sorted(given.items())}")
        value = yield
        calls.append(f"close {each.hook} {value!r}")
        if each.role == "change":
            return changed(each.hook, value)
        return value if each.role == "pass" else appended(each.hook, value, each.answer)

    names = ", ".join(each.arguments)
    passed = ", ".join(f"{name}={name}" for name in each.arguments)
    plain_role = each.role == "plain"
    body = f"return plain({passed})" if plain_role else f"return (yield from wrap({passed}))"
    space: dict[str, Any] = {"plain": plain, "wrap": wrap}
    exec(f"def made(self{', ' if names else ''}{names}):\n    {body}", space)  # noqa: S102
    return space["made"]


def plugin_of(implementations: list[Implementation], calls: list[str]) -> object:
    """Make a plugin object."""
    members: dict[str, Any] = {}
    for each in implementations:
        options: dict[str, Any] = {"wrapper": each.role != "plain"}
        if each.order:
            options[each.order] = True
        if each.by_specname:
            options["specname"] = each.hook
        name = f"other_{each.hook}" if each.by_specname else each.hook
        members[name] = hookimpl(**options)(function_of(each, calls))
    return type("Drawn", (), members)()


def manager_of(plugins: list[list[Implementation]], calls: list[str]) -> pluggy.PluginManager:
    """Register drawn plugins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(SPECS)
    for number, implementations in enumerate(plugins):
        manager.register(plugin_of(implementations, calls), f"plugin{number}")
    manager.check_pending()
    return manager


def policies() -> dict[str, Policy]:
    """The policies of this file's hooks."""
    return {name: policy_of(getattr(SPECS, name)) for name in HOOKS}


@given(plugins=PLUGINS, alpha=st.integers(0, 3), inline=st.booleans())
def test_results_and_order_of_calls_are_those_of_pluggy(plugins, alpha, inline):
    theirs: list[str] = []
    ours: list[str] = []
    blocking: list[str] = []
    expected = manager_of(plugins, theirs)
    manager, manager_blocking = manager_of(plugins, ours), manager_of(plugins, blocking)
    faults = Faults()

    def dispatcher_of(of: pluggy.PluginManager) -> Dispatcher:
        return Dispatcher(of, policies(), faults, inline=lambda _: inline)

    dispatcher, second = dispatcher_of(manager), dispatcher_of(manager_blocking)
    for hook in HOOKS:
        values = {"alpha": alpha, "beta": 7}
        result = getattr(expected.hook, hook)(**values)
        assert asyncio.run(dispatcher.call(hook, **values)).value == result
        assert second.call_blocking(hook, **values).value == result
    assert blocking == theirs
    # Threads of several plugins may finish in any order; on the loop the order is pluggy's.
    assert (ours if inline else sorted(ours)) == (theirs if inline else sorted(theirs))
    # A machine that is busy may hold any call up.
    assert {each.error_type for each in faults.rows()} <= {FaultType.SLOW}
    dispatcher.close()
    second.close()


def test_the_version_of_pluggy_is_reported_to_whoever_asks():
    assert Path(str(pluggy.__file__)).is_file()
    if path := os.environ.get(VERSION_FILE):
        report = {"version": version("pluggy"), "file": pluggy.__file__}
        Path(path).write_text(json.dumps(report), encoding="utf-8")


def test_the_same_holds_for_the_oldest_pluggy(tmp_path):
    target, report = tmp_path / "oldest", tmp_path / "version.json"
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable),
            *("--target", str(target), f"pluggy=={OLDEST}"),
        ],
        check=True,
        timeout=120,
    )
    names = (
        "test_results_and_order_of_calls_are_those_of_pluggy",
        "test_the_version_of_pluggy_is_reported_to_whoever_asks",
    )
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"{__file__}::{name}" for name in names),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(target), VERSION_FILE: str(report)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    used = json.loads(report.read_text(encoding="utf-8"))
    assert used["version"] == OLDEST
    assert Path(used["file"]).is_relative_to(target)
