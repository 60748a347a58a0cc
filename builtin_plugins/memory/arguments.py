"""Takes the text behind a command apart: words, and options such as ``--file notes.md``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from cognee_hooks.errors import UsageError

_VALUE = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>\S+))"""
_WHOLE = re.compile(r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')(?P<bare>)""")
_QUOTED = re.compile(rf"(?<!\S){_VALUE}(?!\S)")


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stood behind a command.

    Attributes:
        written: All that is no option, as it was written.
        options: Values by the option's name.
        flags: Names of the options without a value.
    """

    written: str
    options: dict[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The text as prose; quotes around all of it only hold it together."""
        match = _WHOLE.fullmatch(self.written)
        return self.written if match is None else _value(match).strip()

    @property
    def words(self) -> list[str]:
        """The text as words; quotes hold words together."""
        return [_value(match) for match in _QUOTED.finditer(self.written)]


def parse(text: str, *, options: Collection[str] = (), flags: Collection[str] = ()) -> Arguments:
    """Take a command's text apart.

    Args:
        text: What the person typed. Prose may hold quotes, apostrophes and dashes; quotes around
            all of it only hold it together, and what is in them is no option.
        options: Names of options with a value, which may be quoted.
        flags: Names of options without one.

    Raises:
        UsageError: An option lacks its value.
    """
    found: dict[str, str] = {}
    set_flags: set[str] = set()
    if _WHOLE.fullmatch(text.strip()):
        return Arguments(text.strip())
    for name in options:
        pattern = re.compile(rf"(?<!\S)--{name}(?:=|\s+)(?!--){_VALUE}(?!\S)")
        if match := pattern.search(text):
            found[name] = _value(match)
            text = f"{text[: match.start()]} {text[match.end() :]}"
        elif re.search(rf"(?<!\S)--{name}(?!\S)", text):
            raise UsageError(f"--{name} needs a value behind it.")
    for name in flags:
        text, count = re.subn(rf"(?<!\S)--{name}(?!\S)", " ", text)
        if count:
            set_flags.add(name)
    return Arguments(text.strip(), found, frozenset(set_flags))


def _value(match: re.Match[str]) -> str:
    groups = (match["double"], match["single"], match["bare"])
    return next(each for each in groups if each is not None)
