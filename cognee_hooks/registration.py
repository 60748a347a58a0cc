"""Collects what plugins register as data: redactors, lanes, commands, tools, agents, options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cognee_hooks.redaction import Redactor
from cognee_hooks.results import Agent, Command, Lane, Tool

if TYPE_CHECKING:
    from cognee_hooks.dispatch import Dispatcher
    from cognee_hooks.registry import Registry

REDACTORS = "cognee_register_redactors"


@dataclass(slots=True)
class Registered:
    """What the plugins of a host registered.

    Attributes:
        redactors: By name.
        lanes: By name.
        lane_owners: Plugin that registered each lane.
        commands: By name.
        tools: By name.
        agents: By name.
        options: Options dataclasses by the plugin that declared them.
        closed_because: Why nothing may leave the process: a plugin could not register its
            redactors. "" where all is well.
    """

    redactors: dict[str, Redactor] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    lane_owners: dict[str, str] = field(default_factory=dict)
    commands: dict[str, Command] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    options: list[tuple[str, type]] = field(default_factory=list)
    closed_because: str = ""


def register(registry: Registry, dispatcher: Dispatcher) -> Registered:
    """Ask every plugin what it registers.

    A plugin that fails here, or takes a name that is taken, is refused as a whole: half of a plugin
    is worse than none. One that fails to register its redactors also closes redaction, because the
    user relies on them.
    """
    registered = Registered()
    for hook, named in (
        (REDACTORS, registered.redactors),
        ("cognee_register_lanes", registered.lanes),
        ("cognee_register_commands", registered.commands),
        ("cognee_register_tools", registered.tools),
        ("cognee_register_agents", registered.agents),
    ):
        for plugin, item in _items(registry, dispatcher, hook, registered):
            if _add(registry, plugin, hook, named, item) and named is registered.lanes:
                registered.lane_owners[item.name] = plugin
    for plugin, item in _items(registry, dispatcher, "cognee_register_settings", registered):
        registered.options.append((plugin, item))
    return registered


def _items(
    registry: Registry, dispatcher: Dispatcher, hook: str, registered: Registered
) -> Iterator[tuple[str, Any]]:
    for outcome in dispatcher.call_blocking(hook).outcomes:
        if outcome.fault:
            if hook == REDACTORS:
                registered.closed_because = (
                    f"Plugin {outcome.plugin} could not register its redactors ({outcome.fault}). "
                    "Nothing is captured or sent; mend the plugin or block it."
                )
            registry.refuse(outcome.plugin, f"It failed in {hook} ({outcome.fault}).")
        elif isinstance(outcome.result, (list, tuple)):
            yield from ((outcome.plugin, item) for item in outcome.result)
        elif outcome.result is not None:
            yield outcome.plugin, outcome.result


def _add(registry: Registry, plugin: str, hook: str, named: dict[str, Any], item: Any) -> bool:
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not name:
        registry.refuse(plugin, f"It registered a nameless {type(item).__name__} in {hook}.")
    elif name in named:
        registry.refuse(plugin, f"It registered {name!r} in {hook}, which is already taken.")
    else:
        named[name] = item
        return True
    return False
