"""Switches a conversation to another dataset."""

from __future__ import annotations

from builtin_plugins.datasets import listing
from builtin_plugins.datasets.leaving import Leaving, sync_left
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import ServerFailure, UsageError
from cognee_hooks.printable import brief
from cognee_hooks.results import Failure
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name
from cognee_hooks.services.rights import Rights
from cognee_hooks.session import Session

LIST_SECONDS = 5.0
ASK_SECONDS = 30.0
USAGE = "Usage: cognee-datasets [<name or id>] [--force] [--create]"
BUSY = "A dataset switch is already in progress; wait until it has ended."


class Switching:
    """Lists and switches. All methods raise what the plugin answers with.

    Args:
        context: The plugin's context.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._at_work = False

    async def command(self, text: str) -> str:
        """Do what ``cognee-datasets`` promises.

        Raises:
            UsageError: There is no such dataset, or several.
            ServerFailure: The server cannot be asked.
        """
        words = text.split()
        flags = {word for word in words if word.startswith("--")}
        target = " ".join(word for word in words if word not in flags).strip("'\"")
        if flags - {"--force", "--create"} or (not target and flags):
            return Failure(USAGE)
        if not target:
            catalogue = await self._catalogue()
            rights = await self._rights(catalogue)
            return listing.listing(catalogue, self._context.session, rights)
        if self._at_work:
            return Failure(BUSY)
        self._at_work = True
        try:
            return await self._to(target, force="--force" in flags, create="--create" in flags)
        finally:
            self._at_work = False

    # -- inside ----------------------------------------------------------------------------------

    async def _to(self, target: str, *, force: bool, create: bool) -> str:
        left = self._context.session
        catalogue = await self._catalogue()
        address = await self._address(catalogue, target, create=create)
        if address == left.dataset:
            return f"Already active: '{brief(address)}' (session {left.session_id})."
        how = await sync_left(self._context)
        if how.problem and not force:
            return _aborted(left.dataset, how.problem)
        try:
            session = await self._context.switch_dataset(address, synced=not how.problem)
        except OSError as error:
            return (
                f"⚠ Switch was not persisted ({type(error).__name__}): nothing was changed, and "
                f"the previous session {left.session_id} remains active. Look at the rights of "
                f"{self._context.services.paths.state_dir}."
            )
        lasting = self._context.services.bindings.default() == address
        begin = "begin in the new one, too" if lasting else "begin as before"
        return (
            f"Switched to dataset '{brief(target)}' (session {session.session_id}).\n"
            f"{_left_behind(left, how)}\nRecall is scoped to the new dataset: memory of the old "
            f"one is no longer injected. New conversations {begin}."
        )

    async def _address(self, catalogue: Catalogue, target: str, *, create: bool) -> str:
        """Return what leads to a dataset, which is made only if that is wanted.

        Raises:
            UsageError: There is none, there are several, it is for reading only, or a new name
                would give a secret away.
            RedactionFailed: Whether a new name may leave cannot be found out.
            ServerFailure: It cannot be made.
        """
        row = catalogue.choose(target)
        if row is not None:
            if (await self._rights(catalogue)).read_only(row):
                raise UsageError(listing.read_only(target))
            return catalogue.address_of(row)
        if safe_dataset_name(target) == self._context.session.dataset:
            return self._context.session.dataset
        if canonical_uuid(target) or not (create or await self._wanted(target)):
            raise UsageError(listing.unknown(target, catalogue))
        name = safe_dataset_name(target)
        await self._context.redact_name(name, "the dataset's name")
        client = self._context.services.client
        made = await client.ensure_dataset(name, Deadline.after(LIST_SECONDS, self._context.clock))
        return made.name

    async def _wanted(self, name: str) -> bool:
        return await self._context.confirm(
            f"Create the dataset '{brief(safe_dataset_name(name))}'?",
            "There is none of that name yet, so it may be a typing error.",
            Deadline.after(ASK_SECONDS, self._context.clock),
        )

    async def _rights(self, catalogue: Catalogue) -> Rights:
        limit = Deadline.after(LIST_SECONDS, self._context.clock)
        return await Rights.load(self._context.services.client, catalogue, limit)

    async def _catalogue(self) -> Catalogue:
        limit = Deadline.after(LIST_SECONDS, self._context.clock)
        return await Catalogue.load(self._context.services.client, limit)


def _left_behind(left: Session, how: Leaving) -> str:
    dataset = brief(left.dataset)
    told = f"Previous session {left.session_id} synced into '{dataset}'."
    if how.empty:
        told = f"Nothing of the previous session {left.session_id} had to be synced."
    if how.problem:
        told = (
            f"Previous session {left.session_id} NOT synced (--force): {how.problem}. It is tried "
            "again by itself."
        )
    if how.waiting:
        told += f" {how.waiting} captured entries still wait to be sent to '{dataset}'."
    return told


def _aborted(dataset: str, problem: str) -> str:
    return (
        f"⚠ Switch aborted: syncing the current session into '{brief(dataset)}' failed "
        f"({problem}).\n"
        "Nothing was changed; captured entries stay queued for that dataset.\n"
        "Run it again with --force to switch nevertheless."
    )


def listing_failed(failure: ServerFailure) -> str:
    """Say that the server could not be asked."""
    return (
        f"⚠ Datasets failed: {brief(str(failure))}. Nothing has changed; "
        "`cognee-hooks doctor` says how the server is."
    )
