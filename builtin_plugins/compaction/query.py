"""Makes a search query out of the turns that a compaction drops."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cognee_hooks.events import Turn
from cognee_hooks.redaction import masked

MAX_WORDS = 20
MIN_LETTERS = 3
"""Of a word in ASCII; other scripts say as much in two characters."""
SEED_TURNS = 3

_WORD = re.compile(r"\w{2,80}")
_STOP_WORDS = frozenset(
    "about after again all also and any are because been before being between both but can cannot "
    "could did does doing done each few for from get gets had has have having her here him his how "
    "into its just let like made make many may might more most must new nor not now off once one "
    "only other our out over please said same say see should show some still such sure than that "
    "the their them then there these they this those through too under until use used using very "
    "want was way well were what when where which while who why will with would yes yet you "
    "your".split()
)


def query_of(turns: Iterable[Turn]) -> str:
    """Return words worth searching for, the newest turn's first, each once; "" without any.

    Args:
        turns: Redacted turns, the oldest first.
    """
    words: dict[str, None] = {}
    for turn in reversed(list(turns)[-SEED_TURNS:]):
        text = masked(f"{turn.question} {turn.answer}", " ").lower()
        words.update(dict.fromkeys(filter(_tells, _WORD.findall(text))))
    return " ".join(list(words)[:MAX_WORDS])


def _tells(word: str) -> bool:
    if word in _STOP_WORDS or not any(map(str.isalpha, word)):
        return False
    return len(word) >= MIN_LETTERS or not word.isascii()
