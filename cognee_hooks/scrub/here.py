"""Takes a leaked value out of what lies on this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Deadline
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub.by_plugins import told_by_plugins
from cognee_hooks.scrub.database import scrub_database
from cognee_hooks.scrub.events import Events
from cognee_hooks.scrub.files import Sweeper, files_below
from cognee_hooks.scrub.places import Reported, own_roots, reported

if TYPE_CHECKING:
    from cognee_hooks.host import Host
    from cognee_hooks.leak import Leak
    from cognee_hooks.services.paths import Paths

OWN_SECONDS = 300.0
REPORT_SECONDS = 60.0
"""Longest that files are looked through that are not ours: transcripts may be many."""
UNFINISHED_SECONDS = 60.0
"""After so long a file that was never finished will not be, because its writer was killed."""

_UNFINISHED = re.compile(r"\..*\.tmp")
_BLOCKED = (
    "what waits here is sealed, and the plugin that can open it is blocked; run scrub with "
    "-p bridge"
)


@dataclass(frozen=True, slots=True)
class Here:
    """This machine's part.

    Attributes:
        hosts: One for each agent whose state is there; their plugins are asked.
        folders: The places of every agent.
        environ: The environment.
        leak: The value.
    """

    hosts: Sequence[Host]
    folders: Sequence[Paths]
    environ: Mapping[str, str]
    leak: Leak

    async def look(self) -> list[Scrubbed]:
        """Return what holds the value, except the embedded server's database."""
        kept = await self.plugins(dry_run=True)
        return [*kept, *self.files(dry_run=True), *self.others(kept)]

    def files(self, *, dry_run: bool) -> list[Scrubbed]:
        """Return which files of ours hold the value, or held it and were cleaned.

        Args:
            dry_run: Only look. Otherwise no daemon may run, and plugins have cleaned what is
                theirs.
        """
        rows: list[Scrubbed] = []
        for paths in _each(self.folders):
            rows += Events(paths.daemon_dir, paths.key_file, self.leak).scrub(dry_run=dry_run)
        own = own_roots(self.folders)
        sweeper = Sweeper(self.leak, Deadline.after(OWN_SECONDS), dry_run)
        for root in own:
            rows += self._unfinished(root, dry_run=dry_run)
            rows += sweeper.sweep(root, lambda _: "", without=self._databases)
        return rows

    def others(self, kept: Sequence[Scrubbed]) -> list[Scrubbed]:
        """Return which files hold the value that are not ours, and are not changed.

        Args:
            kept: What plugins said, who may know what to do about such a file.
        """
        # The logs of a SQLite database belong to it.
        told = {f"{row.place}{end}" for row in kept for end in ("", "-wal", "-journal")}
        without = {*own_roots(self.folders), *self._databases}
        looker = Sweeper(self.leak, Deadline.after(REPORT_SECONDS), dry_run=True, thorough=False)
        rows: dict[str, Scrubbed] = {}
        for place in reported(self.folders, self.environ):
            for row in looker.sweep(place.path, _because(place), without=without):
                if row.place not in told:
                    rows.setdefault(row.place, row)  # it may lie in a folder that is looked at, too
        return list(rows.values())

    async def plugins(self, *, dry_run: bool) -> list[Scrubbed]:
        """Do the same for what plugins keep."""
        rows: list[Scrubbed] = []
        for host in self.hosts:
            called = await host.dispatcher.call("cognee_scrub", leak=self.leak, dry_run=dry_run)
            rows += told_by_plugins(called, self.leak, host.paths.agent)
            rows += _without_bridge(host)
        # A plugin may keep one file for all agents.
        return list(dict.fromkeys(rows))

    def database(self, *, dry_run: bool) -> list[Scrubbed]:
        """Do the same for the embedded server's database, after its routes have done their part."""
        paths = {paths.embedded_dir: None for paths in self.folders}
        found = (path for folder in paths for path in sorted(folder.glob("*.db")))
        return [row for path in found for row in scrub_database(path, self.leak, dry_run=dry_run)]

    @property
    def _databases(self) -> set[Path]:
        return {paths.embedded_dir for paths in self.folders}

    def _unfinished(self, root: Path, *, dry_run: bool) -> Iterator[Scrubbed]:
        """Remove what killed writers never finished: it may be sealed, and nobody reads it."""
        before = time.time() - UNFINISHED_SECONDS
        for path in files_below(root):
            if _UNFINISHED.fullmatch(path.name) and path.lstat().st_mtime < before:
                if not dry_run:
                    path.unlink(missing_ok=True)
                state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
                place = self.leak.cleaned_text(str(path))
                detail = "a file that its writer, killed, never finished; it is removed"
                yield Scrubbed(place=place, state=state, detail=detail)


def _without_bridge(host: Host) -> Iterator[Scrubbed]:
    """Yield where entries are sealed that no plugin can open."""
    folder = host.paths.bridge_dir
    if not host.is_active("bridge") and any(folder.glob("*.json")):
        yield Scrubbed(place=str(folder), state=ScrubState.LEFT, detail=_BLOCKED)


def _because(place: Reported) -> Callable[[Path], str]:
    return lambda _: place.why


def _each(folders: Sequence[Paths]) -> list[Paths]:
    """Return the places with each daemon's folder once."""
    return list({paths.daemon_dir: paths for paths in folders}.values())
