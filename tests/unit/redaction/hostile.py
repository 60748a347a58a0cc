"""Redactors that do everything a redactor must not."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn


class Answer(NamedTuple):
    """What a redactor returns once."""

    value: Any


class NoText(str):
    """A text whose methods lie."""

    __slots__ = ()

    def __str__(self) -> str:
        raise ValueError(self[:])

    def __len__(self) -> int:
        return 1

    def isascii(self) -> bool:
        return True

    def encode(self, *_: Any) -> NoReturn:
        raise ValueError(self[:])


class _Own(BaseException):
    """What nobody expects."""


def raises(text: str) -> str:
    raise ValueError(text)


def raises_while_handling(text: str) -> str:
    try:
        raise KeyError(text)
    except KeyError as error:
        raise RuntimeError(text) from error


def exits(text: str) -> str:
    sys.exit(text)


def raises_base_exception(text: str) -> str:
    raise _Own(text)


def interrupts(text: str) -> str:
    raise KeyboardInterrupt(text)


def stops_iteration(text: str) -> str:
    raise StopIteration(text)


def cancels(text: str) -> str:
    raise asyncio.CancelledError(text)


def recurses(text: str) -> str:
    raise RecursionError(text)


def returns_none(text: str) -> Any:
    return None


def returns_bytes(text: str) -> Any:
    return text.encode()


def returns_list(text: str) -> Any:
    return [text]


def returns_a_lying_text(text: str) -> str:
    return NoText(text)


def grows(text: str) -> str:
    return text * 1000


FAULTS: list[Callable[[str], Any]] = [
    raises,
    raises_while_handling,
    exits,
    raises_base_exception,
    interrupts,
    stops_iteration,
    cancels,
    recurses,
    returns_none,
    returns_bytes,
    returns_list,
    returns_a_lying_text,
    grows,
]


def forever(release: threading.Event) -> Callable[[str], str]:
    """Return a redactor that answers only when it is released."""

    def function(text: str) -> str:
        release.wait(30)
        return text

    return function


class Unequal:
    """An object that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("not comparable")

    __hash__ = None  # type: ignore[assignment]
