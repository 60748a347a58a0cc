"""Which releases a package index has.

A page of the JSON form of the simple repository API (PEP 691) lists files; the versions are in
their names (PEP 427 for wheels, PEP 625 for source archives).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PACKAGE = "cognee-hooks"
MEDIA_TYPE = "application/vnd.pypi.simple.v1+json"

_FILE = re.compile(
    r"cognee_hooks-(?P<version>[0-9]{1,9}(?:\.[0-9]{1,9}){0,4})(?:\.tar\.gz|-[\w.-]{1,99}\.whl)",
    re.ASCII,
)
_NUMBERS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,4}", re.ASCII)


def newest(page: object) -> str:
    """Return the newest final release of a page; "" where there is none.

    Pre-releases, and releases that were withdrawn (yanked), are none that anybody should be told
    of.

    Args:
        page: The parsed page.
    """
    return max(_releases(page), key=_numbers, default="")


def is_update(release: str, current: str) -> bool:
    """Tell whether a final release is newer than a version, which may be a pre-release."""
    base = _NUMBERS.match(current)
    if base is None or not _NUMBERS.fullmatch(release):
        return False
    mine, theirs = _numbers(base[0]), _numbers(release)
    before_final = bool(re.match(r"[-_.]?(?:a|b|c|rc|alpha|beta|pre|dev)", current[base.end() :]))
    return theirs > mine or (theirs == mine and before_final)


def _releases(page: object) -> Iterator[str]:
    files = page.get("files") if isinstance(page, dict) else None
    for each in files if isinstance(files, list) else ():
        if isinstance(each, dict) and not each.get("yanked"):
            name = each.get("filename")
            if isinstance(name, str) and (found := _FILE.fullmatch(name)):
                yield found["version"]


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(each) for each in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
