"""Installs our hooks into the one JSON file from which an agent reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cognee_hooks.install import command, hookfile
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.jsontext import STRICT, Dialect
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInstaller:
    """Installer for an agent whose hooks stand in one JSON file, its settings or one of their own.

    Attributes:
        title: The agent's name for people.
        timeouts: Our events, each with when the agent gives a hook up, in its own unit.
        entry: Returns our entry for an event, from its name and that limit.
        path: Returns the file of a place.
        notes: Returns what the person has to know, from the file's new text and the place.
        next_step: What the person does then.
        scaffold: Further members that the agent demands; see `HookTable`.
        dialect: What the agent's own reader takes.
    """

    title: str
    timeouts: Mapping[str, int]
    entry: Callable[[str, int], Mapping[str, Any]]
    path: Callable[[Place], Path]
    notes: Callable[[str, Place], list[str]]
    next_step: str
    scaffold: Mapping[str, Any] = field(default_factory=dict)
    dialect: Dialect = STRICT

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks to the file."""
        path = self.path(place)
        entries = {event: self.entry(event, limit) for event, limit in self.timeouts.items()}
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        change = hookfile.plan_addition(path, self._table(entries), self.title, mode=mode)
        text = hookfile.text_of(path, change.after)
        return Plan(
            changes=[change],
            notes=[*command.warnings(place.environ), *self.notes(text, place)],
            next_steps=[self.next_step],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out of the file."""
        change = hookfile.plan_removal(self.path(place), self._table({}), self.title)
        return Plan(changes=[change])

    def _table(self, entries: Mapping[str, Any]) -> HookTable:
        return HookTable(entries=entries, scaffold=self.scaffold, dialect=self.dialect)
