"""What every route checks: what goes out is redacted, what comes in has the form that it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cognee_hooks.services.outcome import stranger

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

T = TypeVar("T")


def revealed(value: Redacted[T]) -> T:
    """Return what may leave the process: nothing that redaction has not seen.

    Raises:
        TypeError: It did not go through redaction.
    """
    from cognee_hooks.redaction import Redacted

    if not isinstance(value, Redacted):
        raise TypeError(f"only redacted values are sent, not {type(value).__name__}")
    return value.value


def expect(found: T | None, what: str) -> T:
    """Return what was read from an answer.

    Args:
        found: The result of a reader, None where the answer is no such thing.
        what: What is wrong then, to follow "the answer".

    Raises:
        ServerFailure: Nothing was found.
    """
    if found is None:
        raise stranger(what)
    return found
