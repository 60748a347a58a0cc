"""Facts about the repository that an agent works in.

A repository is untrusted: its configuration can name programs that git would start, and a remote
that is asked for what is missing. None of the commands here runs hooks, pagers, monitors or
prompts, none reaches for a remote, none believes a bare repository that lies inside another one,
and none takes a lock that the person's own git might wait for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import process

GIT_SECONDS = 2.0
"""Longest time for one command; the caller's deadline may be earlier."""
LISTING_SECONDS = 10.0
"""The same for the listing of a work tree, for which git looks at every folder of it."""

_FIXED = {
    # What is missing in a partial clone is fetched from the remote that the repository names, with
    # the program that it names. Git before 2.45 knows the second of these only.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS": "",
}
_INHERITED = ("HOME", "PATH", "XDG_CONFIG_HOME")
_OPTIONS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
)
_MAX_OUTPUT = 16_384
_MAX_LISTING = 8_000_000


@dataclass(frozen=True, slots=True)
class Git:
    """Asks git about a folder.

    Attributes:
        environ: Where ``HOME`` (for the person's ``safe.directory``) and ``PATH`` come from.
            Nothing else is passed on: inside a git hook ``GIT_DIR`` would point elsewhere.
        program: The git to run.
    """

    environ: Mapping[str, str] = field(default_factory=process.current_environ, repr=False)
    program: str = "git"

    async def repository_root(self, cwd: Path, deadline: Deadline) -> Path | None:
        """Return the top folder of the work tree around ``cwd``, or None outside of one.

        A repository can claim any other folder as its work tree; then there is none.
        """
        text = await self._ask(cwd, deadline, "rev-parse", "--show-toplevel")
        return Path(text) if text and _lies_in(cwd, Path(text)) else None

    async def head(self, cwd: Path, deadline: Deadline) -> str:
        """Return the checked-out commit's id, or "" where there is none."""
        return await self._ask(cwd, deadline, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    async def files(self, folder: Path, deadline: Deadline) -> list[bytes] | None:
        """Return all files below a folder that git tracks or would track.

        Unlike ``git status`` this starts no filter that the repository's configuration names, tells
        each file in a folder that is not tracked, and quotes no name.

        Returns:
            Paths relative to the folder, sorted; None where there is no answer in time or it is
            longer than eight million bytes.
        """
        listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
        limit = deadline.within(LISTING_SECONDS)
        done = await self._run(folder, limit, listing, _MAX_LISTING)
        if done is None or not done.ok or done.truncated:
            return None
        return sorted({each for each in done.stdout.split(b"\0") if each})

    async def origin(self, cwd: Path, deadline: Deadline) -> str:
        """Return the address of the remote ``origin`` as it is written down, or ""."""
        return await self._ask(cwd, deadline, "config", "--get", "remote.origin.url")

    async def _ask(self, cwd: Path, deadline: Deadline, *arguments: str) -> str:
        """Return the output of one command without its newline, "" where it fails in any way."""
        done = await self._run(cwd, deadline.within(GIT_SECONDS), arguments, _MAX_OUTPUT)
        if done is None or not done.ok:
            return ""
        # As Python spells the names of files, so that a folder of any name is found again.
        return os.fsdecode(done.stdout).removesuffix("\n")

    async def _run(
        self, cwd: Path, deadline: Deadline, arguments: Sequence[str], max_output: int
    ) -> process.Completed | None:
        """Run one command; None where it cannot be started."""
        inherited = {name: self.environ[name] for name in _INHERITED if name in self.environ}
        try:
            return await process.run(
                [self.program, *_OPTIONS, *arguments],
                deadline=deadline,
                cwd=cwd,
                env=inherited | _FIXED,
                max_output=max_output,
            )
        except (OSError, ValueError):
            return None


def _lies_in(folder: Path, top: Path) -> bool:
    try:
        return folder.resolve(strict=True).is_relative_to(top.resolve(strict=True))
    except (OSError, ValueError, RuntimeError):
        return False
