"""Form bodies of routes that take multipart only, made in memory and bounded."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from cognee_hooks.errors import FailureKind, ServerFailure

MULTIPART_LIMIT = 1_000_000
"""Bytes of a whole body."""


def encode_multipart(fields: Sequence[tuple[str, str]]) -> tuple[bytes, str]:
    """Return a ``multipart/form-data`` body and its content type.

    Args:
        fields: Names and values, in order; names may repeat. Values are sent as UTF-8.

    Raises:
        ServerFailure: A value holds a lone surrogate, or the body would be too long.
    """
    # Random, so that no value can end its part and begin another one.
    boundary = secrets.token_hex(24)
    body = bytearray()
    for name, value in fields:
        try:
            content = value.encode()
        except UnicodeEncodeError:
            raise _unsendable("holds characters that cannot be sent") from None
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        body += head.encode() + content + b"\r\n"
        if len(body) > MULTIPART_LIMIT:
            raise _unsendable(f"is longer than {MULTIPART_LIMIT} bytes")
    body += f"--{boundary}--\r\n".encode()
    return bytes(body), f"multipart/form-data; boundary={boundary}"


def _unsendable(why: str) -> ServerFailure:
    return ServerFailure(FailureKind.REJECTED, f"the form {why}; it was not sent", sent=False)
