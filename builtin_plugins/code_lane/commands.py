"""The commands for people: index a repository, ask the code graph."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builtin_plugins.code_lane import texts
from builtin_plugins.code_lane.follow import Ending
from builtin_plugins.code_lane.indexer import Indexer, Submitted
from builtin_plugins.code_lane.keeper import IndexKeeper
from builtin_plugins.code_lane.operations import arguments_of
from builtin_plugins.code_lane.query import Asker
from builtin_plugins.code_lane.repository import Repository, is_remote, located, repository_of
from builtin_plugins.code_lane.tree import HARD_LIMIT, measure
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import RedactionFailed, ServerFailure, UsageError
from cognee_hooks.services.git import Git
from cognee_hooks.services.names import safe_dataset_name

LONGEST_WAIT = 3600.0
OTHERS_SECONDS = 10.0
"""Longest wait for another session that submits the same repository."""
_GIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """What a person wrote behind the index command.

    Attributes:
        spec: A path or git URL; "" for the session's folder.
        dataset: Another dataset than the repository's own, or "".
        vectors: Embed the facts too.
        wait: Seconds to wait for the end, or None.
    """

    spec: str = ""
    dataset: str = ""
    vectors: bool = False
    wait: float | None = None


def index_order(text: str) -> IndexOrder:
    """Read ``[path|git-url] [--dataset <name>] [--index-vectors] [--wait <seconds>]``.

    Raises:
        UsageError: A flag lacks its value, or is not known.
    """
    words = _words(text)
    spec, dataset, vectors, wait = "", "", False, None
    while words:
        word = words.pop(0)
        if word == "--index-vectors":
            vectors = True
        elif word in {"--dataset", "--wait"}:
            if not words:
                raise UsageError(f"{word} needs a value")
            value = words.pop(0)
            if word == "--dataset":
                dataset = safe_dataset_name(value)
            else:
                wait = _seconds(value)
        elif word.startswith("--"):
            raise UsageError(f"there is no option {word}; use --dataset, --index-vectors or --wait")
        else:
            spec = spec or word
    return IndexOrder(spec, dataset, vectors, wait)


def code_arguments(text: str) -> dict[str, Any]:
    """Read ``<name | delta | operation as JSON> [--dataset <name>] [--top-k <n>]``.

    Raises:
        UsageError: It looks like JSON and is none.
    """
    rest: list[str] = []
    flags: dict[str, Any] = {}
    words = text.split()
    while words:
        word = words.pop(0)
        if word in {"--dataset", "--top-k"} and words:
            value = words.pop(0)
            if word == "--dataset":
                flags["dataset"] = value
            elif value.isascii() and value.isdigit():
                flags["top_k"] = int(value[:4])
        else:
            rest.append(word)
    return {**arguments_of(" ".join(rest)), **flags}


class CodeCommands:
    """Carries the commands out.

    Args:
        context: The plugin's.
        indexer: Submits repositories.
        keeper: Knows what must never be indexed.
        asker: Asks the code graph.
        git: Asks git.
    """

    def __init__(
        self, context: PluginContext, indexer: Indexer, keeper: IndexKeeper, asker: Asker, git: Git
    ) -> None:
        self._context = context
        self._indexer = indexer
        self._keeper = keeper
        self._asker = asker
        self._git = git

    async def code(self, text: str, cwd: str) -> str:
        """Ask the code graph; see `code_arguments`."""
        try:
            arguments = code_arguments(text)
        except UsageError as error:
            return f"⚠ {error}"
        return await self._asker.answer(arguments, cwd)

    async def index(self, text: str, cwd: str) -> str:
        """Have a repository indexed; see `index_order`."""
        if self._context.services.health.embedded:
            return texts.EMBEDDED
        try:
            order = index_order(text)
            if not is_remote(order.spec) and not self._indexer.local:
                return texts.refused_path(await self._origin(order.spec, cwd))
            repository = repository_of(order.spec, cwd, self._context.services.paths.home)
            if not repository.remote and (reason := self._keeper.never(repository.spec)):
                return f"⚠ This folder is never indexed: {reason}. Name that of a repository."
            files = await self._count(repository)
            # One that works on for longer than this is not waited for: the person wants it now.
            async with self._indexer.alone(repository, OTHERS_SECONDS):
                done = await self._indexer.submit(
                    repository, dataset=order.dataset, vectors=order.vectors
                )
        except UsageError as error:
            return f"⚠ {error}"
        except RedactionFailed:
            return texts.NOT_REDACTED
        except ServerFailure as failure:
            return texts.failure("Index", failure)
        ending = await self._wait(done, order.wait)
        return texts.submitted(done, ending, files=files)

    async def _wait(self, done: Submitted, seconds: float | None) -> Ending | None:
        ending = None if seconds is None else await self._indexer.finish(done, seconds)
        if ending not in {Ending.COMPLETED, Ending.ERRORED}:
            self._context.spawn(self._indexer.follow(done), lasting=True)
        return ending

    async def _count(self, repository: Repository) -> int:
        if repository.remote:
            return 0
        return (await asyncio.to_thread(measure, Path(repository.spec), HARD_LIMIT)).files

    async def _origin(self, spec: str, cwd: str) -> str:
        """Return the clean URL of a folder's origin, to be proposed; "" where there is none."""
        limit = Deadline.after(_GIT_SECONDS, self._context.clock)
        home = self._context.services.paths.home
        origin = await self._git.origin(located(spec, cwd, home), limit)
        try:
            spec = repository_of(origin, "", home).spec if is_remote(origin) else ""
            return (await self._context.redact_name(spec, "the address")).value
        except (UsageError, RedactionFailed):
            return ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe in a folder's name
        return text.split()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise UsageError("--wait needs a number of seconds") from None
    if not 0 <= seconds <= LONGEST_WAIT:
        raise UsageError(f"--wait takes 0 to {LONGEST_WAIT:g} seconds")
    return seconds
