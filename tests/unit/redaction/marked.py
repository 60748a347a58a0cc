"""Reads the hand-written corpus, whose secrets are marked and filled in at run time.

One text a line. ``«…»`` marks a secret, ``⟦w36⟧`` stands for 36 random characters of an alphabet,
``⟦U⟧`` for a UUID, and pictures of control characters (``␤ ␍ ␉ ␛``) for themselves.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path
from typing import NamedTuple

_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "s": string.ascii_letters + string.digits + "_-",
    "d": string.digits,
    "T": string.ascii_uppercase + "234567",
}
_CONTROLS = str.maketrans({"␤": "\n", "␍": "\r", "␉": "\t", "␛": "\x1b"})
_TAGS = r"(?:\[redacted:[a-z0-9-]+\])+"


class Marked(NamedTuple):
    """A text with its secrets, and what it must look like without them."""

    source: str
    text: str
    secrets: list[str]
    expected: re.Pattern[str]


def lines(name: str, seed: int = 1) -> list[Marked]:
    """Return the texts of a file of this folder, with secrets that depend on the seed."""
    sources = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [
        _marked(source, random.Random(f"{seed}-{number}"))
        for number, source in enumerate(sources)
        if source.strip() and not source.startswith("# ")
    ]


def _marked(source: str, chance: random.Random) -> Marked:
    parts = re.split("[«»]", _filled(source.translate(_CONTROLS), chance))
    expected = "".join(_TAGS if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return Marked(source, "".join(parts), parts[1::2], re.compile(expected))


def _filled(text: str, chance: random.Random) -> str:
    def some(alphabet: str, length: int) -> str:
        return "".join(chance.choice(_ALPHABETS[alphabet]) for _ in range(length))

    def one(match: re.Match[str]) -> str:
        if match[1] == "U":
            return f"{some('h', 8)}-{some('h', 4)}-4{some('h', 3)}-a{some('h', 3)}-{some('h', 12)}"
        return some(match[1], int(match[2]))

    return re.sub("⟦([A-Za-z])([0-9]*)⟧", one, text)
