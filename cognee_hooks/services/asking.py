"""What all routes share: how to ask, what may be sent, and what an answer must be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import stranger
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.wire import ServerAnswer, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.answers import DatasetRef

T = TypeVar("T")

Ask = Callable[[ServerCall, Deadline], Awaitable[ServerAnswer]]
"""Sends a request with the key and returns a good answer; all else raises `ServerFailure`."""


class Address(Protocol):
    """Leads to the dataset that the account in use means, the one such function for all routes."""

    async def __call__(self, dataset: DatasetRef, deadline: Deadline, *, write: bool) -> DatasetRef:
        """Return how the server is told which dataset.

        Args:
            dataset: The dataset as somebody named it.
            deadline: When to give up.
            write: Whether it is made where it is not there.

        Raises:
            ServerFailure: It cannot be found out now.
        """
        ...


def revealed(value: Redacted[T]) -> T:
    """Return what may leave the process: nothing that redaction has not seen.

    Raises:
        TypeError: The value did not go through redaction.
    """
    from cognee_hooks.redaction import Redacted

    if not isinstance(value, Redacted):
        raise TypeError(f"only redacted values are sent, not {type(value).__name__}")
    return value.value


def required_uuid(value: str) -> str:
    """Return an id that can stand in an address.

    Raises:
        ServerFailure: It is none.
    """
    identifier = canonical_uuid(value)
    if not identifier:
        raise ServerFailure(FailureKind.REJECTED, "not sent: an id is not a UUID", sent=False)
    return identifier


def put(body: dict[str, Any], snake: str, camel: str, value: object) -> None:
    """Set a field that servers of different age know under different spellings."""
    body[snake] = body[camel] = value


def expect(found: T | None, what: str) -> T:
    """Return what was read from an answer.

    Raises:
        ServerFailure: Nothing was: the answer is not one of a cognee server.
    """
    if found is None:
        raise stranger(what)
    return found
