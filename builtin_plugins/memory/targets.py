"""Finds the dataset that somebody means, and makes none by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from builtin_plugins.memory import texts
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import UsageError
from cognee_hooks.printable import brief
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name

if TYPE_CHECKING:
    from cognee_hooks.services.answers import Dataset

LIST_SECONDS = 5.0
ASK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class DatasetTarget:
    """A dataset.

    Attributes:
        ref: How the server is told which.
        shown: What people call it.
        id: Its UUID; "" where it is not there yet.
    """

    ref: DatasetRef
    shown: str
    id: str = ""


async def catalogue_of(context: PluginContext) -> Catalogue:
    """Ask the server which datasets there are.

    Raises:
        ServerFailure: It failed.
    """
    limit = Deadline.after(LIST_SECONDS, context.clock)
    return await Catalogue.load(context.services.client, limit)


def target_of(catalogue: Catalogue, row: Dataset) -> DatasetTarget:
    """Return a dataset as a target."""
    address = catalogue.address_of(row)
    ref = DatasetRef(id=address) if canonical_uuid(address) else DatasetRef(name=address)
    return DatasetTarget(ref, brief(row.name) or row.id, canonical_uuid(row.id))


def own_target(context: PluginContext) -> DatasetTarget:
    """Return the session's dataset as it stands, without asking the server."""
    dataset = context.session.dataset
    return DatasetTarget(DatasetRef(name=dataset), dataset, canonical_uuid(dataset))


async def writable(context: PluginContext, given: str, *, create: bool) -> DatasetTarget:
    """Return the dataset to write to; a name that is not there is made only if that is wanted.

    Args:
        context: The plugin's context.
        given: A name or UUID; "" for the session's dataset, which is made where it is not there.
        create: Whether to make a dataset of that name without asking.

    Raises:
        UsageError: It is not there and nobody wants it made, or its name would give a secret away,
            or several have the name.
        RedactionFailed: Whether a new name may leave cannot be found out.
        ServerFailure: It cannot be found out.
    """
    if given in {"", context.session.dataset}:
        return own_target(context)
    catalogue = await catalogue_of(context)
    row = catalogue.choose(given)
    if row is not None:
        return target_of(catalogue, row)
    name = safe_dataset_name(given)
    if canonical_uuid(given) or not (create or await _wanted(context, name)):
        raise UsageError(catalogue.unknown(given) + texts.HOW_TO_CREATE)
    await context.redact_name(name, "the dataset's name")
    return DatasetTarget(DatasetRef(name=name), name)


async def _wanted(context: PluginContext, name: str) -> bool:
    limit = Deadline.after(ASK_SECONDS, context.clock)
    return await context.confirm(
        f"Create the dataset '{name}'?",
        "There is none of that name yet. A typing error would hide what you remember in it.",
        limit,
    )
