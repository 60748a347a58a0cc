"""Makes short names of symbols full ones.

A symbol's full name begins with its folder and module, such as ``src/pay.PaymentService.refund``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from builtin_plugins.code_lane.operations import CodeQuestion

_SINGLE = ("name", "start", "source", "target")
_FINDING = "insight"


def names_of(question: CodeQuestion) -> list[str]:
    """Return the names that a question is about."""
    query = question.code_query or {"name": question.seed}
    single = [query.get(key) for key in _SINGLE]
    targets = query.get("targets")
    names = [each for each in single if isinstance(each, str)]
    return names + (targets if isinstance(targets, list) else [])


def resolve(name: str, facts: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the full name of the one symbol that a name stands for.

    Args:
        name: A full name or the end of one.
        facts: Whatever has the name in it.

    Returns:
        The full name; None where none or several fit. Findings are no symbols.
    """
    full = {
        str(fact.get("name"))
        for fact in facts
        if fact.get("kind") != _FINDING and _fits(name, str(fact.get("name")))
    }
    return full.pop() if len(full) == 1 else None


def renamed(question: CodeQuestion, full: Mapping[str, str]) -> CodeQuestion:
    """Return a question with names replaced.

    Args:
        question: The question.
        full: The new names by the old ones.
    """
    query = dict(question.code_query or {})
    for key in _SINGLE:
        if key in query:
            query[key] = full.get(query[key], query[key])
    if isinstance(query.get("targets"), list):
        query["targets"] = [full.get(each, each) for each in query["targets"]]
    return replace(question, code_query=query)


def _fits(name: str, whole: str) -> bool:
    return whole == name or whole.endswith((f".{name}", f"/{name}"))
