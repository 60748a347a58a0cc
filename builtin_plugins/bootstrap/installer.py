"""Installs cognee into the environment that all cognee plugins share.

With uv: from the extra ``bootstrap``, whose package carries the program, or from ``PATH``. Where
there is none, Python's own ``venv`` and pip do it, slower and with the Python that runs us. Nothing
is ever downloaded into a shell.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from builtin_plugins.bootstrap import extras, version
from builtin_plugins.bootstrap.environment import FOLDERS
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.locks import SharedLock, Taken, keeping, take
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.plan import Places, Plan
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.process import run
from cognee_hooks.services.statefile import make_private_folder, write_json

LOCK_MARGIN = 60.0
"""Seconds beyond one step of installing after which all plugins take the lock for stale."""
POLL_SECONDS = 0.5
PROBE_SECONDS = 30.0

_TAIL = 1500
# Both a distribution's record and the package itself: an installation that was cut short, or a
# Python that was taken away, leaves one without the other.
_PROBE = """
import importlib.metadata, importlib.util, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
found = version("cognee") if importlib.util.find_spec("cognee") else ""
absent = [name for name in sys.argv[1:] if not version(name)]
print(json.dumps({"version": found, "absent": absent}))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """What is in the environment.

    Attributes:
        version: cognee's version, "" where it cannot be imported.
        missing: Extras that are needed and not there.
    """

    version: str
    missing: Sequence[str]

    @property
    def usable(self) -> bool:
        """Whether a server can be run from it."""
        return version.is_acceptable(self.version) and not self.missing


async def look(places: Places, needed: Sequence[str], deadline: Deadline) -> Installed:
    """Return what is in the environment; one without a Python that works has nothing."""
    sentinels = [extras.SENTINELS[extra] for extra in needed]
    command = [str(places.interpreter), "-I", "-c", _PROBE, *sentinels]
    try:
        done = await run(command, deadline=deadline, env={})
        found = json.loads(done.stdout) if done.ok else {}
    except (OSError, ValueError):
        found = {}
    absent = found.get("absent", sentinels)
    return Installed(str(found.get("version", "")), extras.missing(needed, absent))


def find_uv(environ: Mapping[str, str], shared: Path) -> str:
    """Return the path of uv, "" where there is none.

    Args:
        environ: Whose ``PATH`` is searched.
        shared: Folder in which other cognee plugins may have put one.
    """
    try:
        import uv
    except ImportError:
        pass
    else:
        try:
            return str(uv.find_uv_bin())
        except FileNotFoundError:
            pass
    own = shared / "uv" / "uv"
    on_path = shutil.which("uv", path=environ.get("PATH", os.defpath))
    return on_path or (str(own) if os.access(own, os.X_OK) else "")


