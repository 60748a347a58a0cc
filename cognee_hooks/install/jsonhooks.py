"""Adds our entries to a JSON table of hooks, and takes them out again.

Many agents share one shape: an object of event names, each with an array of entries; an entry is a
command, or a group with a matcher and an inner ``hooks`` array of commands. Whose an entry is, its
command says. Everything that is not ours keeps its bytes and its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.install.command import MARKER
from cognee_hooks.install.jsonedit import Addition, Editor
from cognee_hooks.install.jsontext import STRICT, Dialect, JsonKind, Node, equals, parse, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class HookTable:
    """What belongs into an agent's file.

    Attributes:
        entries: Our entry for each event.
        container: Name of the top-level object that holds the events.
        members: Further top-level members, set only where there is none of that name, and ours if
            they hold our command.
        scaffold: Top-level members that the agent demands, such as a version. Set where missing;
            they go with our entries when nothing else is left.
        dialect: What the agent's own reader takes.
    """

    entries: Mapping[str, Any]
    container: str = "hooks"
    members: Mapping[str, Any] = field(default_factory=dict)
    scaffold: Mapping[str, Any] = field(default_factory=dict)
    dialect: Dialect = STRICT


class WrongShapeError(ValueError):
    """The file is JSON, but not what the agent reads.

    Attributes:
        reason: What is wrong, as the end of a sentence.
        position: Where, in characters from the start.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


def add(text: str, table: HookTable) -> str:
    """Return a document with our entries, each once; those that are up to date are left alone.

    Args:
        text: The document; white space alone counts as an empty object.
        table: What belongs into it.

    Raises:
        JsonTextError: The text is not JSON of the agent's dialect.
        WrongShapeError: The agent's hooks are not where they should be.
    """
    if not text.strip():
        text = "{}\n"
    root = parse(text, table.dialect)
    if root.kind is not JsonKind.OBJECT:
        raise WrongShapeError("the document is not an object", root.start)
    return _Merge(text, root, table).added()


def remove(text: str, table: HookTable) -> str:
    """Return a document without any entry of ours, and without what only held them.

    Args:
        text: The document.
        table: Says where to look; its entries do not matter.

    Raises:
        JsonTextError: The text is not JSON of the agent's dialect.
    """
    root = parse(text, table.dialect)
    return text if root.kind is not JsonKind.OBJECT else _Merge(text, root, table).removed()


def taken(text: str, table: HookTable) -> list[str]:
    """Return which of the table's members a valid document holds for somebody else."""
    root = parse(text, table.dialect)
    found = ((name, root.last(name)) for name in table.members)
    return [name for name, node in found if node is not None and not is_ours(text, node)]


def is_ours(text: str, node: Node) -> bool:
    """Tell whether a command, or anything that holds one, is ours."""
    return any(MARKER in each for each in strings(text, node))


def is_empty(text: str) -> bool:
    """Tell whether a valid document says nothing."""
    return "".join(text.split()) in {"", "{}"}


def handlers(entry: Node) -> list[Node]:
    """Return the commands of an entry: those of its inner array, or the entry itself."""
    inner = entry.last("hooks")
    if inner is None or inner.kind is not JsonKind.ARRAY:
        return [entry]
    return [item.value for item in inner.items]


