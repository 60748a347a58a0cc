"""Takes secrets out of what a server or an installer said, before it is kept or shown.

A model's refusal quotes the key, an installer the address of a package index with its password.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.rules import find_secrets
from cognee_hooks.redaction.spans import replace

_SHORTEST = 8
"""Shorter values are found in too many places that have nothing to do with them."""


class Cleaner:
    """Knows the secrets of one environment, and what secrets look like.

    Args:
        environ: The server's environment.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        secrets = {value for name, value in environ.items() if kind_of(name)}
        known = {text for value in secrets for text in _spellings(value)}
        # The longest first: one may be part of another.
        self._known = sorted((each for each in known if len(each) >= _SHORTEST), key=len)[::-1]

    def __call__(self, text: str) -> str:
        """Return the text with a tag in the place of each secret."""
        for value in self._known:
            text = text.replace(value, "[redacted:CREDENTIAL]")
        return replace(text, find_secrets(text))


def _spellings(value: str) -> Iterator[str]:
    """Yield a value as programs print it; one of several lines also line by line."""
    for text in {value, *value.splitlines()}:
        yield text
        yield repr(text)[1:-1]
        yield json.dumps(text)[1:-1]
        yield quote(text, safe="", errors="replace")
