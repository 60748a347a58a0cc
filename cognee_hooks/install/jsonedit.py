"""Rewrites single items of a JSON text and leaves everything else as it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cognee_hooks.install.jsontext import SPACE, Node

DEFAULT_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Addition:
    """An item to be appended.

    Attributes:
        value: Its value.
        key: Its name in an object; None in an array.
    """

    value: Any
    key: str | None = None


class Editor:
    """Changes a document in the style in which it is written.

    Args:
        text: The document.
        root: Its values.
    """

    def __init__(self, text: str, root: Node) -> None:
        self._text = text
        first = root.items[0] if root.items else None
        lead = text[root.start + 1 : first.start] if first else ""
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._indent = _base(lead) if _is_broken(lead) else DEFAULT_INDENT
        name = text[first.start : first.value.start] if first else ""
        self._compact = name.endswith(":")
        # A document that holds nothing yet has no style; give it the usual one.
        self.root_base = "" if first is None or _is_broken(lead) else None

    def base_of(self, node: Node, index: int, own: str | None) -> str | None:
        """Return the indentation of an item's line, None where items share a line.

        Args:
            node: What holds the item.
            index: Which item.
            own: The indentation of the line on which the node itself begins.
        """
        lead = self._lead(node, index)
        if _is_broken(lead):
            return _base(lead)
        # The only item of an array often begins on the line of the bracket, and is broken inside.
        item = node.items[index]
        return own if "\n" in self._text[item.start : item.value.end] else None

    def render(self, value: Any, base: str | None) -> str:
        """Write a value: on lines of its own below an indentation, or (None) on one line."""
        if base is None:
            colon, comma = (":", ",") if self._compact else (": ", ", ")
            return json.dumps(value, ensure_ascii=False, separators=(comma, colon))
        text = json.dumps(value, ensure_ascii=False, indent=self._indent)
        return text.replace("\n", self._newline + base)

    def rewrite(
        self,
        node: Node,
        changed: Mapping[int, str | None],
        added: Sequence[Addition] = (),
        *,
        base: str | None,
    ) -> str:
        """Return the text of an object or array with some items changed.

        Args:
            node: The object or array.
            changed: By index: the text of an item's new value, or None to remove the item.
            added: Items to append.
            base: Indentation of the line on which the node begins, None for one-line style.
        """
        kept = [i for i in range(len(node.items)) if changed.get(i, "") is not None]
        parts: list[str] = []
        comments = ""  # of removed items; they are somebody else's words
        for index in range(len(node.items)):
            lead = self._lead(node, index)
            if index not in kept:
                comments += lead.rstrip(SPACE)
                continue
            if index == kept[0] and not lead.strip(SPACE):
                lead = _space_after(self._lead(node, 0))
            parts.append(_after(comments, lead, self._newline) + self._item(node, index, changed))
            comments = ""
        final = self._final(node)
        tail = _space_after(final)
        comments += final.rstrip(SPACE)
        if not node.items:
            tail = "" if base is None else self._newline + base
        elif not kept and not added and not comments:
            tail = ""
        for each in added:
            lead = self._added_lead(node, base)
            parts.append(_after(comments, lead, self._newline) + self._addition(each, lead))
            comments = ""
        return self._joined(node, kept, parts, comments + tail)

    def _joined(self, node: Node, kept: Sequence[int], parts: Sequence[str], end: str) -> str:
        """Put commas between items; behind the last one only where one stood there before."""
        pieces = [node.kind.value[0]]
        trailing = bool(node.items) and node.items[-1].comma >= 0
        for number, part in enumerate(parts):
            pieces.append(part)
            if number < len(kept):
                item = node.items[kept[number]]
                pieces.append(self._text[item.value.end : max(item.comma, item.value.end)])
            if trailing or number < len(parts) - 1:
                pieces.append(",")
        return "".join([*pieces, end, node.kind.value[1]])

    def _item(self, node: Node, index: int, changed: Mapping[int, str | None]) -> str:
        item = node.items[index]
        value = changed.get(index)
        if value is None:
            return self._text[item.start : item.value.end]
        return self._text[item.start : item.value.start] + value

    def _addition(self, added: Addition, lead: str) -> str:
        value = self.render(added.value, _base(lead) if _is_broken(lead) else None)
        if added.key is None:
            return value
        colon = ":" if self._compact else ": "
        return json.dumps(added.key, ensure_ascii=False) + colon + value

    def _added_lead(self, node: Node, base: str | None) -> str:
        """Return the white space before an appended item: that of the item before it."""
        if not node.items:
            return "" if base is None else f"{self._newline}{base}{self._indent}"
        space = _space_after(self._lead(node, len(node.items) - 1))
        if _is_broken(space) or len(node.items) > 1:
            return space
        return "" if self._compact else " "

    def _lead(self, node: Node, index: int) -> str:
        """Return what stands between an item and the comma or bracket before it."""
        before = node.items[index - 1].comma if index else node.start
        return self._text[before + 1 : node.items[index].start]

    def _final(self, node: Node) -> str:
        """Return what stands between the last item, or its comma, and the closing bracket."""
        start = node.start + 1
        if node.items:
            last = node.items[-1]
            start = max(last.comma + 1, last.value.end)
        return self._text[start : node.end - 1]


def _is_broken(lead: str) -> bool:
    return "\n" in lead


def _base(lead: str) -> str:
    return lead.rpartition("\n")[2]


def _space_after(lead: str) -> str:
    """Return the white space behind the last comment."""
    return lead[len(lead.rstrip(SPACE)) :]


def _after(comments: str, lead: str, newline: str) -> str:
    """Put comments before an item; a comment to the end of the line must not swallow it."""
    if comments and not _is_broken(lead):
        return comments + newline + lead
    return comments + lead
