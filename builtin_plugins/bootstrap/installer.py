"""Installs cognee into the environment that all cognee plugins share.

With uv: from the extra ``bootstrap``, whose package carries the program, or from ``PATH``. Where
there is none, Python's own ``venv`` and pip do it, slower and with the Python that runs us. Nothing
is ever downloaded into a shell.

``venv-ready.json`` says which version was installed to the end. It is taken away before anything
is changed, so that an installation that was killed half-way is known for what it is.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap import extras, version
from builtin_plugins.bootstrap.environment import FOLDERS
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.installed import Installed, look
from builtin_plugins.bootstrap.locks import SharedLock, Taken, keeping, take
from builtin_plugins.bootstrap.pidfile import servers_of
from builtin_plugins.bootstrap.settings import DEFAULT_PYTHON
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.process import Completed, run
from cognee_hooks.services.statefile import make_private_folder, write_json

if TYPE_CHECKING:
    from builtin_plugins.bootstrap.log import BootLog
    from builtin_plugins.bootstrap.plan import WorkerPlan

LOCK_MARGIN = 60.0
"""Seconds beyond one step of installing after which all plugins take the lock for stale."""
POLL_SECONDS = 0.5
PROBE_SECONDS = 30.0

_TAIL = 1500
_MAX_GIST = 300
_LABEL = re.compile(r"(?i)(?:error|cause):\s*")
_WITHOUT_UV = (
    "There is no uv on this machine; `pip install 'cognee-hooks[bootstrap]'` brings one, with "
    "which it is faster and needs less."
)


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


class CogneeInstaller:
    """Sees to it that cognee is installed.

    Args:
        plan: What to do.
        environ: The environment of the programs that install, and of the server.
        log: Where it is written down.
        tell: Called when the work, which may take minutes, begins.
    """

    def __init__(
        self, plan: WorkerPlan, environ: Mapping[str, str], log: BootLog, tell: Callable[[], None]
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
                f"{self._places.install_lock}."
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
        # Whoever holds the lock may have installed cognee and not yet what it needs.
        found = await self._look()
        return found.usable and found.complete

    async def _look(self) -> Installed:
        return await look(self._places, self._extras, Deadline.after(PROBE_SECONDS))

    async def _install(self) -> str:
        found = await self._look()
        if found.usable and found.complete:
            self._note(found.version)
            self._log.write("cognee_install_skipped_at_pin", version=found.version)
            return found.version
        if found.missing and found.version:
            self._log.write("cognee_install_missing_extras", missing=list(found.missing))
        self._refuse_under_servers()
        self._tell()
        try:
            return await self._change(found)
        except BootFailed as failure:
            if not found.usable:
                raise
            # Complete for all that we know: whoever installed it left no word, that is all.
            self._log.write("install_unverified_best_effort", version=found.version, error=failure)
            return found.version

    async def _change(self, found: Installed) -> str:
        # A good version stays: only what it lacks is added.
        keep = version.is_acceptable(found.version)
        spec = extras.requirement(self._extras, found.version if keep else version.PIN)
        with suppress(OSError):
            self._places.ready_marker.unlink()
        if not found.version or not found.fits or not self._places.interpreter.exists():
            await self._make_venv()
        await self._run(self._installing(spec, again=found.usable), spec)
        after = await self._look()
        if not after.usable:
            self._log.write("cognee_install_failed", spec=spec, error=f"found {after}")
            raise BootFailed(
                f"{spec} was installed into {self._places.venv}, but cognee "
                f"{after.version or '(not importable)'} is what is there. Remove that folder."
            )
        self._note(after.version)
        self._log.write("cognee_install_ready", version=after.version, spec=spec)
        return after.version

    def _refuse_under_servers(self) -> None:
        """Raise where a server of another port runs from what would be changed."""
        if port := next(servers_of(self._plan.shared, self._places.venv), 0):
            raise BootFailed(
                f"what is in {self._places.venv} has to be changed, and the server at port {port} "
                "runs from there. Stop that server."
            )

    async def _make_venv(self) -> None:
        """Make the environment anew."""
        # Not every uv can clear it by itself.
        await asyncio.to_thread(shutil.rmtree, self._places.venv, ignore_errors=True)
        venv = str(self._places.venv)
        if not (uv := self._uv):
            await self._run([sys.executable, "-m", "venv", venv], "venv")
            return
        try:
            await self._run([uv, "venv", "--python", self._plan.python, venv], "venv")
        except BootFailed as failure:
            # Nobody insists on the default, and it cannot be downloaded everywhere.
            if self._plan.python != DEFAULT_PYTHON:
                raise BootFailed(f"{failure} COGNEE_PLUGIN_PYTHON asks for that Python.") from None
            self._log.write("default_python_not_had", python=self._plan.python, error=failure)
            await self._run([uv, "venv", "--python", sys.executable, venv], "venv")

    def _installing(self, spec: str, *, again: bool) -> list[str]:
        """Return the command; ``again`` also puts back in place what seems to be there."""
        python = str(self._places.interpreter)
        if uv := self._uv:
            command = [uv, "--no-progress", "pip", "install", "--upgrade", "--python", python]
            return [*command, *(["--reinstall"] if again else []), spec]
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--upgrade"]
        return [*command, *(["--force-reinstall"] if again else []), spec]

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
        if not done.ok:
            raise self._failure(done, command, what)

    def _failure(self, done: Completed, command: Sequence[str], what: str) -> BootFailed:
        said = (done.stderr.strip() or done.stdout).decode("utf-8", "replace").strip()
        why = f"it was not done within {self._plan.install_seconds:g} s" if done.timed_out else said
        via = Path(command[0]).name
        self._log.write("cognee_install_failed", spec=what, via=via, error=why[-_TAIL:])
        remedy = "See `cognee-hooks logs`." if self._uv else _WITHOUT_UV
        return BootFailed(
            f"cognee could not be installed ({gist(why) or done.returncode}). {remedy}"
        )

    @property
    def _uv(self) -> str:
        return find_uv(self._environ, self._plan.shared)

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


def gist(said: str) -> str:
    """Return what an installer said in one line: what went wrong, and what that came from."""
    lines = [line for each in said.splitlines() if (line := each.strip())]
    told = [each for each in lines if not each.startswith("hint:")]
    errors = [each for each in told if each.lower().startswith("error:")]
    causes = [each for each in told if each.startswith("cause:")]
    chosen = dict.fromkeys([*(errors or told)[:1], *(causes or errors or told)[-1:]])
    return ": ".join(_LABEL.sub("", each)[:_MAX_GIST] for each in chosen)
