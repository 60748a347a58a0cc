"""Requests and answers as bytes: encoding, bounded decoding, and parsing that survives anything."""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.redaction import sanitise
from cognee_hooks.services.failures import Body, stranger

BODY_LIMIT = 8_000_000
"""Bytes of an answer's body, after decompression. Code queries and sessions reach megabytes."""
SMALL_BODY = 256_000
"""The same for answers that are a few fields."""

_PLAIN = frozenset({"", "identity"})
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a multipart body.

    Attributes:
        name: The form field.
        content: What it holds.
        filename: Makes it a file of that name; "" for a plain field.
        content_type: Of a file.
    """

    name: str
    content: bytes = field(repr=False)
    filename: str = field(default="", repr=False)
    content_type: str = "text/plain"

    @classmethod
    def of(cls, name: str, text: str, *, filename: str = "") -> Part:
        """Return a part that holds a text.

        Raises:
            ServerFailure: The text cannot be sent: it holds half of a character.
        """
        try:
            content = text.encode()
        except UnicodeEncodeError:
            detail = "the text holds characters that cannot be sent; it was not sent"
            raise ServerFailure(FailureKind.REJECTED, detail, sent=False) from None
        return cls(name=name, content=content, filename=filename)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCall:
    """One request.

    Attributes:
        method: HTTP method.
        path: Path below the base URL, already quoted.
        json: Body to be sent as JSON, or None.
        form: Body to be sent as a form, or None.
        parts: Body to be sent in several parts, some of them files, or None.
        headers: Headers beside the usual ones.
        repeatable: Whether a second identical request does no harm.
        empty_is_404: Whether the route answers 404 for an empty memory.
        limit: Bytes of body that are read.
    """

    method: str
    path: str
    json: Mapping[str, Any] | Sequence[str] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    parts: Sequence[Part] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeatable: bool = True
    empty_is_404: bool = False
    limit: int = BODY_LIMIT


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """One complete answer.

    Attributes:
        status: HTTP status.
        headers: Headers, names in lower case.
        document: The parsed body, or a `Body` member where it is no JSON.
        content: The body as it came, unpacked.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    document: object = field(repr=False)
    content: bytes = field(default=b"", repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004


def encoded(call: ServerCall) -> tuple[bytes | None, dict[str, str]]:
    """Return the body of a request and its headers.

    Raises:
        ServerFailure: It cannot be encoded.
    """
    headers = dict(call.headers)
    content: bytes | None = None
    if call.json is not None:
        content = encode_json(call.json)
        headers["Content-Type"] = "application/json"
    elif call.form is not None:
        content = urlencode(call.form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    elif call.parts is not None:
        content, headers["Content-Type"] = encode_parts(call.parts)
    return content, headers


def encode_json(value: Mapping[str, Any] | Sequence[str]) -> bytes:
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


def encode_parts(parts: Sequence[Part]) -> tuple[bytes, str]:
    """Return a multipart body (RFC 7578) and its content type."""
    boundary = secrets.token_hex(24)  # so long that no content holds it
    body = bytearray()
    for part in parts:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{part.name}"'.encode()
        if part.filename:
            body += f'; filename="{_quoted(part.filename)}"'.encode("utf-8", "replace")
            body += f"\r\nContent-Type: {part.content_type}".encode()
        body += b"\r\n\r\n" + part.content + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    return bytes(body), f"multipart/form-data; boundary={boundary}"


def _quoted(filename: str) -> str:
    """Return a file name that cannot end its header, as web browsers write it."""
    quoted = filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    return quoted.replace("\0", "")


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
        return parse_body(self.content, headers.get("content-type", ""))

    @property
    def content(self) -> bytes:
        """The body as it came, unpacked."""
        return bytes(self._body)


def _too_long(limit: int) -> ServerFailure:
    return stranger(f"is longer than the {limit} bytes that such an answer can have")


def parse_body(body: bytes, content_type: str) -> object:
    """Return the JSON value in a body with lone surrogates replaced, or a `Body` member."""
    text = body.decode("utf-8-sig", "replace")
    try:
        value: object = json.loads(text)
        # Only an escape can bring a surrogate in; looking for one is cheaper than walking.
        return without_surrogates(value) if "\\ud" in text or "\\uD" in text else value
    except (ValueError, RecursionError):
        page = "html" in content_type.lower() or text.lstrip()[:1] == "<"
        return Body.PAGE if page else Body.NOT_JSON


def without_surrogates(value: object) -> object:
    """Return a JSON value with lone surrogates in its texts and keys replaced by U+FFFD.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if isinstance(value, str):
        return sanitise(value)
    if isinstance(value, list):
        return [without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {without_surrogates(name): without_surrogates(each) for name, each in value.items()}
    return value
