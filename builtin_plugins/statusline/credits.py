"""What is left of a cloud server's credits, as the cognee plugins note it in a shared file.

The file maps tenants to objects ``{"base_url", "remaining_usd", "checked_at", "last_op"?: {"label",
"cost_usd"}, "payment_required"?: {"op", "at"}}``, of which the last says that the server answered
an operation with 402. Another program writes it, so nothing in it is taken on trust.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from cognee_hooks.services.statefile import read_object

MAX_BYTES = 64_000
"""An entry has some hundred bytes, and parsing more would hold a rendering up."""
FRESH_SECONDS = 900
"""An older balance is shown with its age."""
KEPT_SECONDS = 7 * 24 * 3600
"""An older balance is not shown."""
REFUSED_SECONDS = 24 * 3600
"""An older 402 is not shown: who noted it may not have been at work since the credits came."""
LOW_DOLLARS = 1.0
"""At and below this balance the line says where to buy more."""
MAX_LABEL = 24

_MILLISECONDS_FROM = 1e11
_LIMIT = 1e15
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Balance:
    """What a file says about one server.

    Attributes:
        remaining: US dollars; may be negative.
        checked_at: Epoch seconds.
        label: Name of the last paid operation, or "".
        cost: Its price in US dollars.
    """

    remaining: float
    checked_at: float
    label: str = ""
    cost: float = 0.0

    def age(self, now: float) -> float:
        """Return the age in seconds; a balance from the future is new."""
        return max(0.0, now - self.checked_at)

    def forms(self, now: float, billing_url: str) -> tuple[str, ...]:
        """Return what to show, the longest first: next without the age, then without the operation.

        Args:
            now: Epoch seconds.
            billing_url: Where to buy more.
        """
        age = self.age(now)
        balance = f"credits: {dollars(self.remaining)}"
        hint = f" ({age_text(age)})" if age > FRESH_SECONDS else ""
        last = f" · last {self.label} ~{dollars(self.cost)}" if self.label else ""
        more = f" · top up: {billing_url}" if self.remaining <= LOW_DOLLARS else ""
        forms = (balance + hint + last + more, balance + last + more, balance + more)
        return tuple(dict.fromkeys(forms))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A 402 of one server.

    Attributes:
        operation: What it refused.
        at: Epoch seconds.
    """

    operation: str
    at: float

    def age(self, now: float) -> float:
        """Return the age in seconds; a refusal from the future is new."""
        return max(0.0, now - self.at)

    def forms(self, now: float, billing_url: str) -> tuple[str, ...]:
        """Return what to show, the longest first; see `Balance.forms`."""
        short = "out of credits"
        told = f"{short}: {self.operation} refused ({age_text(self.age(now))})"
        return f"{told} · top up: {billing_url}", told, short


class CreditsFile:
    """Reads what is noted about one server, again only after the file has changed.

    Args:
        path: The file.
        base_url: The server's address, without a trailing slash.
    """

    def __init__(self, path: Path, base_url: str) -> None:
        self._path = path
        self._base_url = base_url
        self._seen: tuple[int, ...] = ()
        self._balances: list[Balance] = []
        self._refusals: list[Refusal] = []

    def balance(self, now: float) -> Balance | None:
        """Return the first balance that is not too old; None where there is none.

        Args:
            now: Epoch seconds.
        """
        self._look()
        return next((each for each in self._balances if each.age(now) <= KEPT_SECONDS), None)

    def refusal(self, now: float) -> Refusal | None:
        """Return the latest 402, unless it is too old or credits were seen since; else None.

        Args:
            now: Epoch seconds.
        """
        self._look()
        latest = max(self._refusals, key=lambda each: each.at, default=None)
        if latest is None or latest.age(now) > REFUSED_SECONDS:
            return None
        paid = any(each.remaining > 0 and each.checked_at > latest.at for each in self._balances)
        return None if paid else latest

    def _look(self) -> None:
        try:
            facts = self._path.stat()
        except (OSError, ValueError):
            self._seen, self._balances, self._refusals = (), [], []
            return
        seen = (facts.st_mtime_ns, facts.st_size, facts.st_ino, facts.st_dev)
        if seen != self._seen:
            entries = read_object(self._path, max_bytes=MAX_BYTES)
            self._balances = list(balances(entries, self._base_url))
            self._refusals = list(refusals(entries, self._base_url))
            self._seen = seen


def balances(entries: Mapping[str, Any], base_url: str) -> Iterator[Balance]:
    """Yield the usable balances of a server.

    Args:
        entries: The file's content.
        base_url: The server's address, without a trailing slash; "" for none.
    """
    for entry in _of(entries, base_url):
        remaining, checked_at = _real(entry.get("remaining_usd")), _moment(entry.get("checked_at"))
        if remaining is not None and checked_at is not None:
            yield Balance(remaining, checked_at, *_last_operation(entry.get("last_op")))


def refusals(entries: Mapping[str, Any], base_url: str) -> Iterator[Refusal]:
    """Yield the usable notes of a server's 402; see `balances`."""
    for entry in _of(entries, base_url):
        note = entry.get("payment_required")
        at = _moment(note.get("at")) if isinstance(note, dict) else None
        if isinstance(note, dict) and at is not None:
            operation = note.get("op")
            named = operation[:MAX_LABEL].strip() if isinstance(operation, str) else ""
            yield Refusal(named or "an operation", at)


def _of(entries: Mapping[str, Any], base_url: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a server."""
    for entry in entries.values():
        url = entry.get("base_url") if isinstance(entry, dict) else None
        if base_url and isinstance(url, str) and url.rstrip("/") == base_url:
            yield entry


def _moment(value: object) -> float | None:
    """Return epoch seconds, be they noted in seconds or in milliseconds."""
    number = _real(value)
    return number if number is None or number < _MILLISECONDS_FROM else number / 1000


def _last_operation(value: object) -> tuple[str, float]:
    if not isinstance(value, dict):
        return "", 0.0
    label, cost = value.get("label"), _real(value.get("cost_usd"))
    if not isinstance(label, str) or cost is None:
        return "", 0.0
    return label[:MAX_LABEL].strip(), cost


def _real(value: object) -> float | None:
    """Return a finite number; None for everything else, texts, null and truth values too."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Integers may be too large for a float, but not for a comparison, which no NaN passes.
    return float(value) if -_LIMIT < value < _LIMIT else None


def dollars(amount: float) -> str:
    """Return an amount as in ``-$1,234.50``, halves of a cent rounded away from zero."""
    cents = Decimal(amount).quantize(_CENT, ROUND_HALF_UP)
    return f"{'-' if cents < 0 else ''}${abs(cents):,}"


def age_text(seconds: float) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    if seconds < _MINUTE:
        return "0m ago"
    if seconds < _HOUR:
        return f"{max(1, _rounded(seconds / _MINUTE))}m ago"
    if seconds < _DAY:
        return f"{_rounded(seconds / _HOUR)}h ago"
    return f"{_rounded(seconds / _DAY)}d ago"


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)
