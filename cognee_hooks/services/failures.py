"""What an answer of the server means, where it is no good one.

A cognee server (1.6) reports errors in eight shapes, and the status alone says too little: 503 is a
busy session store or an entry that will never be accepted, 404 an empty memory or a wrong address,
422 a mistake of ours or a dead embedding endpoint. `error_text` turns any shape into a name and a
line of text; `failure_of` into the `ServerFailure` that callers decide on.

The server's validation errors echo the whole request. Only the place and kind of each problem are
taken from them, never a value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.retry import parse_retry_after

DETAIL_LIMIT = 300
"""Characters of server text in a message."""

_NAME = re.compile(r"\s*\[([A-Za-z][A-Za-z0-9_]{0,80})\]\s*\Z")
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]?"
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MAX_PROBLEMS = 5
_SCAN_LIMIT = 20_000

_BAD_ENTRY = "validation error for Session"
_NO_MEMORY = frozenset({"NoDataError", "DatasetNotFoundError"})

_BY_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.NEEDS_USER,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.NOT_FOUND,
    405: FailureKind.NOT_FOUND,
    407: FailureKind.MISCONFIGURED,
    408: FailureKind.RATE_LIMITED,
    # A build or an improve that failed on the server's side: part of it may be done.
    409: FailureKind.SERVER_ERROR,
    421: FailureKind.MISCONFIGURED,
    425: FailureKind.RATE_LIMITED,
    429: FailureKind.RATE_LIMITED,
    503: FailureKind.UNAVAILABLE,
}
_BY_NAME = {
    (409, "EmbeddingDimensionMismatchError"): FailureKind.NEEDS_USER,
    (409, "EntityAlreadyExistsError"): FailureKind.REJECTED,
    (409, "SessionNodeSetConflictError"): FailureKind.REJECTED,
    (422, "EmbeddingException"): FailureKind.MODEL_DOWN,
}
_PAGE_IS_A_STRANGER = frozenset({400, 403, 405, 409, 422})
"""Statuses that mean something only when the server itself says so; with a web page as body they
come from a proxy or from a program of another kind."""


class Body(Enum):
    """What a body is that holds no JSON."""

    NOT_JSON = auto()
    PAGE = auto()


@dataclass(frozen=True, slots=True)
class ErrorText:
    """An error in the server's words.

    Attributes:
        name: The server's name for it (the bracketed word of its ``detail``), or "".
        text: One line, bounded, safe for a terminal.
    """

    name: str
    text: str


def excerpt(text: str, limit: int = DETAIL_LIMIT) -> str:
    """Return text as one line that is safe to show: no terminal escapes, no control characters.

    Args:
        text: Anything a server sent.
        limit: Characters at most.
    """
    plain = _ESCAPES.sub(" ", text[:_SCAN_LIMIT])
    shown = "".join(" " if unicodedata.category(each) in _HIDDEN else each for each in plain)
    line = " ".join(shown.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def error_text(document: object, *, hide: str = "") -> ErrorText:
    """Find name and text in an error body.

    Args:
        document: The parsed body, or a `Body` member where it was no JSON.
        hide: A secret that the server may have repeated, or "".
    """
    if not isinstance(document, Mapping):
        return ErrorText("", "")
    detail = document.get("detail")
    if isinstance(detail, list):
        return ErrorText("RequestValidationError", excerpt(_problems(detail)))
    raw = detail if isinstance(detail, str) else _own_text(document.get("error"))
    named = _NAME.search(raw)
    text = raw[: named.start()] if named else raw
    remedy = document.get("remediation")
    if isinstance(remedy, str):
        text = f"{text} {remedy}"
    if hide:
        # Twice: before the cut, which could leave a part of it, and as a terminal would show it.
        text = excerpt(text.replace(hide, "[key]"), _SCAN_LIMIT).replace(hide, "[key]")
    name = named[1] if named and named[1] != hide else ""
    return ErrorText(name, excerpt(text))


def _own_text(error: object) -> str:
    if isinstance(error, Mapping):
        error = error.get("message")
    return error if isinstance(error, str) else ""


def _problems(detail: list[object]) -> str:
    """Say where a request was wrong; the values and texts beside it echo the request."""
    found: list[str] = []
    for problem in detail[:_MAX_PROBLEMS]:
        if isinstance(problem, Mapping):
            place = problem.get("loc")
            parts = place if isinstance(place, (list, tuple)) else []
            where = ".".join(str(part)[:40] for part in parts[:8] if isinstance(part, (str, int)))
            found.append(f"{where}: {str(problem.get('type', 'invalid'))[:60]}")
    return "; ".join(found)


def failure_of(
    status: int,
    document: object,
    *,
    headers: Mapping[str, str] | None = None,
    empty_is_404: bool = False,
    hide: str = "",
) -> ServerFailure:
    """Return what an unsuccessful answer means.

    Args:
        status: The HTTP status; anything but 2xx.
        document: The parsed body, or a `Body` member where it was no JSON.
        headers: The answer's headers, with names in lower case.
        empty_is_404: Whether the route answers 404 for a memory that is empty. On other routes
            a 404 means that something is not where we look for it.
        hide: The key that was sent, in case the answer repeats it.

    Returns:
        The failure, not raised.
    """
    known = headers or {}
    error = error_text(document, hide=hide)
    kind = _kind(status, document, error, empty_is_404=empty_is_404)
    return ServerFailure(
        kind,
        _explanation(kind, status, error, known),
        status=status,
        name=error.name,
        retry_after=parse_retry_after(known.get("retry-after")),
        # A stranger that says no has not passed the request on to a cognee server.
        sent=kind is not FailureKind.MISCONFIGURED,
    )


def _kind(status: int, document: object, error: ErrorText, *, empty_is_404: bool) -> FailureKind:
    if status < 400 or (document is Body.PAGE and status in _PAGE_IS_A_STRANGER):  # noqa: PLR2004
        return FailureKind.MISCONFIGURED
    if status == 404 and empty_is_404 and error.name in _NO_MEMORY:  # noqa: PLR2004
        return FailureKind.NO_MEMORY
    if status == 503 and _is_bad_entry(document):  # noqa: PLR2004
        return FailureKind.REJECTED
    named = _BY_NAME.get((status, error.name)) or _BY_STATUS.get(status)
    if named is not None:
        return named
    return FailureKind.REJECTED if status < 500 else FailureKind.SERVER_ERROR  # noqa: PLR2004


def _is_bad_entry(document: object) -> bool:
    detail = document.get("detail") if isinstance(document, Mapping) else None
    return isinstance(detail, str) and _BAD_ENTRY in detail


def _explanation(
    kind: FailureKind, status: int, error: ErrorText, headers: Mapping[str, str]
) -> str:
    if 300 <= status < 400:  # noqa: PLR2004
        target = _origin(headers.get("location", ""))
        leads = f" to {target}" if target else ""
        return (
            f"the address answered with a redirect{leads}, which is not followed because the key "
            "would go along; set the server URL to where cognee itself answers"
        )
    if kind is FailureKind.MISCONFIGURED:
        return f"HTTP {status} from something that is not a cognee server; check the server URL"
    return f"HTTP {status}: {error.text}" if error.text else f"HTTP {status}"


def _origin(location: str) -> str:
    """Return scheme and host of a URL, without what may be secret in it."""
    match = re.match(r"(https?://)(?:[^/@?#]*@)?([^/@?#]+)", location, re.IGNORECASE)
    return excerpt(f"{match[1]}{match[2]}", 100) if match else ""


def stranger(what: str) -> ServerFailure:
    """Return the failure for an answer with a good status that no cognee server would give.

    Args:
        what: What is wrong with it, to follow "the answer".
    """
    return ServerFailure(
        FailureKind.MISCONFIGURED, f"the answer {what}; check that the URL is a cognee server's"
    )
