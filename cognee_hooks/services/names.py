"""Names that a cognee server accepts, and digests that stand for longer ones.

The server takes more characters than it can give back: a dataset whose name holds a dot or a space
is created and then refused by other routes, a session id with a slash cannot be read again. So
every name is reduced to ``A-Z a-z 0-9 _ -`` before it is sent.
"""

from __future__ import annotations

import hashlib
import re

from cognee_hooks.configuration.values import to_uuid

DEFAULT_DATASET = "agent_sessions"
"""Dataset of every agent that chose none; shared with the other cognee plugins."""

DATASET_LIMIT = 100
FILE_LIMIT = 200
SESSION_LIMIT = 120

RESERVED_SESSION_IDS = frozenset(
    {"stats", "cost-by-model", "cost-by-user-agent", "with-agent-info"}
)
"""Last path segments of other session routes: a session of that name could never be read back."""

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_UNFIT_IN_FILE_NAMES = re.compile(r'[\x00-\x1f\x7f"%\\/]')
_ORDINAL = re.compile(r"(.*)__([0-9]+)", re.DOTALL)


def safe_dataset_name(name: str) -> str:
    """Return ``name`` with foreign characters replaced by ``-``, at most 100 characters.

    Returns:
        The name, or `DEFAULT_DATASET` where it is empty.
    """
    return _FOREIGN.sub("-", name)[:DATASET_LIMIT] or DEFAULT_DATASET


def safe_session_id(session_id: str) -> str:
    """Return ``session_id`` with foreign characters replaced by ``-``, at most 120 characters.

    An id that is the name of another session route gets ``-session`` appended. "" stays "".
    """
    cleaned = _FOREIGN.sub("-", session_id)[:SESSION_LIMIT]
    return f"{cleaned}-session" if cleaned in RESERVED_SESSION_IDS else cleaned


def safe_file_name(name: str) -> str:
    """Return a file name that comes back from the server as it was sent, at most 200 characters.

    Quotes and percent signs do not, and folders are not part of it. The end is kept, because the
    extension says how the file is read.
    """
    return _UNFIT_IN_FILE_NAMES.sub("_", name.rsplit("/", 1)[-1])[-FILE_LIMIT:] or "text.txt"


def next_ordinal(session_id: str) -> str:
    """Return the id of the session that follows: ``x`` → ``x__2`` → ``x__3``.

    The stem is cut, never the number, so the result is at most 120 characters and always another
    one than the argument.
    """
    cleaned = safe_session_id(session_id)
    match = _ORDINAL.fullmatch(cleaned)
    stem, number = (match[1], int(match[2]) + 1) if match else (cleaned, 2)
    suffix = f"__{number}"
    return stem[: SESSION_LIMIT - len(suffix)] + suffix


def canonical_uuid(value: str) -> str:
    """Return a UUID in lower case with hyphens, or "" where ``value`` is none.

    Exactly two spellings count, 8-4-4-4-12 and 32 hexadecimal digits: `uuid.UUID` also takes
    braces, prefixes and stray hyphens, which the server refuses.
    """
    return to_uuid(value)


def session_file_stem(session_id: str) -> str:
    """Return the file name, without extension, under which a session's state is kept."""
    return hashlib.sha1(session_id.encode(), usedforsecurity=False).hexdigest()


def key_fingerprint(base_url: str, api_key: str | None) -> str:
    """Return a digest that tells server and account apart without holding the key."""
    return hashlib.sha256(f"{base_url}\n{api_key or ''}".encode()).hexdigest()
