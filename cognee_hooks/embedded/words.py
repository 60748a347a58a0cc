"""Words of a text for lexical search: what to index beside the text, and what to look for.

The full-text index splits at everything that is not a letter or digit and stems English. Two kinds
of text need help: names in CamelCase, where each part should be found, and scripts without spaces,
where the index would see one long word; these are indexed and searched as overlapping pairs of
characters.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Thai to Lao, Burmese, Khmer, kana, Han and Hangul. The lookahead keeps to letters and digits.
_UNSPACED = re.compile(
    r"(?:(?=[^\W_])["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])+"
)
_MAX_QUERY_WORDS = 64
_MIN_PREFIX = 4
# Longer "words" are hashes and encoded data; looking for them costs time and finds nothing.
_MAX_WORD = 80

_STOP_TEXT = (
    "a about above after again all also am an and any are as at be because been before being "
    "below between both but by can cannot could did do does doing done down during each else "
    "ever few for from further get gets give given go goes got had has have having he her "
    "here hers him his how i if in into is it its itself just let like lot made make many may "
    "me might more most much must my need no nor not now of off on once one only or other our "
    "ours out over own per please put s same say see she should show so some such t tell than "
    "that the their theirs them then there these they thing this those through to too under "
    "until up us use used using very want was way we well were what when where whether which "
    "while who whom whose why will with would yes yet you your yours "
)
_STOP_WORDS = frozenset(_STOP_TEXT.split())


def index_terms(text: str) -> str:
    """Extra words under which a text is to be found, separated by spaces.

    Args:
        text: A passage.

    Returns:
        Parts of CamelCase names and character pairs of unspaced scripts, in order of appearance.
    """
    terms: dict[str, None] = {}
    for word in _WORD.findall(text):
        parts = _CAMEL_PART.findall(word)
        if len(parts) > 1:
            terms.update(dict.fromkeys(part.lower() for part in parts))
    for run in _UNSPACED.findall(text):
        terms.update(dict.fromkeys(_pairs(run)))
    return " ".join(terms)


def query_words(text: str) -> list[str]:
    """The words of a query that are worth looking for, lower case, each once.

    Stop words are dropped, even if nothing is left: "yes, do it" is no question to a memory. Only
    the first 64 words count: prompts can be whole files.
    """
    words: dict[str, None] = {}
    for word in _WORD.findall(_UNSPACED.sub(" ", text)):
        words[word.lower()] = None
        parts = _CAMEL_PART.findall(word)
        if len(parts) > 1:
            words.update(dict.fromkeys(part.lower() for part in parts if len(part) > 1))
    for run in _UNSPACED.findall(text):
        words.update(dict.fromkeys(_pairs(run)))
    telling = [word for word in words if len(word) <= _MAX_WORD and word not in _STOP_WORDS]
    return telling[:_MAX_QUERY_WORDS]


def match_expression(words: list[str]) -> str:
    """A full-text query for any of the words.

    Args:
        words: What :func:`query_words` found; letters and digits only, so nothing of the query
            language can be among them, and they are quoted all the same.

    Returns:
        An FTS5 expression, or "" where there is nothing to look for. A whole word counts beside
        the prefix that it also is, so exact hits rank above longer words.
    """
    alternatives: list[str] = []
    for word in words:
        quoted = '"' + word.replace('"', '""') + '"'
        alternatives.append(quoted)
        if len(word) >= _MIN_PREFIX and word.isascii():
            alternatives.append(f"{quoted} *")
            # The stemmer turns "deploy" into "deploi" but "deployment" into "deploy".
            if word.endswith("y"):
                alternatives.append(f'"{word[:-1]}" *')
    return " OR ".join(alternatives)


def overlap(words: list[str], text: str) -> int:
    """How many of a query's words a text contains as words of its own."""
    present = {word.lower() for word in _WORD.findall(_UNSPACED.sub(" ", text))}
    present.update(index_terms(text).split())
    return sum(word in present for word in words)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]
