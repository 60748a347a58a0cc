"""One fact of the code graph as one line for a model.

Names and descriptions come out of a repository that anybody may have written, so each part is made
harmless and short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cognee_hooks.framing import harmless
from cognee_hooks.printable import one_line
from cognee_hooks.redaction import cut

LINE_BYTES = 600
"""Most of one fact in an answer to a question."""

_PART_BYTES = 200
_MOST_TARGETS = 5
_MOST_TYPES = 5


def said(value: object, max_bytes: int = _PART_BYTES) -> str:
    """Return a text or number of the server's as one harmless line; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    # Cut before and after: cleaning takes time, and cut text must not end in half a marker.
    return cut(one_line(harmless(str(value)[: max_bytes * 4])), max_bytes)


def objects(value: object, limit: int = 500) -> list[Mapping[str, Any]]:
    """Return the objects in a list; nothing where it is none."""
    rows = value[:limit] if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, Mapping)]


def name_of(fact: object) -> str:
    """Return the name of a fact, or of what is one already."""
    return said(fact.get("name")) if isinstance(fact, Mapping) else said(fact)


def fact_line(fact: Mapping[str, Any], max_bytes: int = LINE_BYTES) -> str:
    """Return name, kind, place, documentation and relations of a fact; "" for one without a name.

    Args:
        fact: The fact in the server's form.
        max_bytes: UTF-8 bytes at most.
    """
    name = name_of(fact)
    if not name:
        return ""
    kind = said(fact.get("symbol_kind")) or said(fact.get("kind"))
    parts = [f"{name} ({kind})" if kind else name]
    if place := place_of(fact):
        parts[0] += f" at {place}"
    if doc := said(fact.get("doc")):
        parts.append(doc)
    parts += _relations(fact.get("relations"))
    return cut(" · ".join(parts), max_bytes)


def place_of(fact: Mapping[str, Any]) -> str:
    """Return file and line of a fact, or ""."""
    file, line = said(fact.get("file")), said(fact.get("line"))
    return f"{file}:{line}" if file and line else file


def edge_line(edge: Mapping[str, Any]) -> str:
    """Return an edge as ``a —calls→ b``; "" for one without ends."""
    source, target = said(edge.get("source")), said(edge.get("target"))
    kind = said(edge.get("type")) or "relates to"
    return f"{source} —{kind}→ {target}" if source and target else ""


def _relations(value: object) -> list[str]:
    by_type: dict[str, list[str]] = {}
    for row in objects(value, 200):
        kind, target = row.get("type"), row.get("target")
        if isinstance(kind, str) and isinstance(target, str) and kind and target:
            by_type.setdefault(kind, []).append(target)
    found = list(by_type.items())[:_MOST_TYPES]
    return [f"{said(kind)}: {_listed(targets)}" for kind, targets in found]


def _listed(targets: Sequence[str]) -> str:
    more = len(targets) - _MOST_TARGETS
    return ", ".join(map(said, targets[:_MOST_TARGETS])) + (f" and {more} more" if more > 0 else "")
