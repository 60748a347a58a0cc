"""Collects what plugins register as data: redactors, lanes, commands, tools, agents, options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cognee_hooks.guard import attempt
from cognee_hooks.redaction import RedactionPipeline, Redactor
from cognee_hooks.results import Agent, Command, Lane, Tool

if TYPE_CHECKING:
    from cognee_hooks.configuration.selection import PluginSelection
    from cognee_hooks.core_settings import CoreSettings
    from cognee_hooks.dispatch import Dispatcher
    from cognee_hooks.registry import Registry
    from cognee_hooks.settings import Settings

REDACTORS = "cognee_register_redactors"
LANES = "cognee_register_lanes"


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
    is worse than none. Only redactors that it has registered already stay in force, because without
    them more would leave than the user thinks. One that fails to register its redactors closes
    redaction for the same reason.
    """
    collection = _Collection(registry)
    for hook in collection.tables:
        for plugin, item in _items(dispatcher, hook, collection):
            collection.add(plugin, hook, item)
    for plugin, item in _items(dispatcher, "cognee_register_settings", collection):
        collection.registered.options.append((plugin, item))
    return collection.registered


def make_pipeline(
    core: CoreSettings, selection: PluginSelection, registered: Registered
) -> RedactionPipeline:
    """Return the chain that every outgoing text passes; closed where a part of it is missing."""
    return RedactionPipeline(
        list(registered.redactors.values()),
        core.redact_patterns,
        enabled=core.redact,
        redactor_timeout=core.redactor_timeout_ms / 1000,
        closed_because=registered.closed_because or _missing_redactor(selection, registered),
    )


def _missing_redactor(selection: PluginSelection, registered: Registered) -> str:
    """Say which required redactor is not in force, or ""."""
    for name in selection.require_redactors:
        if name not in registered.redactors:
            return (
                f"The required redactor {name!r} is not in force (see `cognee-hooks plugins "
                "--all`), so nothing is captured or sent."
            )
    return ""


class _Collection:
    """Fills a `Registered`, and takes back what a plugin put in that is refused."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._owners: dict[tuple[str, str], str] = {}
        self.registered = Registered()
        self.tables: dict[str, dict[str, Any]] = {
            REDACTORS: self.registered.redactors,
            LANES: self.registered.lanes,
            "cognee_register_commands": self.registered.commands,
            "cognee_register_tools": self.registered.tools,
            "cognee_register_agents": self.registered.agents,
        }

    def add(self, plugin: str, hook: str, item: Any) -> None:
        """Take an item of a plugin, unless the plugin has been refused."""
        if not self._registry.is_active(plugin):
            return
        # Agents are whatever their authors wrote, so even a name may be code that fails.
        name = attempt(getattr, item, "name", None).result
        if not isinstance(name, str) or not name:
            reason = f"It registered a nameless {type(item).__name__} in {hook}."
            self.refuse(plugin, hook, reason)
        elif name in self.tables[hook]:
            reason = f"It registered {name!r} in {hook}, which is already taken."
            self.refuse(plugin, hook, reason)
        else:
            self.tables[hook][name] = item
            self._owners[hook, name] = plugin
            if hook == LANES:
                self.registered.lane_owners[name] = plugin

    def refuse(self, plugin: str, hook: str, reason: str) -> None:
        """Refuse a plugin, with all but its redactors."""
        if hook == REDACTORS and not self.registered.closed_because:
            self.registered.closed_because = (
                f"Plugin {plugin} could not register its redactors: {reason} Nothing is captured "
                "or sent; mend the plugin or block it."
            )
        for (table, name), owner in list(self._owners.items()):
            if owner == plugin and table != REDACTORS:
                del self.tables[table][name], self._owners[table, name]
        self.registered.options[:] = [row for row in self.registered.options if row[0] != plugin]
        self._registry.refuse(plugin, reason)


def _items(dispatcher: Dispatcher, hook: str, collection: _Collection) -> Iterator[tuple[str, Any]]:
    for outcome in dispatcher.call_blocking(hook).outcomes:
        if outcome.fault:
            collection.refuse(outcome.plugin, hook, f"It failed in {hook} ({outcome.fault}).")
        elif isinstance(outcome.result, (list, tuple)):
            yield from ((outcome.plugin, item) for item in outcome.result)
        elif outcome.result is not None:
            yield outcome.plugin, outcome.result


def declare_options(registry: Registry, registered: Registered, settings: Settings) -> None:
    """Make declared options known, and report sections of the configuration that nobody owns.

    A plugin whose options are no dataclass of ``option`` fields is refused.
    """
    for plugin, options in list(registered.options):
        done = attempt(settings.resolve, plugin, options)
        if done.error is not None:
            reason = f"Its options {options.__name__!r} are no dataclass of option() fields."
            registry.refuse(plugin, reason)
    for problem in settings.unknown_sections(record.name for record in registry.records):
        settings.problem(problem.name, problem.source, problem.message)
