"""Options of updates."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from cognee_hooks import option
from cognee_hooks.configuration.values import FALSE_WORDS, TRUE_WORDS

PYPI = "https://pypi.org/simple"


def to_index(raw: str) -> str:
    """Parse where to look: an address, PyPI for a true word, nowhere ("") for a false one."""
    word = raw.strip().rstrip("/")
    if word.lower() in TRUE_WORDS:
        return PYPI
    if not word or word.lower() in FALSE_WORDS:
        return ""
    if urlsplit(word).scheme not in {"http", "https"}:
        raise ValueError("must be true, false, or the http or https address of a package index")
    return word


@dataclass(frozen=True)
class UpdatesSettings:
    """What a user may choose about updates."""

    check: str = option(
        default="",
        env="COGNEE_HOOKS_UPDATE_CHECK",
        parse=to_index,
        help="Look once a day for a newer release: true for PyPI, or an index's address; off if "
        "empty.",
    )
