"""Which sessions there are, by their ledgers in the state folders of all agents.

Other programs write some of these files, and a kill may have torn any of them: what cannot be read
is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.printable import one_line
from cognee_hooks.services.ledger_file import LedgerFile, ledger_files
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.statefile import finite

MAX_FOLDERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session that has a ledger.

    Attributes:
        session_id: Our id; "" where the file does not tell.
        agent: Short name of the agent, or "".
        began: Epoch seconds; 0.0 where the file does not tell.
        last: When something was recorded last, epoch seconds.
        ledger: Its file.
        dataset: The dataset that it belongs to; "" where the file does not tell.
    """

    session_id: str
    agent: str
    began: float
    last: float
    ledger: LedgerFile = field(repr=False)
    dataset: str = ""

    @property
    def stem(self) -> str:
        """What the names of the session's files begin with."""
        return self.ledger.path.stem


def state_folders(environ: Mapping[str, str]) -> list[Paths]:
    """Return the places of every agent that comes with us or has a state folder, each once."""
    names = list(BUILT_IN)
    with suppress(OSError):
        hooks = Paths.of(environ, "agent").shared_dir / "hooks"
        found = sorted(each.name for each in hooks.iterdir() if each.is_dir())
        names += found[:MAX_FOLDERS]
    places: dict[Path, Paths] = {}
    for name in names:
        paths = Paths.of(environ, name)
        if paths.state_dir != paths.daemon_dir:
            places.setdefault(paths.state_dir, paths)
    return list(places.values())


def known_sessions(environ: Mapping[str, str]) -> list[KnownSession]:
    """Return all sessions that have a ledger, the latest first."""
    found = [session for file in ledgers(environ) if (session := known_session(file)) is not None]
    return sorted(found, key=lambda each: each.last, reverse=True)


def ledgers(environ: Mapping[str, str]) -> list[LedgerFile]:
    """Return the ledgers of all agents."""
    return [file for paths in state_folders(environ) for file in ledger_files(paths.ledger_dir)]


def known_session(file: LedgerFile) -> KnownSession | None:
    """Return what a ledger says of its session; None where it is gone."""
    try:
        last = file.path.stat().st_mtime
    except OSError:  # swept meanwhile
        return None
    head = file.head()
    return KnownSession(
        session_id=_text(head.get("session_id")),
        agent=_text(head.get("agent")),
        began=finite(head.get("began")),
        last=last,
        ledger=file,
        dataset=_text(head.get("dataset")),
    )


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""
