"""Parsers of single setting values.

Each takes text and raises ``ValueError`` with what the value must be, worded to follow the name of
the setting ("COGNEE_RECALL_TOP_K must be a whole number"). The text itself is never in the message,
since it may be a secret that was put under the wrong name.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)

TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})
_UUID = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}", re.ASCII | re.IGNORECASE
)
_NUMBER = re.compile(
    r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|0x[0-9a-f]+", re.ASCII | re.IGNORECASE
)
# Longer ones are no numbers that anybody means, and 200 hexadecimal digits still fit a float.
_MAX_LENGTH = 200
# The largest whole number that every JSON reader gives back as it was.
MAX_INT = 2**53 - 1


def to_text(raw: str) -> str:
    """Return the text without surrounding spaces and without halves of surrogate pairs.

    Environment values carry such halves in place of bytes that are not UTF-8; they could not be
    sent to a server or written to a file.
    """
    return raw.strip().encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_bool(raw: str) -> bool:
    """Parse a switch: one of true, 1, yes, on, false, 0, no, off, in any case.

    The cognee plugin for pi takes every other word, ``n`` and ``banana`` included, and a false with
    spaces around it, as true. Here spaces do not count and another word is an error.
    """
    word = raw.strip().lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise ValueError("must be true or false")


def to_float(raw: str) -> float:
    """Parse a number that is finite and not negative; exponents and hexadecimals are fine."""
    text = raw.strip()
    if len(text) > _MAX_LENGTH or not _NUMBER.fullmatch(text):
        raise ValueError("must be a number")
    value = float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError("must be a number that is not negative")
    return value


def to_int(raw: str) -> int:
    """Parse a whole number between 0 and `MAX_INT`."""
    value = to_float(raw)
    if value != int(value) or value > MAX_INT:
        raise ValueError("must be a whole number")
    return int(value)


def to_path(raw: str, home: str) -> Path:
    """Parse a path; a leading ``~`` stands for ``home``, or for itself where that is empty."""
    text = raw.strip()
    if "\0" in text:
        raise ValueError("must be a path")
    if home and (text == "~" or text.startswith("~/")):
        return Path(home + text[1:])
    return Path(text)


def to_choice(choices: type[Choice], raw: str) -> Choice:
    """Parse one of the values of an enumeration, in any case."""
    word = raw.strip().lower()
    for choice in choices:
        if choice.value.lower() == word:
            return choice
    raise ValueError(f"must be one of {', '.join(choice.value for choice in choices)}")


def to_list(raw: str, separator: str) -> tuple[str, ...]:
    """Parse a list: a JSON array of strings, or parts between separators.

    Parts are trimmed and empty ones dropped; items of an array are kept as they are.
    """
    text = raw.strip()
    if text.startswith("["):
        value = _json(text)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError("must be an array of strings")
        return tuple(value)
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def to_uuid(value: object) -> str:
    """Return a UUID in lower case with hyphens; "" for anything else, braces and prefixes too."""
    if isinstance(value, str) and _UUID.fullmatch(value):
        return str(uuid.UUID(value))
    return ""


def to_uuids(raw: str) -> tuple[str, ...]:
    """Parse a JSON list of UUIDs; repeated ones count once. Blank text is an empty list."""
    text = raw.strip()
    if not text:
        return ()
    value = _json(text)
    found = [to_uuid(each) for each in value] if isinstance(value, list) else []
    if not found or not all(found):
        raise ValueError("must be a nonempty JSON list of UUIDs")
    return tuple(dict.fromkeys(found))


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON: too deep, or a number too long") from None
