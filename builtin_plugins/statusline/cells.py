"""How many cells of a terminal a text takes.

As in the terminals and line editors of today: what is combined with the character before it takes
none, East Asian wide characters and emoji take two, and so does a whole emoji that is joined from
several characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
_FLAG = range(0x1F1E6, 0x1F200)
_SKIN = range(0x1F3FB, 0x1F400)
_MEDIAL_HANGUL = range(0x1160, 0x1200)


def cells(text: str) -> int:
    """Return how many cells a text takes."""
    return sum(width for _, width in _clusters(text))


def cut_to_cells(text: str, max_width: int) -> str:
    """Return the longest beginning that fits and ends between two visible characters."""
    kept = []
    for cluster, width in _clusters(text):
        max_width -= width
        if max_width < 0:
            break
        kept.append(cluster)
    return "".join(kept)


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield what is shown as one character, with the cells that it takes."""
    cluster = ""
    for character in text:
        if cluster and not _belongs(cluster, character):
            yield cluster, _width(cluster)
            cluster = ""
        cluster += character
    if cluster:
        yield cluster, _width(cluster)


def _belongs(cluster: str, character: str) -> bool:
    """Tell whether a character is shown together with those before it."""
    if _takes_none(character):
        return True
    if cluster[-1] == _JOINER:
        return _is_symbol(cluster[0]) and _is_symbol(character)
    if ord(character) in _SKIN:
        return _is_symbol(cluster[0])
    return len(cluster) == 1 and ord(cluster) in _FLAG and ord(character) in _FLAG


def _width(cluster: str) -> int:
    if _takes_none(cluster[0]):
        return 0
    flag = len(cluster) > 1 and ord(cluster[1]) in _FLAG
    wide = unicodedata.east_asian_width(cluster[0]) in {"F", "W"}
    return 2 if wide or flag or _AS_EMOJI in cluster else 1


def _takes_none(character: str) -> bool:
    return unicodedata.category(character) in _NO_WIDTH or ord(character) in _MEDIAL_HANGUL


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) == "So"
