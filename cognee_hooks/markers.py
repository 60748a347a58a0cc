"""The marks that plugin authors and hookspecs put on functions.

A plugin needs one import, ``from cognee_hooks import hookimpl``. The module stays tiny so that a
plugin that is never called costs nothing to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from cognee_hooks.errors import CogneeHooksDeprecationWarning

PROJECT = "cognee_hooks"
PREFIX = "cognee_"
POLICY_ATTRIBUTE = "cognee_hooks_policy"

F = TypeVar("F", bound=Callable[..., Any])

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function or method of a plugin as an implementation of the hook of the same name.

Takes pluggy's options: ``tryfirst``, ``trylast``, ``wrapper``, ``optionalhook``, ``specname``.
"""

_pluggy_hookspec = pluggy.HookspecMarker(PROJECT)


class Kind(StrEnum):
    """How the results of a hook are used."""

    NOTIFY = "notify"
    """Everybody is told; results are ignored."""
    COLLECT = "collect"
    """All results that are not None, in plugin order; implementations run at the same time."""
    FIRST = "first"
    """Asked one after the other; the first result that is not None wins."""
    REGISTER = "register"
    """Called once at start; results are data that the host validates and runs under its rules."""
    REDACT = "redact"
    """The closed chain: registered as data, run by the host alone, never skipped on a fault."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How the host calls a hook. Written beside the spec, read by dispatcher, docs and tests.

    Attributes:
        kind: How results are used.
        budget: Seconds that one call of the hook may take in all.
        on_fault: What an exception, a timeout or rubbish from one implementation does, in words.
        in_order: A notify hook whose implementations run one after the other instead of together.
        detached: The host does not wait: implementations run as background work of the session.
        result: The type that an implementation returns, or None where results are ignored. Collect
            and register hooks also take a list of it.
        warn_on_impl: Told to whoever implements this deprecated hook.
        warn_on_impl_args: Told to whoever asks for one of these deprecated arguments, by name.
    """

    kind: Kind
    budget: float
    on_fault: str
    in_order: bool = False
    detached: bool = False
    result: type | None = None
    warn_on_impl: CogneeHooksDeprecationWarning | None = None
    warn_on_impl_args: Mapping[str, CogneeHooksDeprecationWarning] = field(default_factory=dict)

    @property
    def deprecations(self) -> list[str]:
        """What of the hook will go away, a sentence each."""
        of_hook = [self.warn_on_impl] if self.warn_on_impl is not None else []
        return [str(each) for each in (*of_hook, *self.warn_on_impl_args.values())]


def hookspec(
    kind: Kind,
    *,
    budget: float,
    on_fault: str,
    in_order: bool = False,
    detached: bool = False,
    result: type | None = None,
    warn_on_impl: CogneeHooksDeprecationWarning | None = None,
    warn_on_impl_args: Mapping[str, CogneeHooksDeprecationWarning] | None = None,
) -> Callable[[F], F]:
    """Declare a hook: pluggy's spec mark and our policy in one place.

    Pluggy has the two options about warnings as well. They are not handed to it because it warns in
    the middle of a registration, which a filter that turns warnings into errors would leave half
    done; the registry warns afterwards.

    Args:
        kind: How results are used.
        budget: Seconds for one call of the hook in all.
        on_fault: What a fault of one implementation does, in words for the hook table.
        in_order: See `Policy`.
        detached: See `Policy`.
        result: The type that an implementation returns.
        warn_on_impl: See `Policy`.
        warn_on_impl_args: See `Policy`.

    Returns:
        The decorator for the spec function.
    """
    policy = Policy(
        kind,
        budget,
        on_fault,
        in_order,
        detached,
        result,
        warn_on_impl,
        warn_on_impl_args or {},
    )

    def mark(function: F) -> F:
        setattr(function, POLICY_ATTRIBUTE, policy)
        return _pluggy_hookspec(firstresult=kind is Kind.FIRST)(function)

    return mark


def policy_of(function: Callable[..., Any]) -> Policy:
    """Return the policy of a spec function.

    Raises:
        AttributeError: The function was not declared with `hookspec`.
    """
    policy: Policy = getattr(function, POLICY_ATTRIBUTE)
    return policy
