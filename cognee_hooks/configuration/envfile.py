"""Reads ``~/.cognee/.env``, the file that all cognee plugins share.

One ``NAME=value`` a line, ``export`` allowed, quotes taken off, comments cut. Nothing is expanded
and nothing goes into the process's environment.
"""

from __future__ import annotations

import re

MAX_BYTES = 256 * 1024
# Names that would change how programs run if they ever reached an environment.
_DENIED = re.compile(r"(?:PATH|HOME|SHELL|USER|PYTHON\w*|LD_.+|DYLD_.+)", re.ASCII)
_EXPORT = re.compile(r"export[ \t]+")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>.*?)(?P=quote)[ \t]*(?:#.*)?""")


def parse(text: str) -> dict[str, str]:
    """Return the values of a file's text; a name that stands twice has its last value.

    Lines that are no assignment, and names on the list of denied ones, are passed over. The time is
    linear in the length of the text.

    Args:
        text: The whole file; a byte order mark and Windows line ends are fine.
    """
    values: dict[str, str] = {}
    for line in re.split(r"\r?\n", text.removeprefix("\ufeff")):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        exported = _EXPORT.match(stripped)
        assignment = stripped[exported.end() :] if exported else stripped
        name, equals, value = assignment.partition("=")
        name = name.strip()
        if equals and name and not _DENIED.fullmatch(name):
            values[name] = _value(value)
    return values


def _value(raw: str) -> str:
    """Take off quotes and a comment; ``raw`` still has the space that may start a comment."""
    text = raw.strip()
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted["text"]
    # An opening quote without its partner belongs to the value, and so does what follows.
    return text if text[:1] in {'"', "'"} else _uncommented(raw).strip()


def _uncommented(raw: str) -> str:
    """Cut at the first ``#`` that follows a space: elsewhere it is part of a password or a URL."""
    at = raw.find("#")
    while at != -1:
        if at and raw[at - 1] in " \t":
            return raw[:at]
        at = raw.find("#", at + 1)
    return raw
