"""Reads what the page shows: ledgers, buffers, the daemon's answers, plugins. It blocks.

Files are read again only where they have changed since. Several threads may ask at once; they get
their answers one after the other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.history.listing import Listed, listed
from cognee_hooks.history.sessions import KnownSession, known_session, ledgers, state_folders
from cognee_hooks.history.usage import Usage
from cognee_hooks.history.waiting import Waiting, quarantined_files, waiting_files
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow
from cognee_hooks.services.paths import QUARANTINE, Paths
from cognee_hooks.view.filefacts import FileFacts, facts_of
from cognee_hooks.view.installed import Found

ASK_SECONDS = 2.0
MAX_LEDGERS = 2000
"""The latest; older ones are not read."""
MAX_WATCHED = 10_000

_WATCHED = (".json", ".jsonl")

Ask = Callable[..., Mapping[str, Any] | None]
"""Asks the daemon; see `cognee_hooks.daemon.control.ask`."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What a session's ledger tells.

    Attributes:
        known: The session.
        usage: What was done in it.
        ran: The rows that tell what its plugins took.
    """

    known: KnownSession
    usage: Usage
    ran: Sequence[LedgerRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """All conversations, and what waits for the server.

    Attributes:
        now: When this was read, epoch seconds.
        listed: The conversations, the latest first.
        recorded: What their ledgers tell, by stem.
        waiting: Files of entries that wait.
        quarantined: Files of entries that were put aside.
        status: What the daemon answered to ``status``; None where none runs.
        silent: Whether a daemon runs that does not answer.
        left_out: Ledgers that were not read, since there are too many.
    """

    now: float
    listed: Sequence[Listed]
    recorded: Mapping[str, RecordedSession]
    waiting: Sequence[Waiting]
    quarantined: Sequence[Waiting]
    status: Mapping[str, Any] | None
    silent: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """What the first view shows.

    Attributes:
        conversations: The conversations.
        plugins: What the daemon answered to ``plugins``; None where none runs.
        installed: The plugins that there are.
    """

    conversations: Conversations
    plugins: Mapping[str, Any] | None
    installed: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class OneConversation:
    """What the view of one conversation shows.

    Attributes:
        listed: The conversation.
        recorded: What its ledger tells; None where it has none.
        rows: The rows of its ledger, oldest first.
        prompts: What the daemon answered to ``prompts``; None where it does not live.
    """

    listed: Listed
    recorded: RecordedSession | None
    rows: Sequence[LedgerRow]
    prompts: Mapping[str, Any] | None


class Sources:
    """Reads everything below one home folder.

    Args:
        environ: The environment.
        installed: Looks at the plugins.
        ask: Asks the daemon.
        now: Epoch seconds.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        installed: Callable[[], Found],
        *,
        ask: Ask = control.ask,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._environ = environ
        self._installed = installed
        self._ask = ask
        self._now = now
        self._folder = Paths.of(environ, "daemon").daemon_dir
        self._ledgers: dict[Path, tuple[FileFacts, RecordedSession]] = {}
        self._lock = threading.Lock()

    def everything(self) -> Everything:
        """Return what the first view shows."""
        with self._lock:
            found = self._conversations()
            return Everything(
                conversations=found,
                plugins=self._plugins(found.status),
                installed=self._installed(),
            )

    def conversation(self, is_it: Callable[[Listed], bool]) -> OneConversation | None:
        """Return what the view of one conversation shows; None where there is none.

        Args:
            is_it: Tells whether this is the one.
        """
        with self._lock:
            found = self._conversations()
            each = next(filter(is_it, found.listed), None)
            if each is None:
                return None
            return OneConversation(
                listed=each,
                recorded=found.recorded.get(each.stem),
                rows=list(each.known.ledger.rows()) if each.known else [],
                prompts=self._answer("prompts", session_id=each.session_id) if each.live else None,
            )

    def facts(self) -> object:
        """Return something that differs from before where there is something new to show."""
        with self._lock:
            files = [each for _, each in zip(range(MAX_WATCHED), self._files(), strict=False)]
            status = self._answer("status")
            return files, status, self._plugins(status), self._installed()

    def _plugins(self, status: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        # A daemon that stands still is not waited for twice.
        return None if status is None else self._answer("plugins")

    def _answer(self, verb: str, **fields: object) -> Mapping[str, Any] | None:
        return self._ask(self._folder, verb, Deadline.after(ASK_SECONDS), **fields)

    def _conversations(self) -> Conversations:
        now, status = self._now(), self._answer("status")
        found, left_out = self._read_ledgers()
        recorded = {each.known.stem: each for each in found}
        by_stem = {stem: each.known for stem, each in recorded.items()}
        waiting = waiting_files(self._environ, by_stem, now=now)
        return Conversations(
            now=now,
            listed=listed(by_stem.values(), waiting, status),
            recorded=recorded,
            waiting=waiting,
            quarantined=quarantined_files(self._environ, by_stem, now=now),
            status=status,
            silent=status is None and control.runs(self._folder),
            left_out=left_out,
        )

    def _read_ledgers(self) -> tuple[list[RecordedSession], int]:
        files = [(facts, file) for file in ledgers(self._environ) if (facts := facts_of(file.path))]
        files.sort(key=lambda each: each[0][-1], reverse=True)
        latest = files[:MAX_LEDGERS]
        before, self._ledgers = self._ledgers, {}
        for facts, file in latest:
            kept = before.get(file.path)
            if kept is None or kept[0] != facts:
                recorded = _recorded(file)
                kept = (facts, recorded) if recorded else None
            if kept is not None:
                self._ledgers[file.path] = kept
        return [recorded for _, recorded in self._ledgers.values()], len(files) - len(latest)

    def _files(self) -> Iterator[tuple[str, FileFacts]]:
        for paths in state_folders(self._environ):
            for folder in (paths.ledger_dir, paths.bridge_dir, paths.bridge_dir / QUARANTINE):
                with suppress(OSError), os.scandir(folder) as entries:
                    names = sorted(each.name for each in entries if each.name.endswith(_WATCHED))
                    for name in names:
                        if facts := facts_of(folder / name):
                            yield name, facts


def _recorded(file: LedgerFile) -> RecordedSession | None:
    known = known_session(file)
    if known is None:
        return None
    usage, ran = Usage(), list[LedgerRow]()
    for row in file.rows():
        if row.act is Act.RAN:
            ran.append(row)
        else:
            usage.add(known, row)
    return RecordedSession(known, usage, ran)
