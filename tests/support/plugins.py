"""What tests of the framework build plugins and dispatchers from."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pluggy

from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.faults import Faults
from cognee_hooks.markers import PROJECT, hookimpl, policy_of

HANG = 60.0
"""Seconds; far beyond every budget and every test."""
BLOCKED = 10.0
"""Seconds; longer than every budget, and short enough that few threads are left behind."""


class Lying:
    """An object that fails whoever asks what it is."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("not telling")


def raises() -> Any:
    raise ValueError("broken")


def exits() -> Any:
    sys.exit(3)


def blocks() -> Any:
    time.sleep(BLOCKED)


async def sleeps() -> Any:
    await asyncio.sleep(HANG)


async def swallows() -> Any:
    # Whoever cancels it, cancels once; a second time ends it with its event loop.
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(HANG)
    await asyncio.sleep(HANG)


def returns_lying() -> Any:
    return Lying()


def returns_nested() -> Any:
    return [[None]]


async def cancels_itself() -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(HANG)


HOSTILE: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        raises,
        exits,
        blocks,
        sleeps,
        swallows,
        returns_lying,
        returns_nested,
        cancels_itself,
    )
}
"""Behaviours by name; each leaves all arguments of its hook out."""


def fresh(behaviour: str) -> Callable[[], Any]:
    """Return a behaviour as a new function, since marks stay on the function that has them."""
    function = HOSTILE[behaviour]
    if asyncio.iscoroutinefunction(function):

        async def made() -> Any:
            return await function()

        return made

    def made_plain() -> Any:
        return function()

    return made_plain


def plugin(**functions: Any) -> object:
    """Make a plugin of functions without ``self``, marked if they are not yet."""
    members = {}
    for name, function in functions.items():
        marked = hasattr(function, f"{PROJECT}_impl")
        members[name] = staticmethod(function if marked else hookimpl(function))
    return type("Plugin", (), members)()


def dispatcher_of(
    specs: SimpleNamespace, plugins: dict[str, object], **options: Any
) -> tuple[Dispatcher, Faults]:
    """Register plugins, the last one called first, and return who calls them."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    for name, each in plugins.items():
        manager.register(each, name)
    faults = options.pop("faults", None) or Faults()
    policies = {name: policy_of(function) for name, function in vars(specs).items()}
    return Dispatcher(manager, policies, faults, **options), faults


def faults_of(faults: Faults) -> Iterator[tuple[str, str]]:
    """Plugin and kind of each fault."""
    return ((row.plugin, row.error_type) for row in faults.rows())
