"""Commands that need no plugin: how memory is, and what is wrong.

Agents offer them with those of the plugins; on the command line they are ``cognee-hooks status``
and ``cognee-hooks doctor``, which show the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.overview import Overview, overview
from cognee_hooks.printable import clean, one_line
from cognee_hooks.results import WARNING_SIGN, CheckResult, CheckStatus, Command, StatusRow

if TYPE_CHECKING:
    from cognee_hooks.host import Host

OVERVIEW_SECONDS = 5.0
DOCTOR_SECONDS = 10.0

_HEADS = {"ok": "connected", "auth": "auth failed", "server-error": "server error"}
_MARKS = {
    CheckStatus.OK: "✓",
    CheckStatus.INFO: "·",
    CheckStatus.WARNING: "!",
    CheckStatus.FAILED: "✕",
}
_WORDS = {CheckStatus.FAILED: "failed", CheckStatus.WARNING: "to look at"}


def offered(name: str) -> str:
    """Return the name under which an agent shows a command, apart from its own and others'."""
    return name if name.startswith("cognee") else f"cognee-{name}"


def commands_of(host: Host) -> dict[str, Command]:
    """Return all commands by the name under which an agent shows them.

    A plugin's command takes the place of one of the core's.
    """

    async def show(_: str) -> str:
        return as_text(await overview(host, Deadline.after(OVERVIEW_SECONDS)))

    async def check(_: str) -> str:
        return checks_as_text(await examine(host, Deadline.after(DOCTOR_SECONDS)))

    own = [
        Command(name="cognee", help="Show how memory is, and this session's part in it.", run=show),
        Command(name="doctor", help="Check memory, and say what to do.", run=check),
    ]
    return {offered(each.name): each for each in (*own, *host.registered.commands.values())}


def as_text(seen: Overview) -> str:
    """Return how memory is, as lines of plain text.

    Args:
        seen: What `overview` saw.
    """
    head = f"Cognee Memory — {_HEADS.get(seen.server.state, 'offline')}"
    if seen.server.connected:
        return "\n".join([head, *aligned(seen.rows)])
    advice = "Prompts work as usual, and what is captured waits. /cognee-doctor says what to do."
    return "\n".join([f"{WARNING_SIGN} {head}", *aligned(seen.rows), advice])


def aligned(rows: Sequence[StatusRow]) -> list[str]:
    """Return rows as lines, with their texts below each other."""
    width = max((len(row.label) for row in rows), default=0) + 2
    return [f"{f'{row.label}:':<{width}}{row.text}" for row in rows]


def checks_as_text(rows: Sequence[CheckResult]) -> str:
    """Return what doctor found, as lines of plain text."""
    counts = Counter(row.status for row in rows)
    found = [f"{counts[status]} {word}" for status, word in _WORDS.items() if counts[status]]
    head = f"Cognee Doctor — {', '.join(found) or 'all is well'}"
    lines = [f"{WARNING_SIGN} {head}" if found else head]
    width = max((len(row.name) for row in rows), default=0) + 2
    for row in rows:
        lines.append(f"{_MARKS[row.status]} {one_line(row.name):<{width}}{one_line(row.detail)}")
        if row.remedy:
            lines.append(f"  → {one_line(row.remedy)}")
    return clean("\n".join(lines))
