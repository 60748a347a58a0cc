"""What calling a hook came to, and whether it can be used."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cognee_hooks.guard import attempt
from cognee_hooks.markers import Kind, Policy


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one implementation did in one call.

    Attributes:
        plugin: Registered name.
        result: What it returned; None on a fault.
        seconds: Wall time.
        fault: Exception type name, a `FaultType`, or "" where all went well.
    """

    plugin: str
    result: Any = None
    seconds: float = 0.0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """What one call of a hook came to.

    Attributes:
        value: As from pluggy: the list of results that are not None, or the first of them for a
            first-result hook.
        outcomes: One for each implementation that was called, in call order.
    """

    value: Any
    outcomes: tuple[Outcome, ...]


def value_of(policy: Policy, outcomes: Sequence[Outcome]) -> Any:
    """Return the value of a call, as pluggy would: the results that are not None, or the first."""
    results = [outcome.result for outcome in outcomes if outcome.result is not None]
    if policy.kind is Kind.FIRST:
        return results[0] if results else None
    return results


def flat(results: Iterable[Any]) -> list[Any]:
    """Flatten what a gathering hook returned: values and lists of them."""
    found: list[Any] = []
    for result in results:
        found.extend(result if isinstance(result, (list, tuple)) else [result])
    return found


def usable(policy: Policy, result: Any) -> bool:
    """Whether what an implementation returned is what the hook asks for.

    Looking at a foreign object may run its code, such as a property of that name on its class;
    whatever that raises makes the result unusable.
    """
    return attempt(_acceptable, policy, result).result is True


def _acceptable(policy: Policy, result: Any) -> bool:
    """Whether a result is of the hook's type: one value, or for gathering kinds a list of them."""
    if inspect.isawaitable(result) or inspect.isasyncgen(result):
        return False
    if policy.result is None or result is None or issubclass(type(result), policy.result):
        return True
    if policy.kind is Kind.FIRST or type(result) not in {list, tuple}:
        return False
    return all(issubclass(type(each), policy.result) for each in result)


def usable_value(policy: Policy, value: Any) -> bool:
    """Whether a wrapper's answer can stand for the value of the whole call."""
    return attempt(_acceptable_value, policy, value).result is True


def _acceptable_value(policy: Policy, value: Any) -> bool:
    if policy.kind is Kind.FIRST:
        return _acceptable(policy, value)
    return type(value) in {list, tuple} and all(
        each is not None and _acceptable(policy, each) for each in value
    )
