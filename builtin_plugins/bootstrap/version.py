"""Which cognee is installed, and which is good enough.

This is the one place that says so.
"""

from __future__ import annotations

import re

PIN = "1.6.5"
"""What is installed: the newest 1.6 that the contract tests pass."""
TESTED = ("1.6.0", PIN)
"""Versions that the contract tests pass. An older one of them stays where another cognee plugin
installed it, since two plugins that each insist on their own would reinstall it for ever."""

_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def is_acceptable(version: str) -> bool:
    """Tell whether an installed version is run as it is.

    Tested ones are, and whatever is newer than the pin: to take away what another plugin put there
    would break that plugin.

    Args:
        version: What the environment says, such as ``1.6.5``; "" where cognee cannot be imported.
    """
    found = _NUMBERS.match(version)
    return version in TESTED or (found is not None and _parts(version) >= _parts(PIN))


def is_past_tested(version: str) -> bool:
    """Tell whether a version is of a later line than the tested ones."""
    found = _NUMBERS.match(version)
    return found is not None and _parts(version)[:2] > _parts(PIN)[:2]


def _parts(version: str) -> tuple[int, ...]:
    found = _NUMBERS.match(version)
    return tuple(int(each) for each in found.groups()) if found else ()
