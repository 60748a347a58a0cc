"""Takes a leaked value out of what waits for the server and of what was put aside.

An entry keeps its number and its key, so it is sent once and in its turn. What it was recognised by
before goes with it: the server may have it already, in the old form.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.envelope import salvage
from builtin_plugins.bridge.fingerprint import digest
from builtin_plugins.bridge.items import Item, Payload, Vault, read_item
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.log import SessionLog, read_trusted
from builtin_plugins.bridge.merge import merge
from builtin_plugins.bridge.quarantine import PART, entries_aside, path_aside
from cognee_hooks.deadline import Deadline
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.services.crypto import KEY_BYTES, Sealer, Unreadable
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.paths import QUARANTINE
from cognee_hooks.services.statefile import read_bytes, write_json

if TYPE_CHECKING:
    from cognee_hooks import Leak, PluginContext

LOCK_SECONDS = 2.0
_OTHER_KEY = (
    "it is sealed with another key, so nobody can look into it; remove the file if what it holds "
    "is not needed"
)


def scrub(context: PluginContext, leak: Leak, *, dry_run: bool) -> list[Scrubbed]:
    """Look for the value in all sessions' files, and take it out; see ``cognee_scrub``."""
    paths = context.services.paths
    if not paths.bridge_dir.is_dir():
        return []
    # A look makes no key; without it nothing that lies there can be opened, as with any other one.
    made = not dry_run or paths.key_file.exists()
    sealer = Sealer.of(paths.key_file) if made else Sealer(os.urandom(KEY_BYTES))
    scrubber = _Scrubber(paths.bridge_dir, sealer, leak, context.now)
    return [row for stem in scrubber.stems() for row in scrubber.session(stem, dry_run=dry_run)]


@dataclass(frozen=True, slots=True)
class _Scrubber:
    folder: Path
    sealer: Sealer
    leak: Leak
    now: Callable[[], float]

    def stems(self) -> list[str]:
        found = {each.stem for each in self.folder.glob("*.json")}
        found |= {each.stem for each in self.folder.glob("*.log")}
        found |= {each.stem for each in self.folder.glob("*.torn")}
        found |= {each.stem for each in self.folder.glob(f"{QUARANTINE}/*.json")}
        return sorted(found)

    def session(self, stem: str, *, dry_run: bool) -> Iterator[Scrubbed]:
        """Yield what became of one session's files."""
        works = (self._waiting, self._aside, self._torn)
        for work, path in zip(works, self._paths(stem), strict=True):
            if not path.exists():
                continue
            try:
                count, unreadable = work(stem, dry_run=dry_run)
            except OSError as error:
                detail = f"its files cannot be read or written ({type(error).__name__})"
                yield Scrubbed(place=str(path), state=ScrubState.LEFT, detail=detail)
                continue
            if count:
                state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
                yield Scrubbed(place=str(path), state=state, count=count)
            if unreadable:
                yield Scrubbed(place=str(path), state=ScrubState.LEFT, detail=_OTHER_KEY)

    def _paths(self, stem: str) -> tuple[Path, Path, Path]:
        envelope = self.folder / f"{stem}.json"
        waiting = envelope if envelope.exists() else envelope.with_suffix(".log")
        return waiting, path_aside(self.folder, stem), envelope.with_suffix(".torn")

    # -- what waits ------------------------------------------------------------------------------

    def _waiting(self, stem: str, *, dry_run: bool) -> tuple[int, int]:
        vault = Vault(self.sealer, stem)
        with KernelLock(self.folder / f"{stem}.lock").holding(Deadline.after(LOCK_SECONDS)):
            log = SessionLog(self.folder / f"{stem}.log", vault)
            state = merge(read_trusted(self.folder / f"{stem}.json"), log.read(), vault)
            items = {item.encoded: item for item in (*state.items.values(), *_noted(log.path))}
        payloads = [self._opened(vault, item) for item in items.values()]
        count = sum(self._count(each) for each in payloads if each)
        count += self.leak.count_in(state.alien)
        if count and not dry_run:
            self._buffer(stem).adopt()
            self._buffer(stem).rewrite(self._cleaned)
        return count, payloads.count(None)

    def _buffer(self, stem: str) -> Buffer:
        return Buffer(self.folder, stem, self.sealer, BufferLimits(1 << 30), now=self.now)

    def _opened(self, vault: Vault, item: Item) -> Payload | None:
        try:
            return vault.unwrap(item)
        except Unreadable:
            return None

    def _count(self, payload: Payload) -> int:
        return self.leak.count_in([payload.entry, payload.dataset, payload.session_id, payload.url])

    def _cleaned(self, payload: Payload) -> Payload:
        if not self._count(payload):
            return payload
        kind = str(payload.entry.get("type", ""))
        before = digest(kind, payload.entry)
        return replace(
            payload,
            entry=self.leak.cleaned(dict(payload.entry)),
            session_id=self.leak.cleaned(payload.session_id),
            dataset=self.leak.cleaned(payload.dataset),
            url=self.leak.cleaned(payload.url),
            former=(*payload.former, *([before] if before else [])),
        )

    # -- what was put aside ----------------------------------------------------------------------

    def _aside(self, stem: str, *, dry_run: bool) -> tuple[int, int]:
        vault, path = Vault(self.sealer, stem), path_aside(self.folder, stem)
        with KernelLock(self.folder / f"{stem}.lock").holding(Deadline.after(LOCK_SECONDS)):
            count = unreadable = 0
            kept = []
            for each in entries_aside(path):
                try:
                    record, found = self._record(vault, each)
                except Unreadable:
                    record, found, unreadable = each, 0, unreadable + 1
                kept.append(record)
                count += found
            if count and not dry_run:
                write_json(path, {"entries": kept})
        return count, unreadable

    def _torn(self, stem: str, *, dry_run: bool) -> tuple[int, int]:
        """Remove a copy of a torn envelope: what is whole in it was taken over long ago."""
        vault, path = Vault(self.sealer, stem), self.folder / f"{stem}.torn"
        items = salvage(read_bytes(path, private=True) or b"").items.values()
        payloads = [self._opened(vault, item) for item in items]
        count = sum(self._count(each) for each in payloads if each)
        if count and not dry_run:
            path.unlink(missing_ok=True)
        return count, payloads.count(None)

    def _record(self, vault: Vault, element: object) -> tuple[object, int]:
        """Return a record without the value, and how often it held it."""
        if not isinstance(element, Mapping) or not isinstance(element.get("sealed"), str):
            return self.leak.cleaned(element), self.leak.count_in(element)
        inside = vault.open(PART, element["sealed"])
        cleaned, count = self._inside(vault, inside)
        if not count:
            return element, 0
        return {**element, "sealed": vault.seal(PART, cleaned)}, count

    def _inside(self, vault: Vault, inside: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        cleaned, count = self.leak.cleaned(dict(inside)), self.leak.count_in(dict(inside))
        item = read_item(inside.get("item"))
        if item is not None:
            payload = vault.unwrap(item)
            found = self._count(payload)
            if found:
                changed = vault.replaced(item, self._cleaned(payload))
                cleaned["item"] = json.loads(changed.encoded)
            else:
                cleaned["item"] = inside["item"]
            count += found
        return cleaned, count


def _noted(path: Path) -> Iterator[Item]:
    """Yield the entries in a log, those that have left as well."""
    for line in (read_trusted(path) or b"").split(b"\n"):
        if line.startswith(b"+"):
            with suppress(ValueError, RecursionError):
                item = read_item(json.loads(line[1:]))
                if item is not None:
                    yield item
