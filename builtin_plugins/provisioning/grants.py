"""Shares datasets with a role, and says which of several datasets of one name is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.identities import READ, WRITE
from cognee_hooks.services.improve import moment
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from builtin_plugins.provisioning.marker import Memo
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.answers import Dataset
    from cognee_hooks.services.identities import IdentityRoutes

DENIED_SECONDS = 3600.0
"""How long a dataset that could not be shared is left alone."""
MOST_AT_ONCE = 100
MOST_DATASETS = 1000

_NEVER = float("inf")


async def share(
    owner: IdentityRoutes,
    role_id: str,
    rows: Iterable[Dataset],
    memo: Memo,
    *,
    now: float,
    deadline: Deadline,
) -> Memo:
    """Let a role read and write datasets.

    What is shared already costs no request; what was denied lately neither. Lists go in one
    request, and one by one only where the server says no to a list.

    Args:
        owner: The routes, as the owner.
        role_id: The role.
        rows: All datasets that the owner can read.
        memo: What became of them before. Datasets that are no longer there drop out of it.
        now: Epoch seconds.
        deadline: When to give up; what is left is shared another time.

    Returns:
        What became of them.
    """
    there = [canonical_uuid(row.id) for row in rows][:MOST_DATASETS]
    known = {each: memo[each] for each in there if each in memo}
    due = [each for each in dict.fromkeys(there) if _is_due(each, known, now)]
    for start in range(0, len(due), MOST_AT_ONCE):
        part = due[start : start + MOST_AT_ONCE]
        known |= await _share_part(owner, role_id, part, now=now, deadline=deadline)
    return known


def _is_due(dataset_id: str, memo: Memo, now: float) -> bool:
    if dataset_id not in memo:
        return True
    denied = memo[dataset_id]
    # A time to come is one of a clock that was set back.
    return denied is not None and not 0 <= now - denied < DENIED_SECONDS


async def _share_part(
    owner: IdentityRoutes, role_id: str, part: Sequence[str], *, now: float, deadline: Deadline
) -> Memo:
    try:
        for permission in (READ, WRITE):
            await owner.grant(role_id, permission, part, deadline)
    except ServerFailure as failure:
        if failure.kind is not FailureKind.FORBIDDEN:
            return {}
    else:
        return dict.fromkeys(part)
    if len(part) == 1:
        return {part[0]: now}
    found: dict[str, float | None] = {}
    for each in part:
        if not deadline.expired:
            found |= await _share_part(owner, role_id, [each], now=now, deadline=deadline)
    return found


def choose_dataset(name: str, rows: Iterable[Dataset], owner_id: str, memo: Memo) -> str:
    """Return the UUID of the dataset that a name means to everybody who shares it.

    Args:
        name: The name.
        rows: All datasets that the owner can read.
        owner_id: The owner's account.
        memo: Which of them are shared.

    Returns:
        The owner's own one, whether it is shared yet or not, for with another one it would be
        another memory; else the oldest of those that are shared; "" where there is none. One
        without a date counts as the newest, and of equals the smallest UUID is taken.
    """
    alike = [(canonical_uuid(row.id), row) for row in rows if row.name == name]
    own = sorted(each for each, row in alike if canonical_uuid(row.owner_id) == owner_id)
    if own:
        return own[0]
    shared = [(each, row) for each, row in alike if memo.get(each, _NEVER) is None]
    by_age = sorted((moment(row.created_at) or _NEVER, each) for each, row in shared)
    return by_age[0][1] if by_age else ""
