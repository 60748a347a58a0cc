"""Reading fields out of a JSON object, collecting everything that is wrong with them.

The list of problems has the form that request validation has in the cognee 1.6 HTTP contract
(``type``, ``loc``, ``msg``, ``input``).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from cognee_hooks.embedded.errors import validation

T = TypeVar("T")


class _Required(Enum):
    """Marks a field that must be there (an enum, so that type checkers see a single value)."""

    TOKEN = 0


REQUIRED = _Required.TOKEN


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


class Fields:
    """Typed access to one JSON object.

    Attributes:
        issues: What was wrong so far. A wrong field reads as an empty value of its type, so that
            one pass finds every problem; call :meth:`check` before using the values.
    """

    def __init__(self, value: Mapping[str, Any], *loc: str | int, camel: bool = False) -> None:
        """Read from ``value``.

        Args:
            value: The JSON object.
            *loc: Where it stands in the request, for the problems' ``loc``.
            camel: Accept every field's name in camelCase, too.
        """
        self._value = value
        self._loc = list(loc)
        self._camel = camel
        self.issues: list[dict[str, Any]] = []

    def check(self, body: Any) -> None:
        """Raise the 400 answer if anything was wrong.

        Args:
            body: The whole request body, echoed in the answer.

        Raises:
            ApiError: Status 400 with every problem found.
        """
        if self.issues:
            raise validation(self.issues, body)

    def text(self, name: str, default: str | _Required = REQUIRED) -> str:
        """A string that may not be null."""
        value = self._get(name, default)
        if isinstance(value, str):
            return value
        return self._wrong(name, "string_type", "Input should be a valid string", value, "")

    def optional_text(self, name: str) -> str | None:
        """A string, or None where it is null or absent."""
        return None if self._get(name, None) is None else self.text(name)

    def flag(self, name: str, *, default: bool) -> bool:
        """A boolean, also as the words that forms use for it."""
        value = self._get(name, default)
        match value:
            case bool():
                return value
            case "true" | "True" | "1" | 1:
                return True
            case "false" | "False" | "0" | 0:
                return False
        message = "Input should be a valid boolean, unable to interpret input"
        return self._wrong(name, "bool_parsing", message, value, False)

    def integer(self, name: str, default: int | None) -> int | None:
        """An integer, or the default where it is null or absent."""
        value = self._get(name, default)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return self._wrong(name, "int_type", "Input should be a valid integer", value, default)

    def choice(self, name: str, options: Sequence[str], default: str) -> str:
        """One of several words."""
        value = self._get(name, default)
        if isinstance(value, str) and value in options:
            return value
        listed = " or ".join(repr(option) for option in options)
        return self._wrong(name, "literal_error", f"Input should be {listed}", value, default)

    def identifier(self, name: str) -> str | None:
        """A UUID in its usual spelling, or None where it is null or absent."""
        value = self._get(name, None)
        return None if value is None else self._uuid(value, name)

    def identifiers(self, name: str) -> list[str]:
        """A list of UUIDs; null or absent is empty."""
        return [self._uuid(value, name, index) for index, value in enumerate(self._list(name))]

    def texts(self, name: str) -> list[str]:
        """A list of strings; null or absent is empty."""
        values = self._list(name)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self._add("string_type", "Input should be a valid string", value, name, index)
        return [value for value in values if isinstance(value, str)]

    def mapping(self, name: str) -> dict[str, Any] | None:
        """A JSON object, or None where it is null or absent."""
        value = self._get(name, None)
        if value is None or isinstance(value, dict):
            return value
        message = "Input should be a valid dictionary"
        self._add("dict_type", message, value, name)
        return None

    def anything(self, name: str) -> Any:
        """Any JSON value; absent is None."""
        return self._get(name, None)

    def _list(self, name: str) -> list[Any]:
        value = self._get(name, None)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        return self._wrong(name, "list_type", "Input should be a valid list", value, [])

    def _uuid(self, value: Any, *loc: str | int) -> str:
        try:
            return str(uuid.UUID(value))
        except (ValueError, AttributeError, TypeError):
            self._add("uuid_parsing", "Input should be a valid UUID", value, *loc)
            return ""

    def _get(self, name: str, default: Any) -> Any:
        if name in self._value:
            return self._value[name]
        if self._camel and _camel(name) in self._value:
            return self._value[_camel(name)]
        if default is not REQUIRED:
            return default
        self._add("missing", "Field required", dict(self._value), name)
        return ""

    def _wrong(self, name: str, kind: str, message: str, value: Any, instead: T) -> T:
        self._add(kind, message, value, name)
        return instead

    def _add(self, kind: str, message: str, value: Any, *loc: str | int) -> None:
        issue = {"type": kind, "loc": [*self._loc, *loc], "msg": message, "input": value}
        self.issues.append(issue)
