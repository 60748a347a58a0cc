"""Decides what waits from the two files of a session, whichever of them was cut, torn or replaced.

The envelope decides while we wrote it last: it holds an entry before its hook returns, and the log
only takes away what has left since. Where the envelope is torn, or another program wrote it, the
log decides, and what else is found is added to it. Without an envelope nothing waits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from builtin_plugins.bridge.envelope import Envelope, parse, salvage
from builtin_plugins.bridge.items import Item, Payload, Vault, whole_number
from builtin_plugins.bridge.log import LeftBecause, Story
from builtin_plugins.bridge.marks import Marks, SendAttempt
from cognee_hooks.services.crypto import Unreadable

_OWN_FIELDS = frozenset({"sessionId", "dataset", "_buffered_at", "_replay_ambiguous"})
_DROPPED = frozenset({LeftBecause.DROPPED})


@dataclass(slots=True)
class BufferState:
    """What is known of one session's entries.

    Attributes:
        items: What waits, by number, oldest first.
        marks: See `Marks`.
        fail_count: Failures of the head in a row.
        fail_at: The latest one, epoch milliseconds.
        alien: Elements of the envelope that nobody can send.
        settled: Whether both files say the same; otherwise they have to be written anew.
        torn: The envelope, where it could not be read.
        source: Digest of an envelope whose entries were taken over.
    """

    items: dict[int, Item] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)
    fail_count: int = 0
    fail_at: int = 0
    alien: list[Any] = field(default_factory=list)
    settled: bool = False
    torn: bytes = b""
    source: str = ""


def merge(content: bytes | None, story: Story, vault: Vault) -> BufferState:
    """Return what waits.

    Args:
        content: The envelope; None where there is none.
        story: What the log tells.
        vault: Opens what is sealed.
    """
    if content is None:
        marks = story.marks or Marks(complete=not story.exists)
        if story.waiting or marks.attempts:  # it was cut, or an entry was never wholly there
            marks = replace(marks, complete=False, attempts={})
        _after(marks, story.waiting)
        tidy = story.exists and not story.damaged and not story.waiting
        return BufferState(marks=marks, settled=tidy)
    envelope = parse(content)
    known = None if envelope is None else _open_marks(envelope, vault)
    if envelope is not None and known is not None and not envelope.plain and not envelope.alien:
        return _from_envelope(envelope, known, story)
    return _from_log(content, envelope, known, story, vault)


def _from_envelope(envelope: Envelope, known: Marks, story: Story) -> BufferState:
    # An entry that was pushed out stays until the one that pushed it out has come in.
    items = {
        seq: item for seq, item in envelope.items.items() if not story.gone(seq, although=_DROPPED)
    }
    marks = _latest(known, story.marks)
    _after(marks, {**items, **story.waiting})
    same = story.marks is not None and story.marks.revision == known.revision
    return BufferState(
        items=_sorted(items),
        marks=marks,
        fail_count=envelope.fail_count,
        fail_at=envelope.fail_at,
        settled=same and not story.damaged and items.keys() == story.waiting.keys(),
    )


def _from_log(
    content: bytes, envelope: Envelope | None, known: Marks | None, story: Story, vault: Vault
) -> BufferState:
    source = hashlib.sha256(content).hexdigest()
    found = salvage(content) if envelope is None else envelope
    if source == story.source:  # they were taken over before a kill
        found = Envelope()
    items = dict(story.waiting)
    for seq, item in found.items.items():
        if seq in items:
            if items[seq] != item:
                found.alien.append(json.loads(item.encoded))
        # Of what another machine has sealed, our log knows nothing.
        elif not story.gone(seq) or not vault.opens(item):
            items[seq] = item
    marks = _latest(known, story.marks)
    if known is None and story.marks is None and (story.exists or items):
        marks.complete = False
    _after(marks, items)
    state = BufferState(
        items=_sorted(items),
        marks=marks,
        fail_count=found.fail_count,
        fail_at=found.fail_at,
        alien=found.alien,
        torn=content if envelope is None else b"",
        source=source,
    )
    for element in found.plain:
        _adopt(state, element, vault)
    return state


def _adopt(state: BufferState, element: Mapping[str, Any], vault: Vault) -> None:
    """Take over an entry that pi-cognee left behind."""
    seq = state.marks.next_seq
    state.marks.next_seq += 1
    dataset = element.get("dataset")
    payload = Payload(
        entry={name: value for name, value in element.items() if name not in _OWN_FIELDS},
        session_id=element["sessionId"],
        dataset=dataset if isinstance(dataset, str) else "",
        url="",
        captured_at=whole_number(element.get("_buffered_at")),
    )
    state.items[seq] = vault.wrap(seq, payload)
    if element.get("_replay_ambiguous") is True:
        state.marks.attempts[seq] = SendAttempt()


def _open_marks(envelope: Envelope, vault: Vault) -> Marks | None:
    """Read the marks of an envelope, and take out what they say has left it."""
    if not envelope.marks:
        return None
    try:
        document = vault.open("marks", envelope.marks)
    except Unreadable:
        return None
    for seq in document["left"]:
        envelope.items.pop(seq, None)
    return Marks.from_json(document["marks"])


def _latest(*known: Marks | None) -> Marks:
    found = [marks for marks in known if marks is not None]
    return max(found, key=lambda marks: marks.revision) if found else Marks()


def _after(marks: Marks, items: Mapping[int, Item]) -> None:
    """Let the next number be a new one."""
    marks.next_seq = max([marks.next_seq, *(seq + 1 for seq in items)])


def _sorted(items: Mapping[int, Item]) -> dict[int, Item]:
    return dict(sorted(items.items()))