class Installer:
    """Sees to it that cognee is installed.

    Args:
        plan: What to do.
        environ: The environment of the programs that install, and of the server.
        log: Where it is written down.
        tell: Called when the work, which may take minutes, begins.
    """

    def __init__(
        self, plan: Plan, environ: Mapping[str, str], log: BootLog, tell: Callable[[], None]
    ) -> None:
        self._plan = plan
        self._environ = environ
        self._log = log
        self._tell = tell
        self._places = plan.places
        self._extras = extras.needed(environ)

    async def ensure(self) -> str:
        """Install what is missing; returns cognee's version.

        Raises:
            BootFailed: It cannot be installed.
            OSError: A lock cannot be written.
        """
        self._make_data_folders()
        limit = self._plan.install_seconds + LOCK_MARGIN
        lock = SharedLock(
            self._places.install_lock, owner=f"hooks-install:{os.getpid()}", stale_after=limit
        )
        taken = await take(lock, Deadline.after(limit), self._is_installed, POLL_SECONDS)
        if taken is Taken.HELD:
            async with keeping(lock):
                return await self._install()
        found = await self._look()
        if not found.usable:
            raise BootFailed(
                "another process is still installing cognee; its lock is "
                f"{self._places.install_lock}. Wait for it, then run `cognee-hooks up`."
            )
        self._log.write("install_lock_lost_skip_at_pin", version=found.version, via=taken.value)
        return found.version

    def _make_data_folders(self) -> None:
        try:
            for name in FOLDERS:
                make_private_folder(Path(self._environ[name]))
        except OSError as error:
            raise BootFailed(f"cannot create cognee data dirs: {error}") from error

    async def _is_installed(self) -> bool:
        return (await self._look()).usable

    async def _look(self) -> Installed:
        return await look(self._places, self._extras, Deadline.after(PROBE_SECONDS))

    async def _install(self) -> str:
        found = await self._look()
        if found.usable:
            self._note(found.version)
            self._log.write("cognee_install_skipped_at_pin", version=found.version)
            return found.version
        if found.missing and found.version:
            self._log.write("cognee_install_missing_extras", missing=list(found.missing))
        self._tell()
        # A good version stays: only what it lacks is added.
        keep = version.is_acceptable(found.version)
        spec = extras.requirement(self._extras, found.version if keep else version.PIN)
        await self._make_venv(rebuild=not found.version)
        await self._run(self._installing(spec), spec)
        after = await self._look()
        if not after.usable:
            self._log.write("cognee_install_failed", spec=spec, error=f"found {after}")
            raise BootFailed(
                f"{spec} was installed into {self._places.venv}, but cognee "
                f"{after.version or '(not importable)'} is what is there. Remove that folder, then "
                "run `cognee-hooks up`."
            )
        self._note(after.version)
        self._log.write("cognee_install_ready", version=after.version, spec=spec)
        return after.version

    async def _make_venv(self, *, rebuild: bool) -> None:
        """Make the environment, anew where the one that is there cannot be used."""
        if self._places.interpreter.exists() and not rebuild:
            return
        # Not every uv can clear it by itself.
        await asyncio.to_thread(shutil.rmtree, self._places.venv, ignore_errors=True)
        if uv := self._uv:
            command = [uv, "venv", "--python", self._plan.python, self._venv]
        else:
            command = [sys.executable, "-m", "venv", self._venv]
        await self._run(command, "venv")

    def _installing(self, spec: str) -> list[str]:
        python = str(self._places.interpreter)
        if uv := self._uv:
            return [uv, "--no-progress", "pip", "install", "--upgrade", "--python", python, spec]
        return [python, "-m", "pip", "install", "--disable-pip-version-check", "--upgrade", spec]

    async def _run(self, command: Sequence[str], what: str) -> None:
        # An environment or a cache of another shell's, and its configuration, are not meant.
        environ = {**self._environ, "UV_PYTHON_INSTALL_DIR": str(self._plan.shared / "python")}
        try:
            done = await run(
                command,
                deadline=Deadline.after(self._plan.install_seconds),
                cwd=self._plan.shared,
                env=environ,
            )
        except OSError as error:
            raise BootFailed(f"{command[0]} cannot be run: {error.strerror}") from error
        if done.ok:
            return
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-_TAIL:]
        why = f"not done within {self._plan.install_seconds:g} s" if done.timed_out else said
        self._log.write("cognee_install_failed", spec=what, via=Path(command[0]).name, error=why)
        raise BootFailed(f"installing cognee failed ({what}): {why or done.returncode}")

    @property
    def _uv(self) -> str:
        return find_uv(self._environ, self._plan.shared)

    @property
    def _venv(self) -> str:
        return str(self._places.venv)

    def _note(self, found: str) -> None:
        marker = {
            "cognee_version": found,
            "python": str(self._places.interpreter),
            "updated_at": time.time(),
        }
        try:
            write_json(self._places.ready_marker, marker, durable=False)
        except OSError as error:
            self._log.write("venv_ready_write_failed", error=error)
