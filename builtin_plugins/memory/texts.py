"""What people and the model are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.memory.follow import Fate
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.printable import brief
from cognee_hooks.redaction import cut
from cognee_hooks.results import Failure

if TYPE_CHECKING:
    from cognee_hooks.services.documents import Updated

RESULT_BYTES = 4000
"""Of a whole answer to the model."""
MINUS = "\u2212"

HOW_TO_CREATE = (
    " Check the spelling, or say that it is to be created: --create in a command, create=true in a "
    "tool call."
)
NOTHING_GIVEN = (
    "⚠ Provide content (prose) or file (a path on disk): one of the two is required. Nothing was "
    "remembered."
)
UNKNOWN_ORIGIN = (
    " Nothing here says which file it came from: if that was another one of this name, remember "
    "that one again."
)
NOT_REDACTED = (
    "It could not be made safe to leave this machine, so nothing was sent; see `cognee-hooks "
    "doctor`."
)

_FATES = {
    Fate.READY: "graph is queryable: it can be found from now on.",
    Fate.BUILDING: "still processing in background: it is stored, and can be found in a while.",
    Fate.FAILED: (
        "pipeline ERRORED — data stored, but graph build failed: it cannot be found. Look at the "
        "server's log, mostly at its model, then remember it again."
    ),
    Fate.UNSEEN: (
        "still processing in background: the server took it on but does not list it yet, so it is "
        "not certain that it is stored. Remember it again in a minute if it cannot be found; the "
        "same content is never stored twice."
    ),
}
_HELP = {
    FailureKind.REFUSED: "start the server or check COGNEE_BASE_URL; the agent works on without it",
    FailureKind.UNREACHABLE: "check COGNEE_BASE_URL; the agent works on without it",
    FailureKind.AUTH: "authentication failed: check COGNEE_API_KEY, or run `cognee-hooks doctor`",
    FailureKind.FORBIDDEN: "this account may not use that dataset, or it is gone",
    FailureKind.TIMED_OUT: (
        "the server is too slow, and may finish the work nevertheless; look, then try again"
    ),
    FailureKind.LOST: "the server may have done the work nevertheless; look, then try again",
    FailureKind.MODEL_DOWN: "the server works, but its model does not; look at the server's log",
}


def capped(text: str) -> str:
    """Return an answer that is not too long for the model."""
    kind = Failure if isinstance(text, Failure) else str
    return kind(cut(text, RESULT_BYTES))


def failed(what: str, failure: ServerFailure) -> str:
    """Say that the server did not do something, and what to do."""
    help_ = _HELP.get(failure.kind, "")
    detail = brief(str(failure))
    return f"⚠ {what}: {detail}" + (f" — {help_}" if help_ else "")


def stored(reached: Fate | None) -> tuple[str, str]:
    """Say what was done, and the word that goes before the place."""
    return ("Sent", "to") if reached in {None, Fate.UNSEEN} else ("Stored", "in")


def fate(reached: Fate | None) -> str:
    """Say how far something came, to follow another sentence."""
    return f" {_FATES[reached]}" if reached is not None else ""


def changes(done: Updated) -> str:
    """Say what an update did to the memory of a document."""
    reason = f"fallback: {brief(done.fallback)}" if done.fallback else ""
    if done.status == "unchanged":
        return "no content change"
    if done.status == "full_rebuild":
        return "memory dropped and rebuilt" + (f" ({reason})" if reason else "")
    if done.status != "incremental":
        return done.status
    parts: list[str] = []
    if done.added is not None or done.deleted is not None:
        parts.append(f"+{done.added or 0}/{MINUS}{done.deleted or 0} chunks")
    parts += [f"{done.kept} kept"] if done.kept is not None else []
    parts += [f"{done.reused} reused"] if done.reused else []
    parts += [reason] if reason else []
    return ", ".join(parts) or done.status
