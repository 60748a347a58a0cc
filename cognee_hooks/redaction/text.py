"""Plain text operations that come before and after the rules."""

from __future__ import annotations

import re

_ELLIPSIS = "..."
_PARTIAL_TAG = re.compile(r"\[(?:r(?:e(?:d(?:a(?:c(?:t(?:e(?:d(?::[a-z0-9-]*)?)?)?)?)?)?)?)?)?\Z")
_PRIVATE = re.compile(r"<\s*+(/?)\s*+private\b[^<>]{0,200}>", re.IGNORECASE)


def sanitise(text: str) -> str:
    """Return text without lone surrogates.

    Halves that belong together are joined, others become U+FFFD: a server that stores one can never
    show the session again.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def cut(text: str, max_bytes: int) -> str:
    """Cut text to ``max_bytes`` UTF-8 bytes, three of which are dots that say so.

    No character is split, and a redaction tag at the cut goes as a whole. The dots stand even where
    the limit is less than three bytes.
    """
    if max_bytes <= 0:
        return ""
    data = sanitise(text).encode()
    if len(data) <= max_bytes:
        return sanitise(text)
    kept = data[: max(0, max_bytes - len(_ELLIPSIS))].decode("utf-8", "ignore")
    return _PARTIAL_TAG.sub("", kept) + _ELLIPSIS


def strip_private(text: str) -> str:
    """Return text without what stands between ``<private>`` and ``</private>``.

    Marks may be nested; one that is never closed reaches to the end, and a closing one without an
    opening one is only a mark and goes alone.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = position = 0
    for mark in _PRIVATE.finditer(text):
        if depth == 0:
            kept.append(text[position : mark.start()])
        depth = max(0, depth - 1) if mark[1] else depth + 1
        position = mark.end()
    if depth == 0:
        kept.append(text[position:])
    stripped = "".join(kept)
    return stripped if stripped.strip() else "" if len(kept) > 1 or depth else stripped