class _Merge:
    """One pass over one document."""

    def __init__(self, text: str, root: Node, table: HookTable) -> None:
        self._text = text
        self._root = root
        self._table = table
        self._editor = Editor(text, root)

    def added(self) -> str:
        root, table = self._root, self._table
        additions = [
            Addition(value, key) for key, value in table.scaffold.items() if not _has(root, key)
        ]
        if not _has(root, table.container):
            entries = {event: [entry] for event, entry in table.entries.items()}
            additions.append(Addition(entries, table.container))
        additions += [
            Addition(value, key) for key, value in table.members.items() if not _has(root, key)
        ]
        changed = self._containers(table.entries)
        for index, item in enumerate(root.items):
            wanted = table.members.get(item.key or "")
            if wanted is not None and self._outdated(item.value, wanted):
                changed[index] = self._editor.render(wanted, self._base(root, index, None))
        return self._document(changed, additions)

    def removed(self) -> str:
        root, table = self._root, self._table
        changed = self._containers({})
        changed |= {
            index: None
            for index, item in enumerate(root.items)
            if item.key in table.members and is_ours(self._text, item.value)
        }
        if changed:
            left = [index for index in range(len(root.items)) if changed.get(index, "") is not None]
            if all(self._is_scaffold(index) for index in left):
                changed |= dict.fromkeys(left)
        return self._document(changed, [])

    def _document(self, changed: dict[int, str | None], added: Sequence[Addition]) -> str:
        if not changed and not added:
            return self._text
        root = self._root
        body = self._editor.rewrite(root, changed, added, base=self._editor.root_base)
        return self._text[: root.start] + body + self._text[root.end :]

    def _is_scaffold(self, index: int) -> bool:
        item = self._root.items[index]
        key = item.key or ""
        return key in self._table.scaffold and equals(
            self._text, item.value, self._table.scaffold[key]
        )

    def _outdated(self, node: Node, wanted: Any) -> bool:
        return is_ours(self._text, node) and not equals(self._text, node, wanted)

    def _containers(self, wanted: Mapping[str, Any]) -> dict[int, str | None]:
        """Work on every member that has the container's name; only the last one counts."""
        changed: dict[int, str | None] = {}
        root, name = self._root, self._table.container
        found = [index for index, item in enumerate(root.items) if item.key == name]
        for index in found:
            node = root.items[index].value
            entries = wanted if index == found[-1] else {}
            if node.kind is not JsonKind.OBJECT:
                if entries:
                    raise WrongShapeError(f'"{name}" is not an object', node.start)
                continue
            base = self._base(root, index, self._editor.root_base)
            text = self._events(node, entries, base, keep=len(found) > 1)
            if text != self._text[node.start : node.end]:
                changed[index] = text
        return changed

    def _events(
        self, node: Node, wanted: Mapping[str, Any], base: str | None, *, keep: bool
    ) -> str | None:
        """Return the text of an object of events, None where our entries were all it held.

        Args:
            node: The object.
            wanted: Our entries.
            base: Indentation of its line.
            keep: Whether to keep it although it is empty: taking it away would bring an earlier
                member of the same name back to life.
        """
        changed: dict[int, str | None] = {}
        names = [item.key for item in node.items]
        for index, item in enumerate(node.items):
            event = item.key or ""
            is_last = event not in names[index + 1 :]
            entry = wanted.get(event) if is_last else None
            if item.value.kind is not JsonKind.ARRAY:
                if entry is not None:
                    raise WrongShapeError(f'"{event}" is not an array', item.value.start)
                continue
            own = self._base(node, index, base)
            text = self._entries(item.value, entry, own, keep=names.count(event) > 1)
            if text != self._text[item.value.start : item.value.end]:
                changed[index] = text
        added = [Addition([entry], event) for event, entry in wanted.items() if event not in names]
        if not changed and not added:
            return self._text[node.start : node.end]
        nothing = len(changed) == len(node.items) and not any(changed.values())
        if nothing and not added and not keep:
            return None
        return self._editor.rewrite(node, changed, added, base=base)

    def _entries(
        self, node: Node, wanted: Any | None, base: str | None, *, keep: bool
    ) -> str | None:
        """Return the text of an event's array; parameters and result as in `_events`."""
        ours = [i for i, item in enumerate(node.items) if is_ours(self._text, item.value)]
        whole = [i for i in ours if self._is_wholly_ours(node.items[i].value)]
        changed: dict[int, str | None] = dict.fromkeys(whole)
        for index in ours:
            if index not in whole:
                entry = node.items[index].value
                changed[index] = self._without_ours(entry, self._base(node, index, base))
        added = []
        if wanted is not None:
            good = [i for i in whole if equals(self._text, node.items[i].value, wanted)]
            if good:
                del changed[good[0]]
            elif whole:
                place = self._base(node, whole[0], base)
                changed[whole[0]] = self._editor.render(wanted, place)
            else:
                added = [Addition(wanted)]
        if not changed and not added:
            return self._text[node.start : node.end]
        if not added and not keep and list(changed.values()) == [None] * len(node.items):
            return None
        return self._editor.rewrite(node, changed, added, base=base)

    def _is_wholly_ours(self, entry: Node) -> bool:
        return all(is_ours(self._text, each) for each in handlers(entry))

    def _without_ours(self, entry: Node, base: str | None) -> str:
        """Return the text of a group of somebody else's without our commands in it."""
        changed: dict[int, str | None] = {}
        for index, item in enumerate(entry.items):
            if item.key == "hooks" and item.value.kind is JsonKind.ARRAY:
                ours = [
                    i for i, each in enumerate(item.value.items) if is_ours(self._text, each.value)
                ]
                own = self._base(entry, index, base)
                changed[index] = self._editor.rewrite(item.value, dict.fromkeys(ours), base=own)
        return self._editor.rewrite(entry, changed, base=base)

    def _base(self, node: Node, index: int, own: str | None) -> str | None:
        return self._editor.base_of(node, index, own)


def _has(root: Node, key: str) -> bool:
    return root.last(key) is not None
