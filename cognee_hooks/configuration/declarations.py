"""How a plugin declares an option, and what may stand for its value."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from cognee_hooks.configuration.values import (
    to_bool,
    to_choice,
    to_float,
    to_int,
    to_list,
    to_path,
    to_text,
)

METADATA = "cognee_hooks_option"
"""Key of a field's metadata under which `option` keeps the declaration."""

REFUSALS = (ValueError, TypeError, ArithmeticError, LookupError)
"""What a parser may raise for a value that it cannot use; a plugin's own is no exception."""

Parser = Callable[[object], Any]
"""Turns text, or what files and callers give, into an option's value; raises one of `REFUSALS`."""

_MAX_BITS = 64


class Narrow(StrEnum):
    """What a project's own file may do to an option."""

    NEVER = "never"
    SWITCH_OFF = "switch_off"
    """Set it to false."""
    ADD = "add"
    """Add items to the list."""
    CHOOSE = "choose"
    """Choose the value."""


@dataclass(frozen=True, slots=True)
class Option:
    """A declaration; the attributes are the arguments of `option`."""

    env: tuple[str, ...]
    parse: Callable[[str], Any] | None
    help: str
    secret: bool
    minimum: float | None
    narrow: Narrow
    separator: str

    def parser(self, hint: object, home: str) -> Parser:
        """Make the parser of the option's values.

        Args:
            hint: The field's resolved annotation.
            home: The user's home folder, for paths that start with ``~``.
        """
        inner = self.parse or _inferred(hint, self.separator, home)
        is_list = typing.get_origin(hint) is tuple

        def parse(raw: object) -> Any:
            if isinstance(raw, str):
                value = inner(raw)
            elif is_list and isinstance(raw, (list, tuple)):
                if not all(isinstance(item, str) for item in raw):
                    raise ValueError("must be a list of strings")
                value = inner(json.dumps(raw)) if self.parse else tuple(raw)
            elif isinstance(raw, bool) and hint is str:
                raise ValueError("must be text; put it in quotes")
            else:
                value = inner(_scalar(raw))
            if self.minimum is not None and value < self.minimum:
                raise ValueError(f"must be at least {self.minimum:g}")
            return value

        return parse

    def type_name(self, hint: object) -> str:
        """Say in words what a value is.

        Args:
            hint: The field's resolved annotation.
        """
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return " or ".join(each.value for each in hint)
        if typing.get_origin(hint) is tuple:
            return "list"
        return _TYPE_NAMES.get(hint, "text")

    def narrowed(self, value: Any, raw: object, parser: Parser) -> Any:
        """Return what a project's own file makes of a value.

        Args:
            value: The value from the user's own sources.
            raw: What the project's file says.
            parser: The option's parser.

        Raises:
            ValueError: It would do something else than narrow.
        """
        if self.narrow is Narrow.SWITCH_OFF and parser(raw) is False:
            return False
        if self.narrow is Narrow.ADD:
            return (*value, *(item for item in parser(raw) if item not in value))
        if self.narrow is Narrow.CHOOSE and str(raw).strip():
            return parser(raw)
        raise ValueError(_ONLY[self.narrow])


_TYPE_NAMES: dict[object, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    Path: "path",
}

_ONLY = {
    Narrow.NEVER: "can only be set in your own configuration",
    Narrow.SWITCH_OFF: "can only be switched off",
    Narrow.CHOOSE: "must have a value",
}


def option(
    *,
    default: Any,
    help: str,  # noqa: A002 - the word that argparse and every command line use
    env: str | tuple[str, ...] = "",
    parse: Callable[[str], Any] | None = None,
    secret: bool = False,
    minimum: float | None = None,
    narrow: Narrow = Narrow.NEVER,
    separator: str = ",",
) -> Any:
    """Declare an option as a field of a frozen dataclass.

    Args:
        default: Value where nobody sets one.
        help: One line for people.
        env: Environment variable, or several, the first of which wins.
        parse: Turns text into the value, or raises ``ValueError`` with words that follow the name
            of the setting; by default chosen by the field's annotation: bool, int, float, str,
            Path, a StrEnum or a tuple of str. A list in a file reaches it as a JSON array.
        secret: The value is never shown.
        minimum: Smallest number that makes sense.
        narrow: What a project's own file may do.
        separator: Between the items of a list in an environment variable.
    """
    names = (env,) if isinstance(env, str) and env else tuple(env)
    declared = Option(names, parse, help, secret, minimum, narrow, separator)
    return field(default=default, repr=not secret, metadata={METADATA: declared})


def _inferred(hint: object, separator: str, home: str) -> Callable[[str], Any]:
    simple: dict[object, Callable[[str], Any]] = {
        bool: to_bool,
        int: to_int,
        float: to_float,
        Path: partial(to_path, home=home),
    }
    if hint in simple:
        return simple[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return partial(to_choice, hint)
    if typing.get_origin(hint) is tuple:
        return partial(to_list, separator=separator)
    return to_text


def _scalar(raw: object) -> str:
    """Return a typed value as the text that would stand for it in a variable."""
    if isinstance(raw, bool):
        return str(raw).lower()
    # Beyond the bound, str() itself may refuse.
    if isinstance(raw, int) and raw.bit_length() > _MAX_BITS:
        raise ValueError("is out of range")
    if isinstance(raw, (int, float, PurePath)):
        return str(raw)
    raise ValueError(f"cannot be a {type(raw).__name__}")
