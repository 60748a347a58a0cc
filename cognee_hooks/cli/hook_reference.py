"""The manual of all hooks in Markdown, made from their specs; ``docs/plugins.md`` holds it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from cognee_hooks import hookspecs
from cognee_hooks.markers import Policy
from cognee_hooks.registry import declared_policies

_SECTIONS = ("Args:", "Returns:")
_LITERAL = re.compile(r"``([^`]+)``")


def reference(level: int = 3) -> str:
    """Return every hook with its signature, policy and manual.

    Args:
        level: Depth of the headings.
    """
    entries = [
        "\n".join(_entry(name, policy, level)) for name, policy in declared_policies().items()
    ]
    return "\n\n".join(entries)


def kind_of(policy: Policy) -> str:
    """Say how a hook's implementations are called, in words."""
    notes = [policy.kind.value]
    if policy.detached:
        notes.append("in the background")
    if policy.in_order:
        notes.append("in order")
    return ", ".join(notes)


def budget_of(policy: Policy) -> str:
    """Say how long a call of the hook may take, with its unit."""
    seconds = policy.budget
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def _entry(name: str, policy: Policy, level: int) -> Iterator[str]:
    function = getattr(hookspecs, name)
    parts = _parts(inspect.getdoc(function) or "")
    yield f"{'#' * level} `{name}`"
    yield ""
    yield f"`{_signature(name)}`"
    yield ""
    facts = [kind_of(policy), f"budget {budget_of(policy)}", f"on a fault, {policy.on_fault}"]
    yield f"*{'; '.join(facts)}.*"
    yield ""
    yield _paragraphs(parts[""])
    for text in policy.deprecations:
        yield ""
        yield f"**Deprecated.** {text}"
    if arguments := parts.get("Args:"):
        yield ""
        yield from _arguments(arguments)
    if returns := parts.get("Returns:"):
        yield ""
        yield f"Returns: {_joined(returns)}"


def _signature(name: str) -> str:
    parameters = inspect.signature(getattr(hookspecs, name)).parameters.values()
    return f"{name}({', '.join(f'{each.name}: {each.annotation}' for each in parameters)})"


def _parts(text: str) -> dict[str, list[str]]:
    """Divide a docstring into its text (under "") and its sections."""
    parts: dict[str, list[str]] = {"": []}
    section = ""
    for line in text.splitlines():
        if line in _SECTIONS:
            section = line
            parts[section] = []
        else:
            parts[section].append(line)
    return parts


def _arguments(lines: list[str]) -> Iterator[str]:
    """Yield one item a list for each argument; continuation lines are indented deeper."""
    items: list[list[str]] = []
    for line in filter(str.strip, lines):
        if len(line) - len(line.lstrip()) == len("    "):
            items.append([])
        items[-1].append(line)
    for item in items:
        name, _, text = _joined(item).partition(": ")
        yield f"* `{name}`: {text}"


def _paragraphs(lines: list[str]) -> str:
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "\n\n".join(_joined(block.splitlines()) for block in blocks)


def _joined(lines: list[str]) -> str:
    return _LITERAL.sub(r"`\1`", " ".join(line.strip() for line in lines if line.strip()))
