"""Requests and answers as bytes: encoding, bounded decoding, and parsing that survives anything."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.outcome import Body, stranger

BODY_LIMIT = 8_000_000
"""Bytes of an answer's body, after decompression. Code queries and sessions reach megabytes."""
SMALL_BODY = 256_000
"""The same for answers that are a few fields."""

_PLAIN = frozenset({"", "identity"})
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request.

    Attributes:
        method: HTTP method.
        path: Path below the base URL, already quoted.
        json: Body to be sent as JSON, or None.
        form: Body to be sent as a form, or None.
        fields: Body to be sent as a multipart form, or None.
        headers: Headers beside the usual ones.
        repeatable: Whether a second identical request does no harm.
        empty_is_404: Whether the route answers 404 for an empty memory.
        limit: Bytes of body that are read.
    """

    method: str
    path: str
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    fields: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeatable: bool = True
    empty_is_404: bool = False
    limit: int = BODY_LIMIT


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete answer.

    Attributes:
        status: HTTP status.
        headers: Headers, names in lower case.
        document: The parsed body, or a `Body` member where it is no JSON.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    document: object = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004


def encode_json(value: Mapping[str, Any]) -> bytes:
    """Return a request body.

    Raises:
        ServerFailure: The value is no JSON or holds a lone surrogate; a cognee server would accept
            the latter and never be able to show the session again.
    """
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
        ).encode()
    except (ValueError, TypeError, RecursionError) as error:
        kind = type(error).__name__
    raise ServerFailure(
        FailureKind.REJECTED, f"the payload cannot be encoded ({kind}); it was not sent", sent=False
    )


def _plain(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


class BodyReader:
    """Collects a body up to a limit.

    Compressed bodies are unpacked here and not by the HTTP library, which would unpack a whole
    chunk before anybody can see how much it became.

    Args:
        headers: The answer's headers, names in lower case.
        limit: Bytes at most, after decompression.

    Raises:
        ServerFailure: The body is announced as longer, or in an encoding that we did not ask for
            and cannot read.
    """

    def __init__(self, headers: Mapping[str, str], limit: int) -> None:
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in _PLAIN | _COMPRESSED:
            raise stranger("came in an encoding that was not asked for")
        announced = headers.get("content-length", "")
        if announced.isdecimal() and len(announced) < 20 and int(announced) > limit:  # noqa: PLR2004
            raise _too_long(limit)
        self._unpack = None if encoding in _PLAIN else zlib.decompressobj(_GZIP_OR_ZLIB)
        self._limit = limit
        self._body = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next part.

        Raises:
            ServerFailure: The body is too long or damaged.
        """
        room = self._limit - len(self._body)
        if self._unpack is not None:
            try:
                chunk = self._unpack.decompress(chunk, room + 1)
            except zlib.error:
                raise stranger("was damaged on its way") from None
        if len(chunk) > room:
            raise _too_long(self._limit)
        self._body += chunk

    def document(self, headers: Mapping[str, str]) -> object:
        """Return what the body holds."""
        return parse_body(bytes(self._body), headers.get("content-type", ""))


def _too_long(limit: int) -> ServerFailure:
    return stranger(f"is longer than the {limit} bytes that such an answer can have")


def parse_body(body: bytes, content_type: str) -> object:
    """Return the JSON value in a body with lone surrogates replaced, or a `Body` member."""
    text = body.decode("utf-8-sig", "replace")
    try:
        value: object = json.loads(text)
        # Only an escape can bring a surrogate in; looking for one is cheaper than walking.
        return clean(value) if "\\ud" in text or "\\uD" in text else value
    except (ValueError, RecursionError):
        page = "html" in content_type.lower() or text.lstrip()[:1] == "<"
        return Body.PAGE if page else Body.NOT_JSON


def clean(value: object) -> object:
    """Return a JSON value with lone surrogates in its texts and keys replaced by U+FFFD.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [clean(each) for each in value]
    if isinstance(value, dict):
        return {clean(name): clean(each) for name, each in value.items()}
    return value
