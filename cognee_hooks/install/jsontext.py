"""Where each value of a JSON document stands in its text.

Settings files belong to people and to other tools. To change a few values and leave every other
byte alone, one has to know where things stand; so this scanner keeps positions and decodes nothing
but member names. It works without recursion, however deep the document is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

SPACE = " \t\r\n"
"""What counts as white space in JSON."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+"')
_OTHER_SCALAR = re.compile(
    r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
)
_NEWLINE = re.compile(r"\r\n|\r|\n")


class JsonTextError(ValueError):
    """A text is not the JSON that was expected.

    Attributes:
        reason: What is wrong, as the end of a sentence.
        line: Line, counted from 1.
        column: Character in the line, counted from 1.
    """

    def __init__(self, reason: str, text: str, position: int) -> None:
        self.reason = reason
        self.line, self.column = line_and_column(text, position)
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a reader takes beyond strict JSON.

    Attributes:
        comments: ``// …`` and ``/* … */`` wherever white space may stand.
        trailing_commas: A comma behind the last item.
    """

    comments: bool = False
    trailing_commas: bool = False


STRICT = Dialect()
"""JSON and nothing else."""


class JsonKind(Enum):
    """What a value is; the value holds the brackets around it."""

    OBJECT = "{}"
    ARRAY = "[]"
    SCALAR = ""


@dataclass(slots=True, eq=False)
class Node:
    """A value.

    Attributes:
        kind: What it is.
        start: Position of its first character.
        end: Position behind its last character.
        items: What it holds, in order, names that occur twice included.
    """

    kind: JsonKind
    start: int
    end: int = -1
    items: list[JsonItem] = field(default_factory=list)

    def last(self, key: str) -> Node | None:
        """Return the member that counts under a name: as in all JSON readers, the last one."""
        return next((item.value for item in reversed(self.items) if item.key == key), None)


@dataclass(slots=True, eq=False)
class JsonItem:
    """A member of an object or an element of an array.

    Attributes:
        key: The member's name, decoded; None in an array.
        start: Position of its first character: the name's quote, or the value.
        value: Its value, with which it ends.
        comma: Position of the comma behind it, -1 where there is none.
    """

    key: str | None
    start: int
    value: Node
    comma: int = -1


def parse(text: str, dialect: Dialect = STRICT) -> Node:
    """Find all values of a document.

    Raises:
        JsonTextError: The text is not one JSON document of this dialect.
    """
    return _Scanner(text, dialect).document()


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return where a position stands for a person, both counted from 1."""
    line, start = 1, 0
    for newline in _NEWLINE.finditer(text, 0, position):
        line, start = line + 1, newline.end()
    return line, position - start + 1


def strings(text: str, node: Node) -> Iterator[str]:
    """Yield every string value inside a node, decoded; names of members are left out."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if text[each.start] == '"':
            yield json.loads(text[each.start : each.end])
        waiting.extend(item.value for item in each.items)


def equals(text: str, node: Node, value: Any) -> bool:
    """Tell whether a node holds a value; goes no deeper than the value does."""
    if isinstance(value, dict):
        return (
            node.kind is JsonKind.OBJECT
            and len(node.items) == len(value)
            and all(
                item.key in value and equals(text, item.value, value[item.key])
                for item in node.items
            )
        )
    if isinstance(value, list):
        return (
            node.kind is JsonKind.ARRAY
            and len(node.items) == len(value)
            and all(
                equals(text, item.value, each) for item, each in zip(node.items, value, strict=True)
            )
        )
    if node.kind is not JsonKind.SCALAR:
        return False
    found = json.loads(text[node.start : node.end])
    return type(found) is type(value) and bool(found == value)


class _Scanner:
    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._space = _SPACE_AND_COMMENTS if dialect.comments else _SPACE
        self._open: list[Node] = []

    def document(self) -> Node:
        at = self._skip(0)
        root = node = self._begin(at)
        while True:
            if node.end < 0 and not self._closed(node, at := self._skip(node.start + 1)):
                self._open.append(node)
                node = self._item(at)
                continue
            following = self._finish(node.end)
            if following is None:
                break
            node = self._item(following)
        if (at := self._skip(root.end)) != len(self._text):
            raise self._error("there is something behind the end of the document", at)
        return root

    def _finish(self, at: int) -> int | None:
        """Close what ends behind a finished value; return where the next item begins, if any."""
        while self._open:
            parent = self._open[-1]
            at = self._skip(at)
            if self._at(at) == ",":
                parent.items[-1].comma = at
                following = self._skip(at + 1)
                if not (self._dialect.trailing_commas and self._closed(parent, following)):
                    return following
            elif not self._closed(parent, at):
                raise self._error(f"a comma or {parent.kind.value[1]!r} is expected", at)
            self._open.pop()
            at = parent.end
        return None

    def _item(self, at: int) -> Node:
        """Begin the next item of the innermost open node and return its value."""
        parent = self._open[-1]
        start, key = at, None
        if parent.kind is JsonKind.OBJECT:
            match = _STRING.match(self._text, at)
            if match is None:
                raise self._error("a member name in double quotes is expected", at)
            key = json.loads(match.group())
            at = self._skip(match.end())
            if self._at(at) != ":":
                raise self._error("a colon is expected", at)
            at = self._skip(at + 1)
        value = self._begin(at)
        parent.items.append(JsonItem(key, start, value))
        return value

    def _begin(self, at: int) -> Node:
        """Return the value at a position; an object or array is not read yet."""
        character = self._at(at)
        if character == "{":
            return Node(JsonKind.OBJECT, at)
        if character == "[":
            return Node(JsonKind.ARRAY, at)
        match = (_STRING if character == '"' else _OTHER_SCALAR).match(self._text, at)
        if match is None:
            what = "this string is not closed or holds" if character == '"' else ""
            reason = f"{what} a character that must be escaped" if what else "a value is expected"
            raise self._error(reason, at)
        return Node(JsonKind.SCALAR, at, match.end())

    def _closed(self, node: Node, at: int) -> bool:
        """Note a node's end where its closing bracket stands at a position."""
        if self._at(at) != node.kind.value[1]:
            return False
        node.end = at + 1
        return True

    def _skip(self, at: int) -> int:
        match = self._space.match(self._text, at)
        return at if match is None else match.end()

    def _at(self, at: int) -> str:
        return self._text[at : at + 1]

    def _error(self, reason: str, at: int) -> JsonTextError:
        if at >= len(self._text):
            reason = "the text ends in the middle"
        elif self._text.startswith(("//", "/*"), at):
            reason = "a comment stands here"
            if self._dialect.comments:
                reason += " that is never closed"
        return JsonTextError(reason, self._text, at)
