"""What people are told about datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.printable import brief
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from cognee_hooks.services.answers import Dataset
    from cognee_hooks.services.catalogue import Catalogue
    from cognee_hooks.services.rights import Rights
    from cognee_hooks.session import Session

MOST_ROWS = 50
GUIDANCE = (
    "Switch with: cognee-datasets <name or id>. The current session is synced first; --force goes "
    "on if that fails, --create makes a dataset of a new name. Recall and capture then use the "
    "chosen dataset only. To look into another one without a switch: cognee-search --dataset "
    "<name>."
)


def listing(catalogue: Catalogue, session: Session, rights: Rights) -> str:
    """Return the datasets that can be switched to, with the one in use marked.

    Args:
        catalogue: The datasets.
        session: The session.
        rights: Which of them can be written to.
    """
    active = catalogue.led_to_by(session.dataset)
    name = brief(active.name) if active is not None else brief(session.dataset)
    lines = [f"Current dataset: {name} (session {session.session_id or '(not started)'})"]
    rows = sorted(
        (row for row in catalogue.rows if row is active or not rights.read_only(row)),
        key=lambda row: (row is not active, row.name),
    )
    hidden = len(catalogue.rows) - len(rows)
    for row in rows[:MOST_ROWS]:
        mark = "*" if row is active else " "
        shared = "" if catalogue.owns(row) else " · shared with this account"
        lines.append(f" {mark} {brief(row.name)} ({_short(row)}){shared}")
    if len(rows) > MOST_ROWS:
        lines.append(f"   and {len(rows) - MOST_ROWS} more")
    if not rows:
        lines.append("   (no readable datasets)")
    if hidden:
        lines.append(f"   {hidden} more can only be read: cognee-search --dataset <name>")
    return "\n".join([*lines, "", GUIDANCE])


def read_only(target: str) -> str:
    """Say that a dataset cannot be switched to, and what to do."""
    return (
        f"Dataset '{brief(target)}' can only be read by this account, so what a session captures "
        "could not be stored in it. Nothing has changed. To look into it: cognee-search --dataset "
        f"{brief(target)}; to write to it, ask its owner for the right."
    )


def unknown(target: str, catalogue: Catalogue) -> str:
    """Say that there is no such dataset, and what to do."""
    told = f"{catalogue.unknown(target)} Nothing has changed."
    if canonical_uuid(target):
        return told
    return f"{told} To create it: cognee-datasets {brief(target)} --create"


def _short(row: Dataset) -> str:
    return f"{row.id[:8]}…"
