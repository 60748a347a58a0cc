"""What to do when a session belongs to another dataset at the server.

A cognee 1.6.5 server binds a session to the dataset of its first entry and refuses entries for
another one, without saying why. Such entries go on in a session of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.names import next_ordinal, safe_dataset_name

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.client import CogneeClient

MAX_ORDINAL = 99
"""No session is switched so often; a server that refuses each next one means something else."""

_STATUS = 400
_UNEXPLAINED = "Invalid remember request"


async def next_session(
    client: CogneeClient,
    session_id: str,
    dataset: str,
    failure: ServerFailure,
    deadline: Deadline,
) -> str | None:
    """Return the id of the session in which a refused entry can be stored.

    Args:
        client: The server.
        session_id: The session that the entry was refused in.
        dataset: The entry's dataset.
        failure: The refusal.
        deadline: When to give up.

    Returns:
        The id; "" where the refusal has another reason; None where that cannot be found out now.
    """
    if failure.status != _STATUS or _UNEXPLAINED not in failure.detail:
        return ""
    try:
        bound = (await client.session(session_id, deadline)).dataset_id
        known = await client.datasets(deadline)
    except ServerFailure:
        return None
    name = safe_dataset_name(dataset)
    ours = {each.id for each in known if each.name == name}
    following = next_ordinal(session_id)
    number = int(following.rpartition("__")[2])
    return following if bound and bound not in ours and number <= MAX_ORDINAL else ""
