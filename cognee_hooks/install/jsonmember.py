"""Sets one member of an object inside a JSON document, and takes it out again.

Agents keep MCP servers like this: ``{"mcpServers": {"<name>": {...}}}``. All else keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cognee_hooks.install.jsonedit import Addition, Editor
from cognee_hooks.install.jsonhooks import WrongShapeError
from cognee_hooks.install.jsontext import JsonKind, Node, equals, parse


class TakenError(ValueError):
    """The name belongs to somebody else."""


Ours = Callable[[str, Node], bool]
"""Tells whether a value is ours, from the document and the node."""


def with_member(text: str, container: str, name: str, value: Any, ours: Ours) -> str:
    """Return a document with a member of a top-level object.

    Args:
        text: The document; white space alone counts as an empty object.
        container: Name of the object.
        name: Name of the member.
        value: Its value.
        ours: Tells whether a member that is there already may be replaced.

    Raises:
        JsonTextError: It is no JSON.
        WrongShapeError: The document, or what bears the container's name, is no object.
        TakenError: The name belongs to somebody else.
    """
    text = text if text.strip() else "{}\n"
    root = _object(parse(text), "the document")
    editor = Editor(text, root)
    index = _index(root, container)
    if index is None:
        added = [Addition({name: value}, container)]
        body = editor.rewrite(root, {}, added, base=editor.root_base)
        return text[: root.start] + body + text[root.end :]
    node = _object(root.items[index].value, f'"{container}"')
    base = editor.base_of(root, index, editor.root_base)
    place = _index(node, name)
    if place is None:
        inner = editor.rewrite(node, {}, [Addition(value, name)], base=base)
    else:
        found = node.items[place].value
        if equals(text, found, value):
            return text
        if not ours(text, found):
            raise TakenError(name)
        own = editor.base_of(node, place, base)
        inner = editor.rewrite(node, {place: editor.render(value, own)}, base=base)
    return _replaced(text, root, editor, {index: inner})


def without_member(text: str, container: str, name: str, ours: Ours) -> str:
    """Return a document without a member that is ours, nor an object that held only that.

    Raises:
        JsonTextError: It is no JSON.
    """
    root = parse(text)
    index = _index(root, container)
    node = root.items[index].value if index is not None else None
    place = _index(node, name) if node is not None and node.kind is JsonKind.OBJECT else None
    if index is None or node is None or place is None or not ours(text, node.items[place].value):
        return text
    editor = Editor(text, root)
    if len(node.items) == 1:
        return _replaced(text, root, editor, {index: None})
    base = editor.base_of(root, index, editor.root_base)
    return _replaced(text, root, editor, {index: editor.rewrite(node, {place: None}, base=base)})


def _replaced(text: str, root: Node, editor: Editor, changed: dict[int, str | None]) -> str:
    body = editor.rewrite(root, changed, base=editor.root_base)
    return text[: root.start] + body + text[root.end :]


def _index(node: Node, key: str) -> int | None:
    found = [index for index, item in enumerate(node.items) if item.key == key]
    return found[-1] if found else None


def _object(node: Node, what: str) -> Node:
    if node.kind is not JsonKind.OBJECT:
        raise WrongShapeError(f"{what} is not an object", node.start)
    return node
