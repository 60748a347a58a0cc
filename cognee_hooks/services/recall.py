"""Asks the server for memory, in all datasets that a session reads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.passages import RecalledMemory, memory_in

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.answers import DatasetRef
    from cognee_hooks.services.api import ServerApi
    from cognee_hooks.services.bundle import Services


async def recall_memory(
    client: ServerApi,
    query: Redacted[str],
    datasets: Sequence[DatasetRef],
    *,
    top_k: int,
    deadline: Deadline,
    own_session: str = "",
) -> RecalledMemory:
    """Ask all datasets at once; one that fails does not silence the others.

    Args:
        client: The server.
        query: What to look for.
        datasets: Where to look; at least one.
        top_k: Passages at most, in each dataset.
        deadline: When to give up.
        own_session: Id of a conversation whose own passages are left out; "" leaves none out.

    Returns:
        What was found, without repetitions.

    Raises:
        ServerFailure: All of them failed; it is the failure of the first.
    """
    asked = [
        _recall_one(client, query, dataset, top_k, deadline, own_session) for dataset in datasets
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    memory = RecalledMemory()
    failures: list[BaseException] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            failures.append(answer)
        else:
            memory.add(answer)
    if len(failures) == len(answers):
        raise failures[0]
    return memory


async def guarded_recall(
    services: Services,
    query: Redacted[str],
    datasets: Sequence[DatasetRef],
    *,
    top_k: int,
    deadline: Deadline,
    own_session: str = "",
) -> RecalledMemory | None:
    """Ask as `recall_memory` does where the circuit breaker lets it, and report how that went.

    Ask last of all, when nothing else stands in the way: half-open, the breaker lets one through.

    Args:
        services: The session's services.
        query: What to look for.
        datasets: Where to look; at least one.
        top_k: Passages at most, in each dataset.
        deadline: When to give up.
        own_session: Id of a conversation whose own passages are left out; "" leaves none out.

    Returns:
        What was found; None where the breaker keeps recall paused.

    Raises:
        ServerFailure: All of them failed. Health and breaker know already.
    """
    if not services.breaker.allow():
        return None
    try:
        memory = await recall_memory(
            services.client,
            query,
            datasets,
            top_k=top_k,
            deadline=deadline,
            own_session=own_session,
        )
    except ServerFailure as failure:
        services.health.note(failure)
        services.breaker.failure(failure.kind)
        raise
    services.health.note(None)
    services.breaker.success()
    return memory


async def _recall_one(
    client: ServerApi,
    query: Redacted[str],
    dataset: DatasetRef,
    top_k: int,
    deadline: Deadline,
    own_session: str,
) -> RecalledMemory:
    memory = RecalledMemory()
    for item in await client.recall(query, dataset=dataset, top_k=top_k, deadline=deadline):
        # The server's own remarks, such as that it is still warming up.
        if item.source != "system":
            memory.add(memory_in(item.body, query.value, own_session))
    return memory
