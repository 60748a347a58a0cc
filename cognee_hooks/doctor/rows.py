"""Makes rows, and makes rows safe to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cognee_hooks.printable import one_line
from cognee_hooks.redaction import RedactionPipeline, names_secret
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.settings import MASK, without_passwords

if TYPE_CHECKING:
    from cognee_hooks.host import Host

MAX_NAME = 40
MAX_TEXT = 600

_MIN_SECRET = 6
"""Characters of the shortest value that is masked wherever it stands; shorter ones are words."""
_FOLDERS = frozenset({"OLDPWD", "PWD"})
"""What shells say of where they are; a password of that name would not live to the next `cd`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A row and whose it is.

    Attributes:
        row: The row.
        plugin: The plugin that wrote it; "" for the core.
    """

    row: CheckResult
    plugin: str = ""


def ok(name: str, detail: str) -> CheckResult:
    """Return a row of something that is well."""
    return CheckResult(name=name, status=CheckStatus.OK, detail=detail)


def info(name: str, detail: str, remedy: str = "") -> CheckResult:
    """Return a row of something to know."""
    return CheckResult(name=name, status=CheckStatus.INFO, detail=detail, remedy=remedy)


def warning(name: str, detail: str, remedy: str) -> CheckResult:
    """Return a row of something that works, and not as well as it should."""
    return CheckResult(name=name, status=CheckStatus.WARNING, detail=detail, remedy=remedy)


def failed(name: str, detail: str, remedy: str) -> CheckResult:
    """Return a row of something that does not work."""
    return CheckResult(name=name, status=CheckStatus.FAILED, detail=detail, remedy=remedy)


def worst(rows: Sequence[CheckResult]) -> CheckStatus:
    """Return the worst status of all rows."""
    order: Callable[[CheckStatus], int] = list(CheckStatus).index
    return max((row.status for row in rows), key=order, default=CheckStatus.OK)


class Masker:
    """Takes out of texts what may be secret: known values, passwords in URLs, what rules know.

    The rules are the built-in ones and always on: doctor is run where redaction is switched off,
    too.

    Args:
        secrets: Values that must not be shown.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(
            {each for each in secrets if len(each) >= _MIN_SECRET}, key=len, reverse=True
        )
        self._rules = RedactionPipeline()

    @classmethod
    def of(cls, host: Host) -> Masker:
        """Return the masker that knows the secrets of a host's settings."""
        core = host.core
        known = [core.api_key, core.user_password, host.credentials.known_value]
        return cls([*known, *secrets_in(host.settings.environ, host.settings.env_values)])

    def text(self, text: str) -> str:
        """Return a text, which may have several lines, without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return self._rules.explain(without_passwords(text))[0]

    def row(self, row: CheckResult) -> CheckResult:
        """Return a row without secrets, each part of it on one line of bounded length."""
        return CheckResult(
            name=self._part(row.name, MAX_NAME),
            status=row.status,
            detail=self._part(row.detail, MAX_TEXT),
            remedy=self._part(row.remedy, MAX_TEXT),
        )

    def _part(self, text: str, limit: int) -> str:
        # Masked before it is cut, since half of a secret has lost its shape.
        line = one_line(self.text(str(text)[: 4 * MAX_TEXT]))
        return line if len(line) <= limit else f"{line[: limit - 1]}…"


def secrets_in(*variables: Mapping[str, str]) -> list[str]:
    """Return the values of all variables whose names tell of a secret."""
    return [
        value.strip()
        for each in variables
        for name, value in each.items()
        if value.strip() and name not in _FOLDERS and names_secret(name)
    ]
