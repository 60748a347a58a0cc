"""Changes lists in a person's YAML configuration, and leaves every other byte of it alone.

A YAML writer would lose comments and order. Here the parser only says where things stand; the text
is changed there, and then read again: what does not come to exactly what was wanted is not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cognee_hooks.configuration.files import compose, load_mapping
from cognee_hooks.errors import CogneeHooksError

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def with_list(text: str, path: Sequence[str], names: Sequence[str]) -> str:
    """Return a configuration in which a list holds these names.

    Args:
        text: The configuration; may be "".
        path: Names of the mappings that lead to the list, and its own, such as
            ``("plugins", "block")``.
        names: What it is to hold.

    Returns:
        The text with as little changed as possible.

    Raises:
        CogneeHooksError: The text is no mapping, or written in a way that is not changed safely.
    """
    before = load_mapping(text)
    if before is None:
        raise CogneeHooksError("it is not valid YAML with names and values")
    wanted = _set(before, path, list(names))
    if wanted == before:
        return text
    changed = _changed(text, path, list(names))
    if load_mapping(changed) != wanted:
        raise CogneeHooksError("it is written in a way that cannot be changed safely")
    return changed


def _set(values: dict[str, Any], path: Sequence[str], names: list[str]) -> dict[str, Any]:
    inner = values.get(path[0])
    rest = path[1:]
    if not rest:
        return {**values, path[0]: names}
    return {**values, path[0]: _set(inner if isinstance(inner, dict) else {}, rest, names)}


def _changed(text: str, path: Sequence[str], names: list[str]) -> str:
    node = compose(text)
    if node is None:
        return _line_break_after(text) + _new(path, names, "")
    for depth, name in enumerate(path):
        found = _child(node, name)
        if found is None:
            return _inserted(text, node, path[depth:], names)
        inside_flow = node.flow_style
        key, node = found
        if _is_empty(text, node):
            return _filled(text, key, node, path[depth + 1 :], names, flow=inside_flow)
    return _replaced(text, key, node, names)


def _child(node: Any, name: str) -> tuple[Any, Any] | None:
    """Return the key and the value of a mapping's entry; of several the last, which counts."""
    pairs = node.value if node.id == "mapping" else []
    return next((pair for pair in reversed(pairs) if pair[0].value == name), None)


def _is_empty(text: str, node: Any) -> bool:
    """Whether there is nothing behind a colon, or the word for nothing."""
    return text[node.start_mark.index : node.end_mark.index].strip() in {"", "~", "null"}


def _filled(
    text: str, key: Any, node: Any, rest: Sequence[str], names: list[str], *, flow: bool
) -> str:
    """Put a value behind a key that has none."""
    start, end = node.start_mark.index, node.end_mark.index
    if start == end:
        start = end = text.index(":", key.end_mark.index) + 1
    if flow or not rest:
        return f"{text[:start].rstrip(' ')} {_flow_value(rest, names)}{text[end:]}"
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    head, comment = text[:start].rstrip(" "), text[end:line_end].rstrip()
    added = _new(rest, names, " " * (key.start_mark.column + 2))
    return f"{head}{comment}\n{added}{text[line_end + 1 :]}"


def _inserted(text: str, node: Any, rest: Sequence[str], names: list[str]) -> str:
    """Add an entry to a mapping that has others."""
    if node.id != "mapping":
        raise CogneeHooksError(f"there is a value where {rest[0]!r} should stand")
    if node.flow_style:
        start = node.start_mark.index + 1
        separator = ", " if node.value else ""
        return f"{text[:start]}{_flow_entry(rest, names)}{separator}{text[start:]}"
    first = node.value[0][0].start_mark
    start = first.index - first.column
    return text[:start] + _new(rest, names, " " * first.column) + text[start:]


def _replaced(text: str, key: Any, node: Any, names: list[str]) -> str:
    """Change a list or a single value."""
    if node.id == "sequence" and not node.flow_style:
        return _block_list(text, key, node, names)
    start, end = node.start_mark.index, node.end_mark.index
    return text[:start] + _flow(names) + text[end:]


def _block_list(text: str, key: Any, node: Any, names: list[str]) -> str:
    """Change a list that has a line for each item; only lines of items come and go."""
    lines = text.splitlines(keepends=True)
    items = [
        (each.value if each.id == "scalar" else None, each.start_mark.line) for each in node.value
    ]
    indent, last = " " * node.start_mark.column, items[-1][1]
    known = {value for value, _ in items}
    lines[last] = _line_break_after(lines[last])
    lines[last + 1 : last + 1] = [
        f"{indent}- {_scalar(name)}\n" for name in names if name not in known
    ]
    for value, line in reversed(items):
        if value not in names:
            del lines[line]
    changed = "".join(lines)
    if names:
        return changed
    behind = changed.index(":", key.end_mark.index) + 1
    return f"{changed[:behind]} []{changed[behind:]}"


def _new(rest: Sequence[str], names: list[str], indent: str) -> str:
    *outer, name = rest
    lines = [f"{indent}{'  ' * depth}{each}:\n" for depth, each in enumerate(outer)]
    return "".join([*lines, f"{indent}{'  ' * len(outer)}{name}: {_flow(names)}\n"])


def _flow_entry(rest: Sequence[str], names: list[str]) -> str:
    return f"{rest[0]}: {_flow_value(rest[1:], names)}"


def _flow_value(rest: Sequence[str], names: list[str]) -> str:
    return f"{{{_flow_entry(rest, names)}}}" if rest else _flow(names)


def _flow(names: list[str]) -> str:
    return f"[{', '.join(map(_scalar, names))}]"


def _scalar(name: str) -> str:
    """Return a name as YAML, plain where every parser reads that as the same text."""
    plain = _PLAIN.fullmatch(name) and load_mapping(f"n: [{name}]") == {"n": [name]}
    return name if plain else json.dumps(name)


def _line_break_after(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
