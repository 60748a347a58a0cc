"""One session's waiting entries: envelope, log and lock together.

Each change is made under a lock that the kernel gives back after a kill, goes to the log first and
to the envelope second, and takes a fraction of a millisecond. Nothing is flushed to disk here: a
kill does not need it, and `Buffer.flush` does it soon after, for power cuts.

A few lines longer than other modules: in which order both files are written is one thing.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from builtin_plugins.bridge.backoff import resting_until
from builtin_plugins.bridge.envelope import EnvelopeFile, Signature, ending, flush, signature
from builtin_plugins.bridge.items import Enqueued, Head, Item, Payload, Vault, key_digest
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.log import MAX_WASTE, LeftBecause, SessionLog, entry_line, read_trusted
from builtin_plugins.bridge.marks import SendAttempt, Tail
from builtin_plugins.bridge.merge import BufferState, merge
from builtin_plugins.bridge.quarantine import count_aside, path_aside, put_aside
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.crypto import Sealer, Unreadable
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.statefile import write_atomic

LOCK_SECONDS = 0.02
"""Longest wait for another process that changes the same files; a change takes far less."""


class Buffer:
    """See the module. All methods raise ``OSError`` where files cannot be read or written.

    Args:
        folder: Where the files lie.
        stem: Their name without extension.
        sealer: Seals what is written.
        limits: How much is kept.
        now: Epoch seconds.
    """

    def __init__(
        self,
        folder: Path,
        stem: str,
        sealer: Sealer,
        limits: BufferLimits,
        *,
        now: Callable[[], float],
    ) -> None:
        self.stem = stem
        self.path = folder / f"{stem}.json"
        self.aside_path = path_aside(folder, stem)
        self.drain_lock = KernelLock(folder / f"{stem}.drain")
        self._lock = KernelLock(folder / f"{stem}.lock")
        self._vault = Vault(sealer, stem)
        self._envelope = EnvelopeFile(self.path)
        self._log = SessionLog(folder / f"{stem}.log", self._vault)
        self._limits = limits
        self._now = now
        self._state = BufferState()
        self._size = 0
        self._seen: tuple[Signature | None, Signature | None] | None = None
        self._urls: dict[int, str | None] = {}

    # -- reading ---------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many entries wait, including those that cannot be opened."""
        return len(self._items())

    def head(self, url: str) -> Head | None:
        """Return the oldest entry that can be opened and was captured for a server.

        Args:
            url: The server's base URL.
        """
        with self._opened() as state:
            for seq, item in state.items.items():
                if self._url_of(item) in {"", url}:
                    payload = self._vault.unwrap(item)
                    return Head(seq, payload, state.marks.attempts.get(seq))
        return None

    def oldest(self, url: str) -> int | None:
        """Return when `head` was captured, epoch milliseconds; None where there is no head."""
        with self._opened() as state:
            for item in state.items.values():
                if self._url_of(item) in {"", url}:
                    return item.buffered_at
        return None

    def by_server(self) -> dict[str | None, int]:
        """Count what waits by server: "" for any, None for what cannot be opened."""
        counts: dict[str | None, int] = {}
        with self._opened() as state:
            for item in state.items.values():
                url = self._url_of(item)
                counts[url] = counts.get(url, 0) + 1
        return counts

    @property
    def resting_until(self) -> int:
        """When the head may be tried again, epoch milliseconds; 0 where it may be now."""
        with self._opened() as state:
            first = self._limits.backoff_ms
            return resting_until(state.fail_count, state.fail_at, self._milliseconds(), first)

    @property
    def complete(self) -> bool:
        """Whether all is known that the server took; see `Marks`."""
        with self._opened() as state:
            return state.marks.complete

    def tail(self, key: str) -> Tail:
        """Return what the server took of a kind; see `tail_key`."""
        with self._opened() as state:
            return state.marks.tail(key)

    def name(self, key: str) -> str:
        """Return the id under which a session goes on, or ""; see `name_key`."""
        with self._opened() as state:
            return state.marks.names.get(key, "")

    @property
    def aside(self) -> int:
        """How many entries were put aside."""
        return count_aside(self.aside_path)

    # -- changing --------------------------------------------------------------------------------

    def enqueue(self, payload: Payload) -> Enqueued:
        """Keep an entry. It is on disk, twice, when this returns; after an error it is not kept."""
        with self._opened() as state:
            if payload.key and self._took(key_digest(payload.key)):
                self._mend(state)
                return Enqueued(0)
            seq = state.marks.next_seq
            item = self._vault.wrap(seq, payload)
            if len(item.encoded) > self._limits.size:
                raise OSError(errno.EMSGSIZE, "an entry is too long to be kept")
            self._urls[seq] = payload.url
            items = {**state.items, seq: item}
            dropped = self._overflow(items, seq)
            for each in dropped:
                state.marks.took(items.pop(each).key)
            state.marks.next_seq = seq + 1
            lines = [entry_line(item)]
            if dropped:
                left = dict.fromkeys(dropped, LeftBecause.DROPPED)
                lines.append(self._log.marks_line(state.marks, left))
            self._save(items, lines, added=seq)
            return Enqueued(seq, len(dropped))

    def begin(self, seq: int) -> None:
        """Note that the entry is about to be sent."""
        with self._opened() as state:
            state.marks.attempts[seq] = SendAttempt(running=True)
            self._note(state.items)

    def doubt(self, seq: int, until: int, checks: int = 0) -> None:
        """Note that the server may have the entry, or may still be storing it.

        Args:
            seq: The entry.
            until: It may still be storing it before this moment, epoch milliseconds.
            checks: How often it could not say whether it has it.
        """
        with self._opened() as state:
            state.marks.attempts[seq] = SendAttempt(until=until, checks=checks)
            self._note(state.items)

    def clear(self, seq: int) -> None:
        """Note that the server surely has not got the entry."""
        with self._opened() as state:
            state.marks.attempts.pop(seq, None)
            self._note(state.items)

    def failed(self) -> None:
        """Count a failure of the head, so that it is left alone for a while."""
        with self._opened() as state:
            state.fail_count += 1
            state.fail_at = self._milliseconds()
            self._note(state.items)

    def settle(self, seq: int, key: str, print_: str) -> None:
        """Let an entry go that the server has.

        Args:
            seq: The entry.
            key: See `tail_key`.
            print_: Its digest, "" for kinds that cannot be recognised.
        """
        with self._opened() as state:
            if print_:
                state.marks.add(key, print_)
            self._let_go(state, [seq])

    def set_aside(self, seqs: Collection[int], reason: str) -> int:
        """Move entries into the quarantine file; returns how many older ones had to go there."""
        with self._opened() as state:
            records = [
                {"reason": reason, "item": json.loads(state.items[seq].encoded)}
                for seq in seqs
                if seq in state.items
            ]
            gone = put_aside(self.aside_path, self._vault, records, self._milliseconds())
            self._let_go(state, seqs)
            return gone

    def set_aside_all(self, reason: str) -> int:
        """Move all that waits into the quarantine file; returns how many entries that were."""
        seqs = [*self._items()]
        self.set_aside(seqs, reason)
        return len(seqs)

    def rename(self, key: str, session_id: str) -> None:
        """Note under which id a session goes on; see `name_key`."""
        with self._opened() as state:
            state.marks.rename(key, session_id)
            self._note(state.items)

    def learn(self, tails: Mapping[str, Tail]) -> None:
        """Take what the server lists for what it took, after damage to the files."""
        with self._opened() as state:
            state.marks.tails.update(tails)
            state.marks.complete = True
            self._note(state.items)

    def adopt(self) -> None:
        """Take over what another program, or a kill, left in the files."""
        with self._opened() as state:
            self._mend(state)

    def rewrite(self, change: Callable[[Payload], Payload]) -> None:
        """Change what waits, so that nothing of what was there stays in either file.

        Args:
            change: Returns another payload, or the same one.

        Raises:
            OSError: They cannot be written; once more will do it.
        """
        with self._opened() as state:
            items = {seq: self._rewritten(item, change) for seq, item in state.items.items()}
            state.settled = False  # so that the log is begun anew
            self._envelope = EnvelopeFile(self.path)
            self._note(items)
            if not state.settled:
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(self.path))

    def flush(self) -> None:
        """Bring both files to the disk, for power cuts. May take long; not for the event loop."""
        for path in (self._log.path, self.path):
            flush(path)

    def remove_traces(self) -> None:
        """Remove log and locks of a session of which nothing waits."""
        with self._opened() as state:
            if not state.items and self.drain_lock.try_acquire():
                self._log.path.unlink(missing_ok=True)
                self.drain_lock.remove()
                self._seen = None
                self._lock.remove()

    # -- inside ----------------------------------------------------------------------------------

    def _items(self) -> dict[int, Item]:
        with self._opened() as state:
            return state.items

    @contextmanager
    def _opened(self) -> Iterator[BufferState]:
        with self._lock.holding(Deadline.after(LOCK_SECONDS)):
            if self._seen is None or self._seen != self._signatures():
                self._load()
            yield self._state

    def _load(self) -> None:
        self._seen = None
        seen = self._signatures()
        self._state = merge(read_trusted(self.path), self._log.read(), self._vault)
        self._size = sum(len(item.encoded) for item in self._state.items.values())
        items = self._state.items
        self._urls = {seq: url for seq, url in self._urls.items() if seq in items}
        self._seen = seen

    def _signatures(self) -> tuple[Signature | None, Signature | None]:
        return signature(self.path), signature(self._log.path)

    def _overflow(self, items: Mapping[int, Item], newest: int) -> list[int]:
        """Return which of the oldest have to go.

        One that may be on its way is not among them, nor one that only another key opens.
        """
        count = len(items) - list(self._urls.values()).count(None)
        size = self._size + len(items[newest].encoded)
        gone: list[int] = []
        for seq, item in items.items():
            if count <= self._limits.entries and size <= self._limits.size:
                break
            sent = seq in self._state.marks.attempts
            if seq != newest and not sent and self._url_of(item) is not None:
                gone.append(seq)
                count -= 1
                size -= len(item.encoded)
        return gone

    def _let_go(self, state: BufferState, seqs: Collection[int]) -> None:
        gone = set(seqs)
        for seq in gone & state.items.keys():
            state.marks.attempts.pop(seq, None)
            state.marks.took(state.items[seq].key)
        state.fail_count = state.fail_at = 0
        items = {seq: item for seq, item in state.items.items() if seq not in gone}
        self._note(items, dict.fromkeys(gone, LeftBecause.SETTLED))

    def _rewritten(self, item: Item, change: Callable[[Payload], Payload]) -> Item:
        try:
            payload = self._vault.unwrap(item)
        except Unreadable:
            return item
        other = change(payload)
        return item if other is payload else self._vault.replaced(item, other)

    def _mend(self, state: BufferState) -> None:
        """Let both files say the same; an entry is kept only when it is in both."""
        if not state.settled and (state.items or self.path.exists()):
            self._note(state.items)

    def _note(self, items: dict[int, Item], left: Mapping[int, LeftBecause] | None = None) -> None:
        """Write down what changed: in the log for certain, in the envelope if it can be."""
        self._state.marks.revision += 1
        self._save(items, [self._log.marks_line(self._state.marks, left)])

    def _save(self, items: dict[int, Item], lines: Collection[bytes], added: int = 0) -> None:
        """Write log and envelope.

        Args:
            items: What waits now.
            lines: What the log gets.
            added: An entry that is kept in both files or in none; 0 for changes that the log alone
                can hold, since the envelope is looked at through it.
        """
        state = self._state
        self._seen = None  # until all is written, so that a failure is followed by a fresh look
        before = self._write_log(items, lines)
        try:
            # What leaves is named where the marks change, in one write, and blanked out after.
            left = [*(state.items.keys() - items.keys())]
            known = {"marks": state.marks.to_json(), "left": left}
            tail = ending(state.fail_count, state.fail_at, self._vault.seal("marks", known))
            self._envelope.store(items, tail)
        except OSError:
            if added:
                self._withdraw(before, added)
                raise
            return
        state.items, state.settled = items, True
        self._size = sum(len(item.encoded) for item in items.values())
        self._seen = self._signatures()

    def _write_log(self, items: Mapping[int, Item], lines: Collection[bytes]) -> int | None:
        """Append, or write anew where that is due; returns the size before what was appended."""
        state = self._state
        at = signature(self._log.path)
        fits = at is not None and at[2] <= 2 * self._size + MAX_WASTE
        # Of a log that is one line, nothing can be cut off without being missed.
        if items and state.settled and fits:
            return self._log.append(lines)
        if state.alien:
            records = [{"reason": "not an entry", "element": each} for each in state.alien]
            put_aside(self.aside_path, self._vault, records, self._milliseconds())
        if state.torn:
            write_atomic(self.path.with_suffix(".torn"), state.torn, durable=False)
        state.marks.revision += 1
        self._log.rewrite(state.marks, items, state.source)
        return None

    def _withdraw(self, before: int | None, added: int) -> None:
        """Take an entry out of the log that could not be written to the envelope."""
        if before is not None:
            self._log.cut(before)
            return
        with suppress(OSError):
            line = self._log.marks_line(self._state.marks, {added: LeftBecause.WITHDRAWN})
            self._log.append([line])

    def _took(self, key: str) -> bool:
        """Tell whether an entry with this key waits, or was taken before."""
        waiting = any(item.key == key for item in self._state.items.values())
        return waiting or key in self._state.marks.taken

    def _url_of(self, item: Item) -> str | None:
        """Return the server that an entry was captured for; None where it cannot be opened."""
        if item.seq not in self._urls:
            try:
                self._urls[item.seq] = self._vault.unwrap(item).url
            except Unreadable:
                self._urls[item.seq] = None
        return self._urls[item.seq]

    def _milliseconds(self) -> int:
        return int(self._now() * 1000)
