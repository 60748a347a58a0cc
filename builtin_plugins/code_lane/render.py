"""Answers of the code graph as text for a model: what there is, within a limit.

By the cognee 1.6 HTTP contract the data stands in an item's ``raw``; ``text`` repeats it as JSON,
except for an impact analysis, where it is one sentence. Older servers answer in prose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from builtin_plugins.code_lane.facts import (
    LINE_BYTES,
    edge_line,
    fact_line,
    name_of,
    objects,
    place_of,
    said,
)
from cognee_hooks.redaction import cut
from cognee_hooks.services.answers import RecallItem, text_of

RESULT_BYTES = 4000
"""Most of one answer to a tool call."""
_ROOM_FOR_NOTE = 160
_EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Rendered:
    """What an item says.

    Attributes:
        lines: Its facts, a line each.
        title: A line to go before them, or "".
        empty: What it means that there are none, or "" for the common wording.
    """

    lines: list[str]
    title: str = ""
    empty: str = ""


def payload_of(item: RecallItem) -> Mapping[str, Any] | None:
    """Return the data of an item; None where it is prose or nothing."""
    raw = item.raw.get("raw")
    if isinstance(raw, Mapping) and raw:
        return raw
    text = item.body
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "operation" in found else None


def has_data(item: RecallItem) -> bool:
    """Tell whether an item is more than an envelope without content.

    The server answers what it cannot resolve with one whose lists are empty.
    """
    payload = payload_of(item)
    if payload is None:
        return bool(item.body)
    return any(isinstance(value, (list, dict)) and _filled(value) for value in payload.values())


def _filled(value: list[Any] | dict[str, Any]) -> bool:
    if isinstance(value, list):
        return bool(value)
    return any(isinstance(each, list) and each for each in value.values())


def render_items(items: Iterable[RecallItem]) -> list[Rendered]:
    """Render items in their order; those that say nothing at all are left out."""
    rendered: list[Rendered] = []
    for item in items:
        payload = payload_of(item)
        if payload is None:
            if line := said(item.body, LINE_BYTES):
                rendered.append(Rendered([line]))
            continue
        render = _RENDERERS.get(text_of(payload, "operation"), _any)
        found = render(payload)
        rendered.append(Rendered([line for line in found.lines if line], found.title, found.empty))
    return rendered


def joined(title: str, lines: Iterable[str], max_bytes: int = RESULT_BYTES) -> str:
    """Join lines up to a limit; the last line says how many were left out and what to do.

    Args:
        title: First line.
        lines: The facts.
        max_bytes: UTF-8 bytes at most.
    """
    every = [cut(line, LINE_BYTES) for line in lines]
    kept, used = [title], len(title.encode())
    for index, line in enumerate(every):
        size = len(line.encode()) + 1
        if used + size > max_bytes - _ROOM_FOR_NOTE:
            kept.append(
                f"… {len(every) - index} more. Ask for less: name a symbol, a file or a kind, or "
                "lower limit or max_depth."
            )
            break
        kept.append(line)
        used += size
    return cut("\n".join(kept), max_bytes)


# -- one operation each --------------------------------------------------------------------------


def _facts(payload: Mapping[str, Any]) -> Rendered:
    lines = [fact_line(each) for each in objects(payload.get("facts"))]
    # An older server lists names only.
    lines += [said(each) for each in _texts(payload.get("facts"))]
    total = payload.get("total")
    more = payload.get("has_more") is True and isinstance(total, int)
    return Rendered(lines, f"{total} facts, of which these:" if more else "")


def _graph(payload: Mapping[str, Any]) -> Rendered:
    focus = payload.get("focus") or payload.get("anchor")
    first = [fact_line(focus)] if isinstance(focus, Mapping) else []
    nodes = [fact_line(each) for each in objects(payload.get("nodes"))]
    edges = [edge_line(each) for each in objects(payload.get("edges"))]
    return Rendered([*first, *[each for each in nodes if each not in first], *edges])


def _neighbors(payload: Mapping[str, Any]) -> Rendered:
    anchor = name_of(payload.get("anchor"))
    lines: list[str] = []
    for each in objects(payload.get("neighbors")):
        node = each.get("node")
        if isinstance(node, Mapping):
            relation, way = said(each.get("relation")), each.get("direction")
            arrow = f"←{relation}—" if way == "in" else f"—{relation}→"
            lines.append(f"{anchor} {arrow} {fact_line(node)}")
    return Rendered(lines)


def _path(payload: Mapping[str, Any]) -> Rendered:
    source, target = name_of(payload.get("from")), name_of(payload.get("to"))
    nodes = objects(payload.get("path"))
    if payload.get("found") is False or not nodes:
        # W8: both ends are there, so this is an answer and no symbol is missing.
        what = f"There is no path from {source or 'the source'} to {target or 'the target'}"
        return Rendered([], empty=f"{what} in the code graph. Both exist; try the other direction.")
    chain = " → ".join(name_of(each) for each in nodes)
    edges = [edge_line(each) for each in objects(payload.get("edges"))]
    return Rendered([chain, *edges, *(fact_line(each) for each in nodes)])


def _impact(payload: Mapping[str, Any]) -> Rendered:
    targets = ", ".join(name_of(each) for each in objects(payload.get("targets"), 20))
    lines: list[str] = []
    levels = payload.get("by_depth")
    for depth, facts in (levels if isinstance(levels, Mapping) else _EMPTY).items():
        lines += [f"depth {said(depth)}: {fact_line(each)}" for each in objects(facts)]
    summary = said(payload.get("summary"))
    if not lines:
        return Rendered(
            [], empty=f"Nothing in the code graph depends on {targets or 'the targets'}."
        )
    return Rendered(lines, f"Impact of {targets}: {summary}" if summary else "")


def _delta(payload: Mapping[str, Any]) -> Rendered:
    return Rendered([_changes(each) for each in objects(payload.get("repositories"), 50)])


def _changes(repository: Mapping[str, Any]) -> str:
    delta = repository.get("delta")
    known = delta if isinstance(delta, Mapping) else _EMPTY
    parts: list[str] = []
    for word in ("added", "updated", "removed"):
        count = known.get(f"nodes_{word}")
        if isinstance(count, int) and count:
            samples = ", ".join(said(each) for each in _texts(known.get(f"samples_{word}"))[:15])
            parts.append(f"{count} {word}" + (f" ({samples})" if samples else ""))
    when = said(known.get("loaded_at"))
    return (
        f"{said(repository.get('repo'))}: {'; '.join(parts) or 'nothing changed'}"
        f"{f', indexed {when}' if when else ''}"
    )


def _insights(payload: Mapping[str, Any]) -> Rendered:
    return Rendered([_insight(each) for each in objects(payload.get("insights"))])


def _insight(insight: Mapping[str, Any]) -> str:
    title = said(insight.get("title")) or said(insight.get("name")) or said(insight.get("kind"))
    text = said(insight.get("description")) or said(insight.get("summary"))
    return f"{title}: {text}" if title and text else title or text


def _hits(payload: Mapping[str, Any]) -> Rendered:
    return Rendered([fact_line(each) for each in objects(payload.get("hits"))])


def _hubs(payload: Mapping[str, Any]) -> Rendered:
    rows = objects(payload.get("hubs"))
    return Rendered([f"{fact_line(each)} · {said(each.get('degree'))} relations" for each in rows])


def _flows(payload: Mapping[str, Any]) -> Rendered:
    return Rendered([_flow(each) for each in objects(payload.get("flows"))])


def _flow(flow: Mapping[str, Any]) -> str:
    entry = flow.get("entry")
    place = place_of(entry) if isinstance(entry, Mapping) else ""
    name, summary = said(flow.get("name")), said(flow.get("summary"), 400)
    return f"{name}{f' at {place}' if place else ''}: {summary}" if name else summary


def _ask(payload: Mapping[str, Any]) -> Rendered:
    seeds = [fact_line(each) for each in objects(payload.get("seeds"))]
    flows = [_flow(each) for each in objects(payload.get("flows"))]
    around = payload.get("neighborhood")
    graph = _graph(around).lines if isinstance(around, Mapping) else []
    return Rendered([*seeds, *flows, *[each for each in graph if each not in seeds]])


def _capabilities(payload: Mapping[str, Any]) -> Rendered:
    counts = payload.get("counts")
    known = counts.items() if isinstance(counts, Mapping) else ()
    held = ", ".join(f"{said(count)} {said(name)}" for name, count in known)
    operations = ", ".join(said(each) for each in _texts(payload.get("operations")))
    return Rendered([f"Operations: {operations}", f"The graph holds: {held}"])


def _any(payload: Mapping[str, Any]) -> Rendered:
    """Render an operation that is newer than we are: whatever it lists."""
    lines: list[str] = []
    for value in payload.values():
        lines += [fact_line(each) for each in objects(value)]
        lines += [said(each) for each in _texts(value)]
    return Rendered(lines)


def _texts(value: object) -> list[str]:
    rows = value[:500] if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, str)]


_RENDERERS: Mapping[str, Callable[[Mapping[str, Any]], Rendered]] = {
    "query_facts": _facts,
    "explore": _graph,
    "traverse": _graph,
    "subgraph": _graph,
    "architecture": _graph,
    "neighbors": _neighbors,
    "find_path": _path,
    "impact_analysis": _impact,
    "delta": _delta,
    "insights": _insights,
    "search": _hits,
    "hubs": _hubs,
    "flows": _flows,
    "ask": _ask,
    "capabilities": _capabilities,
}
