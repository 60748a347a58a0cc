"""What is in the environment that all cognee plugins share, and whether that is known at all.

An environment that cannot be used is made anew, which takes it away from everybody. So "nothing is
there" needs a proof, and a Python that is only slow, or that the system has no room for, is none.
"""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from builtin_plugins.bootstrap import extras, version
from builtin_plugins.bootstrap.errors import BootFailed
from cognee_hooks.services.process import run
from cognee_hooks.services.statefile import read_object

if TYPE_CHECKING:
    from builtin_plugins.bootstrap.plan import Places
    from cognee_hooks.deadline import Deadline

PYTHONS = (3, 10), (3, 14)
"""The oldest and the newest Python that cognee's pinned version runs on."""

_MAX_MARKER = 10_000
_CANNOT_RUN = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC, errno.ELOOP})
"""What the system says of a program that is no program."""
_ENDED_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM})
# Both a distribution's record and the package itself: an installation that was cut short, or a
# Python that was taken away, leaves one without the other.
_PROBE = """
import importlib.metadata, importlib.util, json, sys
def version(name):
    try:
        return importlib.metadata.version(name) or ""
    except importlib.metadata.PackageNotFoundError:
        return ""
found = version("cognee") if importlib.util.find_spec("cognee") else ""
absent = [name for name in sys.argv[1:] if not version(name)]
print(json.dumps({"version": found, "absent": absent, "python": sys.version_info[:2]}))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """What is in the environment.

    Attributes:
        version: cognee's version, "" where it cannot be imported.
        missing: Extras that are needed and not there.
        complete: Whether whoever installed that version came to the end.
        fits: Whether cognee runs on the environment's Python.
    """

    version: str
    missing: Sequence[str]
    complete: bool = False
    fits: bool = True

    @property
    def usable(self) -> bool:
        """Whether a server can be run from it, as far as versions tell."""
        return self.fits and version.is_acceptable(self.version) and not self.missing


async def look(places: Places, needed: Sequence[str], deadline: Deadline) -> Installed:
    """Return what is in the environment; one without a Python that works has nothing.

    Args:
        places: Where it is.
        needed: Extras that the server needs.
        deadline: When to give up.

    Raises:
        BootFailed: It cannot be told now.
    """
    sentinels = [extras.SENTINELS[extra] for extra in needed]
    command = [str(places.interpreter), "-I", "-c", _PROBE, *sentinels]
    try:
        done = await run(command, deadline=deadline, env={})
    except OSError as error:
        if error.errno in _CANNOT_RUN:
            return Installed("", list(needed))
        raise BootFailed(f"{places.interpreter} cannot be run now: {error.strerror}") from error
    if done.timed_out or done.returncode in _ENDED_FROM_OUTSIDE:
        raise BootFailed(
            f"{places.interpreter} does not say what is installed there; the machine may be too "
            "busy, or out of memory."
        )
    found = _object(done.stdout) if done.ok else {}
    marked = read_object(places.ready_marker, max_bytes=_MAX_MARKER).get("cognee_version")
    known = str(found.get("version") or "")
    return Installed(
        known,
        extras.missing(needed, found.get("absent", sentinels)),
        complete=bool(known) and marked == known,
        fits=_fits(found.get("python")),
    )


def _object(output: bytes) -> dict[str, Any]:
    """Return the object in the last line; what an environment prints when it starts is no part."""
    try:
        value = json.loads(output.strip().rpartition(b"\n")[2])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _fits(python: object) -> bool:
    oldest, newest = PYTHONS
    return not isinstance(python, list) or oldest <= tuple(python) <= newest
