"""Makes text printable: safe to show to a model or in a terminal, and short where it has to be."""

from __future__ import annotations

import re

from cognee_hooks.redaction import cut, sanitise

_SHORT_BYTES = 120
# Terminal escapes first, then every other control character but tab and line feed.
_UNPRINTABLE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_STYLE = re.compile(r"(\x1b\[[0-9;:]{0,40}m)")
_PLAIN = "\x1b[0m"


def clean(text: str) -> str:
    """Return text that is safe to show to a model or a terminal.

    Lone surrogates, terminal escapes, control characters and marks that turn the writing direction
    go; carriage returns become line feeds; tabs and line feeds stay.
    """
    return _UNPRINTABLE.sub("", sanitise(text).replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, *, colour: bool = False) -> str:
    """Return text on one line that is safe to show in a terminal; blanks are single.

    Args:
        text: Any text.
        colour: Whether sequences that set colours and styles stay; the line then ends without any
            in force.
    """
    parts = _STYLE.split(text) if colour else [text]
    safe = "".join(part if index % 2 else clean(part) for index, part in enumerate(parts))
    line = " ".join(safe.split())
    return line if len(parts) == 1 or line.endswith(_PLAIN) else line + _PLAIN


def brief(text: str) -> str:
    """Return a server's name or message on one line that is safe and short enough for a sentence.

    Args:
        text: Any text.
    """
    return cut(one_line(text), _SHORT_BYTES)
