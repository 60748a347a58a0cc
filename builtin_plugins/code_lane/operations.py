"""Questions to the code graph: which there are, what each needs, and how the server spells it.

The server ignores arguments that it does not know and answers another question instead, so every
argument is mapped to the name that the operation really reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cognee_hooks.errors import UsageError

_LONGEST = 400
_MOST_NAMES = 20
_QUOTES = ("'", '"', "`")
_DIRECTIONS = {"backward": "reverse", "backwards": "reverse", "upstream": "reverse"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the server's code graph.

    Attributes:
        about: What it answers, for the model.
        names: Arguments that say what it is about, in our spelling, and the server's key of each.
        needs: Those of them that it cannot do without.
        options: Further arguments and the server's key of each.
        limits: Arguments sent where the caller gave none.
    """

    about: str
    names: Mapping[str, str]
    needs: tuple[str, ...] = ()
    options: Mapping[str, str] | None = None
    limits: Mapping[str, int] | None = None


_WALK = {"direction": "direction", "max_depth": "max_depth", "limit": "max_nodes"}

OPERATIONS: Mapping[str, Operation] = {
    "query_facts": Operation(
        "symbols, files, routes and other facts whose name contains `name`",
        {"name": "name", "file": "file"},
        options={
            "kind": "kind",
            "file_prefix": "file_prefix",
            "limit": "limit",
            "offset": "offset",
        },
        limits={"limit": 20},
    ),
    "explore": Operation(
        "one symbol with what is directly around it", {"name": "name"}, ("name",), _WALK
    ),
    "traverse": Operation(
        "everything reachable from `start`", {"start": "start"}, ("start",), _WALK
    ),
    "find_path": Operation(
        "how `source` reaches `target`",
        {"source": "source", "target": "target"},
        ("source", "target"),
        {"max_depth": "max_depth"},
    ),
    "impact_analysis": Operation(
        "what depends on `targets` and may break",
        {"targets": "targets"},
        ("targets",),
        {"max_depth": "max_depth", "limit": "max_nodes"},
    ),
    "delta": Operation("what changed at the last indexing", {"name": "name"}),
    "insights": Operation(
        "findings such as dead code", {"name": "name"}, options={"limit": "limit"}
    ),
    "architecture": Operation(
        "modules and how they hang together",
        {},
        options={"limit": "max_nodes"},
        limits={"max_nodes": 60},
    ),
    "search": Operation(
        "symbols by words (server 1.6.5)", {"text": "text"}, ("text",), {"limit": "limit"}
    ),
    "neighbors": Operation(
        "callers and callees of `name` (server 1.6.5)",
        {"name": "name"},
        ("name",),
        {"limit": "limit"},
    ),
    "subgraph": Operation(
        "what lies between several `targets` (server 1.6.5)",
        {"targets": "seeds"},
        ("targets",),
        {"max_depth": "depth", "limit": "max_nodes"},
    ),
    "flows": Operation(
        "how requests run through the code (server 1.6.5)",
        {"name": "name"},
        options={"limit": "limit"},
    ),
    "hubs": Operation("the most connected symbols (server 1.6.5)", {}, options={"limit": "limit"}),
    "ask": Operation(
        "symbols and flows that bear on `question` (server 1.6.5)",
        {"question": "question"},
        ("question",),
    ),
    "capabilities": Operation("what this server's code graph can do (server 1.6.5)", {}),
}

