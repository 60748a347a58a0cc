"""Takes a leaked value out of the daemon's journal and spool.

Events are sealed in the journal, and the opening of a request says how long it is: neither can be
changed as plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cognee_hooks.daemon.journal import MAX_RECORD_BYTES
from cognee_hooks.daemon.protocol import BadRequest, Opening, split_record
from cognee_hooks.leak import Leak
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.services.crypto import Sealer, Unreadable
from cognee_hooks.services.statefile import read_bytes, write_atomic

_SEALED = ("*.sealed", "*.bad")
_OTHER_KEY = (
    "it is sealed with another key, so nobody can look into it; remove it if the event that it "
    "holds is not needed"
)


@dataclass(frozen=True, slots=True)
class Events:
    """The events below the daemon's folder.

    Attributes:
        folder: The daemon's folder. No daemon may run while they are cleaned.
        key_file: The key of what is sealed.
        leak: The value.
    """

    folder: Path
    key_file: Path
    leak: Leak

    def scrub(self, *, dry_run: bool) -> Iterator[Scrubbed]:
        """Yield what holds, or held, the value."""
        for path in self._found("spool", ("*.event", "*.new", "*.bad")):
            yield from self._one(path, None, dry_run=dry_run)
        sealed = self._found("journal", _SEALED)
        sealer = Sealer.of(self.key_file) if sealed and self.key_file.exists() else None
        for path in sealed:
            if sealer is None:
                yield Scrubbed(place=str(path), state=ScrubState.LEFT, detail=_OTHER_KEY)
            else:
                yield from self._one(path, sealer, dry_run=dry_run)

    def _found(self, name: str, patterns: tuple[str, ...]) -> list[Path]:
        return sorted(path for each in patterns for path in (self.folder / name).glob(each))

    def _one(self, path: Path, sealer: Sealer | None, *, dry_run: bool) -> Iterator[Scrubbed]:
        try:
            data = read_bytes(path, max_bytes=MAX_RECORD_BYTES, private=True) or b""
            record = data if sealer is None else sealer.open(data, path.stem)
            count, cleaned = self._cleaned(record)
            if not count:
                return
            if not dry_run:
                sealed = cleaned if sealer is None else sealer.seal(cleaned, path.stem)
                write_atomic(path, sealed)
        except Unreadable:
            yield Scrubbed(place=str(path), state=ScrubState.LEFT, detail=_OTHER_KEY)
            return
        except OSError as error:
            detail = f"it cannot be written ({error.strerror})"
            yield Scrubbed(place=str(path), state=ScrubState.LEFT, detail=detail)
            return
        state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
        yield Scrubbed(place=str(path), state=state, count=count)

    def _cleaned(self, record: bytes) -> tuple[int, bytes]:
        """Return how often a record holds the value, and the record without it."""
        try:
            opening, payload = split_record(record)
        except BadRequest:
            # Nobody will ever take it up; what is left of it keeps its length.
            return self.leak.count(record), self.leak.masked(record)
        count = self.leak.count(payload)
        count += self.leak.count_in([opening.cwd, opening.event, dict(opening.environ)])
        return count, self._opening(opening).wire() + self.leak.cleaned_bytes(payload)

    def _opening(self, opening: Opening) -> Opening:
        return replace(
            opening,
            event=self.leak.cleaned(opening.event),
            cwd=self.leak.cleaned(opening.cwd),
            environ=self.leak.cleaned(dict(opening.environ)),
        )
