"""Whether memory lies in another dataset, where the one of this conversation keeps giving none.

A typing error in a dataset's name, or a project that chose one of its own, looks like a memory that
never learns anything. The person is told so, once; the model is not, for which it would be noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.errors import ServerFailure
from cognee_hooks.printable import one_line
from cognee_hooks.redaction import cut
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.recall import recall_memory

if TYPE_CHECKING:
    from cognee_hooks import Deadline, PluginContext
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.answers import Dataset

IN_A_ROW = 5
"""Prompts without any memory after which it is looked elsewhere."""
SECONDS = 15.0
"""How long looking may take; nobody waits for it."""
MOST = 4
"""Datasets that are looked into; opening one takes the server seconds."""
MAX_NAME = 60

_CODE = "codebase-"
"""Datasets that hold code graphs begin like this, in all cognee plugins."""


async def find(context: PluginContext, query: Redacted[str], deadline: Deadline) -> str:
    """Return what leads to another dataset that holds memory; "" where none is found.

    Args:
        context: The plugin's context.
        query: What nothing was found for.
        deadline: When to give up.

    Raises:
        ServerFailure: It could not be looked.
    """
    client, session = context.services.client, context.session
    catalogue = await Catalogue.load(client, deadline)
    read = {each.id or each.name for each in context.reads()}
    active = catalogue.led_to_by(session.dataset)
    others = [
        row
        for row in catalogue.rows
        if row is not active and not {row.id, row.name} & read and not row.name.startswith(_CODE)
    ]
    # The person's own ones first, and of these the latest, which the stable sort keeps in front.
    others.sort(key=lambda row: row.created_at, reverse=True)
    others.sort(key=lambda row: not catalogue.owns(row))
    for row in others[:MOST]:
        if await _holds_memory(context, row, query, deadline):
            return catalogue.address_of(row)
    return ""


async def _holds_memory(
    context: PluginContext, row: Dataset, query: Redacted[str], deadline: Deadline
) -> bool:
    try:
        memory = await recall_memory(
            context.services.client,
            query,
            [DatasetRef(id=row.id)],
            top_k=1,
            deadline=deadline,
            own_session=context.session.session_id,
        )
    except ServerFailure:
        # Most often it is empty, which is a failure to the server.
        return False
    return bool(memory.passages or memory.facts)


def hint(dataset: str, other: str) -> str:
    """Say that memory lies elsewhere, and how to get at it.

    Args:
        dataset: The dataset of this conversation.
        other: What leads to the other one.
    """
    here, there = (cut(one_line(each), MAX_NAME) for each in (dataset, other))
    return (
        f"Cognee memory: nothing was found in dataset {here} for {IN_A_ROW} prompts in a row, but "
        f"dataset {there} holds memory. `cognee-datasets {there}` switches to it, `cognee-search "
        f"--dataset {there} <words>` looks into it once."
    )
