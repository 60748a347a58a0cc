"""What a drill came to: one row a fault."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from cognee_hooks.daemon import thin_client
from cognee_hooks.drill.script import DrillConversation, ExpectedEntry
from cognee_hooks.drill.world import Reply
from cognee_hooks.results import CheckStatus

REPORT = (
    "block your own plugins one by one (`-p no:NAME`) to see whether one is in the way; if none "
    "is, report this with `cognee-hooks doctor --bundle`"
)
_EVENT_SECONDS = thin_client.TAKE_SECONDS + thin_client.BOOT_SECONDS
"""Longest that an event may take for which nobody asks memory, a daemon's start included."""
_LIMIT = thin_client.LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillRow:
    """What one fault came to.

    Attributes:
        name: What went wrong.
        status: How the installation took it.
        detail: What was found.
        proves: What it shows where the status is ``ok``.
        remedy: What to do; "" where nothing is to be done.
        seconds: The agent's longest wait, where it waited.
    """

    name: str
    status: CheckStatus
    detail: str
    proves: str
    remedy: str = ""
    seconds: float | None = None

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in JSON."""
        return asdict(self) | {"status": self.status.value}


@dataclass(slots=True)
class Played:
    """A turn that was played while something went wrong.

    Attributes:
        name: What went wrong.
        proves: What it shows where all is well.
        conversation: The conversation.
        replies: What the agent got.
        texts: What the server holds of it.
    """

    name: str
    proves: str
    conversation: DrillConversation
    replies: Sequence[Reply]
    texts: Sequence[str] = ()

    @property
    def slowest(self) -> float:
        """The agent's longest wait, in seconds."""
        return max((reply.seconds for reply in self.replies), default=0.0)

    def count(self, entry: ExpectedEntry) -> int:
        """Return how often an entry is at the server."""
        return sum(entry.mark in text for text in self.texts)

    def missing(self, kinds: Collection[str]) -> int:
        """Return how many entries of some kinds are not at the server."""
        return sum(e.kind in kinds and not self.count(e) for e in self.conversation.entries)

    def doubled(self) -> int:
        """Return how many entries are at the server more than once."""
        return sum(self.count(entry) > 1 for entry in self.conversation.entries)


def judge(
    played: Played,
    kinds: Collection[str],
    waiting: int,
    recall_seconds: float,
    advice: str = REPORT,
) -> DrillRow:
    """Return the row of a fault.

    Args:
        played: The turn.
        kinds: Kinds of entries that this installation captures.
        waiting: Entries that the whole machine still keeps.
        recall_seconds: How long a prompt may wait for memory.
        advice: What to do where it failed.
    """
    wrong = [*_answers(played.replies, recall_seconds)]
    expected = sum(entry.kind in kinds for entry in played.conversation.entries)
    missing, doubled = played.missing(kinds), played.doubled()
    if doubled:
        wrong.append(f"{doubled} of {expected} entries are stored more than once")
    if missing > waiting:
        wrong.append(f"{missing - waiting} of {expected} entries are lost")
    if wrong:
        status, detail, remedy = CheckStatus.FAILED, "; ".join(wrong), advice
    elif missing:
        status = CheckStatus.WARNING
        detail = f"{missing} of {expected} entries still wait on disk; none is lost"
        remedy = "on a busy machine, try again: they are sent later"
    else:
        status, remedy = CheckStatus.OK, ""
        detail = f"{played.slowest:.1f} s"
        if expected:
            detail += f"; {expected} of {expected} entries stored once"
    return DrillRow(
        name=played.name,
        status=status,
        detail=detail,
        proves=played.proves,
        remedy=remedy,
        seconds=round(played.slowest, 2),
    )


def captured_kinds(played: Played) -> set[str]:
    """Return the kinds of entries that came to the server while all was well."""
    return {entry.kind for entry in played.conversation.entries if played.count(entry)}


def _answers(replies: Iterable[Reply], recall_seconds: float) -> Iterable[str]:
    for reply in replies:
        prompt = reply.event == "UserPromptSubmit"
        limit = min(_LIMIT, recall_seconds + _EVENT_SECONDS) if prompt else _EVENT_SECONDS
        if reply.event == "SessionStart":
            limit = _LIMIT
        if reply.problem:
            yield f"the agent's {reply.event} failed: {reply.problem}"
        elif reply.seconds > limit:
            yield f"the agent waited {reply.seconds:.1f} s for its {reply.event}"
