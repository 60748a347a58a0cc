"""Every exception and warning of the project.

::

    CogneeHooksError
    ├── InstallRefused          an agent's files cannot be changed safely; nothing was changed
    ├── PluginError             a plugin cannot be used; says which and why
    │   └── PluginRefused       it breaks a rule of the framework
    ├── RedactionFailed         a payload could not be made safe and was dropped
    ├── ServerFailure           the cognee server did not do what was asked
    └── UsageError              a person gave a command something it cannot use

    CogneeHooksWarning (UserWarning)
    └── CogneeHooksDeprecationWarning
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CogneeHooksError(Exception):
    """Base of everything that this package raises on purpose."""


class InstallRefused(CogneeHooksError):
    """An agent's files cannot be changed safely.

    The message says which file, where in it, and what to do; nothing was changed.
    """


class PluginError(CogneeHooksError):
    """A plugin cannot be used.

    Attributes:
        plugin: The plugin's registered name.
    """

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


class PluginRefused(PluginError):
    """The plugin breaks a rule of the framework; the message is a full sentence for its author."""


class RedactionFailed(CogneeHooksError):
    """A payload could not be redacted, so it must not leave the process.

    Carries names only. The payload, the redactor's exception and its frames are left out, since
    they hold the text that was to be protected.

    Attributes:
        redactor: Name of the redactor that failed.
        cause_type: Type name of what it did wrong, such as ``ValueError`` or ``timeout``.
    """

    def __init__(self, redactor: str, cause_type: str) -> None:
        super().__init__(f"redactor {redactor!r} failed ({cause_type}); the payload was dropped")
        self.redactor = redactor
        self.cause_type = cause_type


class UsageError(CogneeHooksError):
    """A command line or setting that cannot be used; the message says what to do."""


class CallFailed(CogneeHooksError):
    """A call of a tool or command came to nothing; the message may be shown to anybody."""


class FailureKind(StrEnum):
    """What went wrong between us and the server, by what it means for the caller."""

    REFUSED = "refused"
    """Nothing listens there: the request was not sent."""
    UNREACHABLE = "unreachable"
    """No such host, no route, or the TLS handshake failed: the request was not sent."""
    TIMED_OUT = "timed_out"
    """No complete answer in time. The server may have done the work."""
    LOST = "lost"
    """The connection broke after something was sent. The server may have done the work."""
    AUTH = "auth"
    """401: the credentials are missing, wrong or expired."""
    FORBIDDEN = "forbidden"
    """403: this identity may not use that dataset, or it does not exist. The key is fine."""
    RATE_LIMITED = "rate_limited"
    """429: later."""
    NO_MEMORY = "no_memory"
    """404 with a name that says the dataset is empty or not there yet. Not an outage."""
    NOT_FOUND = "not_found"
    """404 otherwise: the route or object does not exist, so the URL may be wrong."""
    REJECTED = "rejected"
    """The request itself is wrong and will never be accepted."""
    UNAVAILABLE = "unavailable"
    """503: not done, worth another try."""
    SERVER_ERROR = "server_error"
    """500, 502, 504: the server may have done the work."""
    MODEL_DOWN = "model_down"
    """The server works, the model endpoint behind it does not."""
    NEEDS_USER = "needs_user"
    """Only a person can mend it: changed embedding model, spent budget."""
    MISCONFIGURED = "misconfigured"
    """Something answered that is not a cognee server: a redirect, a login page, a proxy."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    ambiguous: bool = False
    retryable: bool = False
    outage: bool = False


_MEANINGS = {
    FailureKind.REFUSED: _Meaning(retryable=True, outage=True),
    FailureKind.UNREACHABLE: _Meaning(retryable=True, outage=True),
    FailureKind.TIMED_OUT: _Meaning(ambiguous=True, retryable=True, outage=True),
    FailureKind.LOST: _Meaning(ambiguous=True, retryable=True, outage=True),
    FailureKind.AUTH: _Meaning(retryable=True),
    FailureKind.FORBIDDEN: _Meaning(retryable=True),
    FailureKind.RATE_LIMITED: _Meaning(retryable=True),
    FailureKind.NO_MEMORY: _Meaning(),
    FailureKind.NOT_FOUND: _Meaning(retryable=True),
    FailureKind.REJECTED: _Meaning(),
    FailureKind.UNAVAILABLE: _Meaning(retryable=True, outage=True),
    FailureKind.SERVER_ERROR: _Meaning(ambiguous=True, retryable=True, outage=True),
    FailureKind.MODEL_DOWN: _Meaning(ambiguous=True, retryable=True, outage=True),
    FailureKind.NEEDS_USER: _Meaning(retryable=True),
    FailureKind.MISCONFIGURED: _Meaning(ambiguous=True, retryable=True),
}


class ServerFailure(CogneeHooksError):
    """A request to the cognee server failed.

    Attributes:
        kind: What it means; decide on this, never on the text.
        status: HTTP status, or None where no answer came.
        name: The server's own error name (the bracketed word of its ``detail``), or "".
        detail: One bounded line of the server's text, without the echoed request.
        retry_after: Seconds that the server asked us to wait, or None.
        sent: Whether the request may have reached a cognee server.
    """

    def __init__(
        self,
        kind: FailureKind,
        detail: str = "",
        *,
        status: int | None = None,
        name: str = "",
        retry_after: float | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(f"{kind.value}: {detail}" if detail else kind.value)
        self.kind = kind
        self.status = status
        self.name = name
        self.detail = detail
        self.retry_after = retry_after
        self.sent = sent

    @property
    def ambiguous(self) -> bool:
        """Whether a write may have been stored although it failed for us."""
        return self.sent and _MEANINGS[self.kind].ambiguous

    @property
    def retryable(self) -> bool:
        """Whether the same write may succeed later; where False it never will."""
        return _MEANINGS[self.kind].retryable

    @property
    def outage(self) -> bool:
        """Whether this counts against the server in the circuit breaker."""
        return _MEANINGS[self.kind].outage


class CogneeHooksWarning(UserWarning):
    """Base of the warnings of this package."""


class CogneeHooksDeprecationWarning(CogneeHooksWarning, DeprecationWarning):
    """Something that plugin authors use will go away.

    Attributes:
        what: What will, as the subject of a sentence.
        since: First release that warned of it.
        removed_in: First release without it.
        instead: What to do, as a sentence.
    """

    def __init__(self, what: str, since: str, removed_in: str, instead: str) -> None:
        super().__init__(what, since, removed_in, instead)
        self.what = what
        self.since = since
        self.removed_in = removed_in
        self.instead = instead

    def __str__(self) -> str:
        """Return one line for the plugin's author."""
        return (
            f"{self.what} is deprecated since cognee-hooks {self.since} and goes away in "
            f"{self.removed_in}. {self.instead}"
        )
