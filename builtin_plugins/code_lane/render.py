"""Answers of the code graph as text for a model: what there is, within a limit.

By the cognee 1.6 HTTP contract the data stands in an item's ``raw``; ``text`` repeats it as JSON,
except for an impact analysis, where it is one sentence. Older servers answer in prose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
MOST_LINES = 200
"""Facts of an item that are put into words: more than fit. The rest is only counted, since an
answer may hold a hundred thousand, and whoever renders holds up everybody else."""
_ROOM_FOR_NOTE = 160
_MOST_STEPS = 50
_EMPTY: Mapping[str, Any] = {}


Line = str | Callable[[], str]
"""A fact as a line of text, or what puts it into words."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What an item says.

    Attributes:
        lines: Its facts, a line each.
        title: A line to go before them, or "".
        empty: What it means that there are none, or "" for the common wording.
        left: How many more there are.
    """

    lines: list[str]
    title: str = ""
    empty: str = ""
    left: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    """The same before it is put into words."""

    lines: Sequence[Line]
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
        found = _RENDERERS.get(text_of(payload, "operation"), _any)(payload)
        said_once = dict.fromkeys(_in_words(each) for each in found.lines[:MOST_LINES])
        lines = [line for line in said_once if line]
        left = max(0, len(found.lines) - MOST_LINES)
        rendered.append(Rendered(lines, found.title, found.empty, left))
    return rendered


def _in_words(line: Line) -> str:
    return line if isinstance(line, str) else line()


def joined(
    title: str, lines: Iterable[str], *, left: int = 0, max_bytes: int = RESULT_BYTES
) -> str:
    """Join lines up to a limit; the last line says how many were left out and what to do.

    Args:
        title: First line.
        lines: The facts.
        left: How many more there are.
        max_bytes: UTF-8 bytes at most.
    """
    every = [cut(line, LINE_BYTES) for line in lines]
    kept, used = [title], len(title.encode())
    for line in every:
        used += len(line.encode()) + 1
        if used > max_bytes - _ROOM_FOR_NOTE:
            break
        kept.append(line)
    left += len(every) - (len(kept) - 1)
    if left:
        kept.append(
            f"… {left} more. Ask for less: name a symbol, a file or a kind, or lower limit or "
            "max_depth."
        )
    return cut("\n".join(kept), max_bytes)


# -- one operation each --------------------------------------------------------------------------


def _facts(payload: Mapping[str, Any]) -> _Found:
    lines = _of(fact_line, objects(payload.get("facts")))
    # An older server lists names only.
    lines += _of(said, _texts(payload.get("facts")))
    total = payload.get("total")
    more = payload.get("has_more") is True and isinstance(total, int)
    return _Found(lines, f"{total} facts, of which these:" if more else "")


def _graph(payload: Mapping[str, Any]) -> _Found:
    focus = payload.get("focus") or payload.get("anchor")
    first = _of(fact_line, [focus] if isinstance(focus, Mapping) else [])
    nodes = _of(fact_line, objects(payload.get("nodes")))
    edges = _of(edge_line, objects(payload.get("edges")))
    return _Found([*first, *nodes, *edges])


def _neighbors(payload: Mapping[str, Any]) -> _Found:
    anchor = name_of(payload.get("anchor"))
    return _Found(_of(partial(_neighbor, anchor), objects(payload.get("neighbors"))))


def _neighbor(anchor: str, neighbor: Mapping[str, Any]) -> str:
    node = neighbor.get("node")
    if not isinstance(node, Mapping):
        return ""
    relation = said(neighbor.get("relation"))
    arrow = f"←{relation}—" if neighbor.get("direction") == "in" else f"—{relation}→"
    return f"{anchor} {arrow} {fact_line(node)}"


def _path(payload: Mapping[str, Any]) -> _Found:
    source, target = name_of(payload.get("from")), name_of(payload.get("to"))
    nodes = objects(payload.get("path"))
    if payload.get("found") is False or not nodes:
        # W8: both ends are there, so this is an answer and no symbol is missing.
        what = f"There is no path from {source or 'the source'} to {target or 'the target'}"
        return _Found([], empty=f"{what} in the code graph. Both exist; try the other direction.")
    chain = " → ".join(name_of(each) for each in nodes[:_MOST_STEPS])
    edges = _of(edge_line, objects(payload.get("edges")))
    return _Found([chain, *edges, *_of(fact_line, nodes)])


def _impact(payload: Mapping[str, Any]) -> _Found:
    targets = ", ".join(name_of(each) for each in objects(payload.get("targets"), 20))
    lines: list[Line] = []
    levels = payload.get("by_depth")
    for depth, facts in (levels if isinstance(levels, Mapping) else _EMPTY).items():
        lines += _of(partial(_at_depth, depth), objects(facts))
    summary = said(payload.get("summary"))
    if not lines:
        return _Found([], empty=f"Nothing in the code graph depends on {targets or 'the targets'}.")
    return _Found(lines, f"Impact of {targets}: {summary}" if summary else "")


def _at_depth(depth: object, fact: Mapping[str, Any]) -> str:
    return f"depth {said(depth)}: {fact_line(fact)}"


def _delta(payload: Mapping[str, Any]) -> _Found:
    return _Found(_of(_changes, objects(payload.get("repositories"), 50)))


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


def _insights(payload: Mapping[str, Any]) -> _Found:
    return _Found(_of(_insight, objects(payload.get("insights"))))


def _insight(insight: Mapping[str, Any]) -> str:
    title = said(insight.get("title")) or said(insight.get("name")) or said(insight.get("kind"))
    text = said(insight.get("description")) or said(insight.get("summary"))
    return f"{title}: {text}" if title and text else title or text


def _hits(payload: Mapping[str, Any]) -> _Found:
    return _Found(_of(fact_line, objects(payload.get("hits"))))


def _hubs(payload: Mapping[str, Any]) -> _Found:
    return _Found(_of(_hub, objects(payload.get("hubs"))))


def _hub(hub: Mapping[str, Any]) -> str:
    return f"{fact_line(hub)} · {said(hub.get('degree'))} relations"


def _flows(payload: Mapping[str, Any]) -> _Found:
    return _Found(_of(_flow, objects(payload.get("flows"))))


def _flow(flow: Mapping[str, Any]) -> str:
    entry = flow.get("entry")
    place = place_of(entry) if isinstance(entry, Mapping) else ""
    name, summary = said(flow.get("name")), said(flow.get("summary"), 400)
    return f"{name}{f' at {place}' if place else ''}: {summary}" if name else summary


def _ask(payload: Mapping[str, Any]) -> _Found:
    seeds = _of(fact_line, objects(payload.get("seeds")))
    flows = _of(_flow, objects(payload.get("flows")))
    around = payload.get("neighborhood")
    graph = _graph(around).lines if isinstance(around, Mapping) else []
    return _Found([*seeds, *flows, *graph])


def _capabilities(payload: Mapping[str, Any]) -> _Found:
    counts = payload.get("counts")
    known = list(counts.items())[:_MOST_STEPS] if isinstance(counts, Mapping) else []
    held = ", ".join(f"{said(count)} {said(name)}" for name, count in known)
    operations = ", ".join(map(said, _texts(payload.get("operations"))[:_MOST_STEPS]))
    return _Found([f"Operations: {operations}", f"The graph holds: {held}"])


def _any(payload: Mapping[str, Any]) -> _Found:
    """Render an operation that is newer than we are: whatever it lists."""
    lines: list[Line] = []
    for value in payload.values():
        lines += _of(fact_line, objects(value))
        lines += _of(said, _texts(value))
    return _Found(lines)


def _of(render: Callable[[Any], str], rows: Iterable[Any]) -> list[Line]:
    return [partial(render, row) for row in rows]


def _texts(value: object) -> list[str]:
    rows = value[:500] if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, str)]


_RENDERERS: Mapping[str, Callable[[Mapping[str, Any]], _Found]] = {
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
