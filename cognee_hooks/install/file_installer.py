"""Installs our hooks into the one JSON file from which an agent reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cognee_hooks.install import command, hookfile
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInstaller:
    """Installer for an agent whose hooks stand in one JSON file, its settings or one of their own.

    Attributes:
        title: The agent's name for people.
        table: Returns what belongs into the file.
        path: Returns the file of a place.
        notes: Returns what the person has to know, from the file's new text and the place.
        next_step: What the person does then.
    """

    title: str
    table: Callable[[], HookTable]
    path: Callable[[Place], Path]
    notes: Callable[[str, Place], list[str]]
    next_step: str

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks to the file."""
        path = self.path(place)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        change = hookfile.plan_addition(path, self.table(), self.title, mode=mode)
        text = hookfile.text_of(path, change.after)
        return Plan(
            changes=[change],
            notes=[*command.warnings(place.environ), *self.notes(text, place)],
            next_steps=[self.next_step],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out of the file."""
        table = replace(self.table(), entries={})
        return Plan(changes=[hookfile.plan_removal(self.path(place), table, self.title)])