_SUBJECTS = ("name", "start", "source", "text", "question", "file")
_LISTS = frozenset({"targets", "names", "seeds"})
_NUMBERS = frozenset({"limit", "max_depth", "offset"})
_SIMILAR = {
    "name": ("start", "source", "seed"),
    "start": ("name", "source", "seed"),
    "source": ("name", "start", "seed"),
    "text": ("seed", "name", "question"),
    "question": ("seed", "text"),
    "targets": ("target", "name", "names", "seeds", "seed"),
}
"""What is taken for an argument that is required and missing."""


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A question to the code graph, checked.

    Attributes:
        seed: What the recall's query is; for ``delta`` it filters by name of repository.
        operation: The operation, or "" for a plain look-up of the seed.
        code_query: Operation and arguments in the server's spelling; None for a plain look-up.
    """

    seed: str
    operation: str = ""
    code_query: dict[str, Any] | None = None

    @property
    def subject(self) -> str:
        """What it is about, for people."""
        return self.seed or self.operation


def checked_question(arguments: Mapping[str, Any]) -> CodeQuestion:
    """Check the arguments of a tool call or command.

    Args:
        arguments: What a model or a person wrote; unknown and empty ones are left out.

    Raises:
        UsageError: Something is missing; the message names it.
    """
    given = _given(arguments)
    seed = given.pop("seed", "")
    name = str(arguments.get("operation") or "").strip().lower()
    if not name:
        seed = seed or given.get("name", "")
        if not seed:
            raise UsageError(
                "Provide a seed (node name) or an operation "
                f"({', '.join(OPERATIONS)}), for example seed='PaymentService', or "
                "operation='impact_analysis' with targets=['process_refund']"
            )
        return CodeQuestion(seed)
    operation = OPERATIONS.get(name)
    if operation is None:
        raise UsageError(f"there is no operation {name[:40]!r}; use one of {', '.join(OPERATIONS)}")
    if seed:
        given["seed"] = seed
    return _checked(name, operation, given)


def _checked(name: str, operation: Operation, given: dict[str, Any]) -> CodeQuestion:
    for needed in operation.needs:
        similar = _SIMILAR.get(needed, ()) if len(operation.needs) == 1 else ()
        found = next((given[each] for each in (needed, *similar) if given.get(each)), None)
        if found is not None:
            given[needed] = _as_list(found) if needed in _LISTS else _as_text(found)
    if any(not given.get(needed) for needed in operation.needs):
        needed = " and ".join(f"'{each}'" for each in operation.needs)
        raise UsageError(f"{name} needs {needed}")
    query: dict[str, Any] = {"operation": name, **(operation.limits or {})}
    for ours, theirs in {**operation.names, **(operation.options or {})}.items():
        if given.get(ours):
            query[theirs] = given[ours]
    if "direction" in query:
        # W8: the server knows no "backward".
        query["direction"] = _DIRECTIONS.get(query["direction"].lower(), query["direction"].lower())
    return CodeQuestion(_seed(name, given), name, query)


def _seed(name: str, given: Mapping[str, Any]) -> str:
    if name == "delta":
        return str(given.get("name", ""))
    explicit = [given[each] for each in ("seed", *_SUBJECTS) if given.get(each)]
    targets = given.get("targets") or []
    return str(next(iter([*explicit, *targets]), name))


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usable arguments: short texts, lists of them, numbers from 1."""
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in _NUMBERS:
            number = _number(value)
            if number > 0:
                given[name] = number
        elif isinstance(value, str) and value.strip():
            text = value.strip()[:_LONGEST]
            given[name] = [text] if name in _LISTS else text
        elif isinstance(value, (list, tuple)):
            texts = [each.strip()[:_LONGEST] for each in value if isinstance(each, str)]
            if texts := [each for each in texts if each][:_MOST_NAMES]:
                given[name] = texts if name in _LISTS else texts[0]
    return given


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _as_text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else value[0]


def _number(value: Any) -> int:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value.strip()[:9])
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(min(max(value, 0), 1000)) if value == value else 0  # noqa: PLR0124 - not a number


def arguments_of(text: str) -> dict[str, Any]:
    """Read what a person wrote behind the command: a name, ``delta``, or an operation as JSON.

    Raises:
        UsageError: It looks like JSON and is none, or is none that says what to do.
    """
    text = text.strip()
    # W9: people copy the quotes of a shell along.
    for quote in _QUOTES:
        if len(text) > 1 and text[0] == text[-1] == quote:
            text = text[1:-1].strip()
            break
    if not text.startswith("{"):
        return {"operation": text.lower()} if text.lower() == "delta" else {"seed": text}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(
            "this looks like an operation in JSON but does not parse; write for example "
            '{"operation": "explore", "name": "PaymentService"}'
        ) from None
    if isinstance(found, dict) and isinstance(found.get("operation"), str):
        # In the server's own spelling this is a repository's name in the graph, no place of ours.
        named = found["operation"] == "delta" and "/" not in str(found.get("repo", "/"))
        return {**found, "name": found["repo"], "repo": ""} if named else found
    return {"seed": text}
