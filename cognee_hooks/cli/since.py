"""How far back to look, as people write it: ``24h``, ``7d``, ``2w``, ``month``, ``all``, a date."""

from __future__ import annotations

import re
from datetime import datetime

from cognee_hooks.errors import UsageError
from cognee_hooks.printable import one_line

_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
_WORDS = {"day": "1d", "week": "1w", "month": "30d"}
_SPAN = re.compile(r"([0-9]{1,5})\s?([hdw])")


def since(text: str, now: float) -> float:
    """Return the moment from which on something is of interest, in epoch seconds.

    Args:
        text: What the person wrote. A date is the beginning of that day in the person's own time.
        now: Epoch seconds.

    Raises:
        UsageError: It is none of these.
    """
    word = text.strip().lower()
    if word == "all":
        return 0.0
    if span := _SPAN.fullmatch(_WORDS.get(word, word)):
        return now - int(span[1]) * _SECONDS[span[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"{one_line(text)!r} is no time: write 24h, 7d, 2w, month, all, or a date such as "
            "2026-01-31"
        ) from None
