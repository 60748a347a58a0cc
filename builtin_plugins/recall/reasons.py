"""Why recall brought nothing, in the words of the one-line header."""

from __future__ import annotations

from cognee_hooks.errors import FailureKind, ServerFailure

BREAKER_OPEN = "circuit breaker open"
OFFLINE = "server unreachable"
NOT_REDACTED = "prompt could not be redacted"
NO_CREDITS = "out of credits"

_PAYMENT_REQUIRED = 402

_REASONS = {
    FailureKind.REFUSED: OFFLINE,
    FailureKind.UNREACHABLE: OFFLINE,
    FailureKind.LOST: OFFLINE,
    FailureKind.TIMED_OUT: "server not responding",
    FailureKind.AUTH: "auth failed",
    FailureKind.FORBIDDEN: "no access to this dataset",
    FailureKind.RATE_LIMITED: "rate limited",
    FailureKind.NOT_FOUND: "no cognee server at this URL",
    FailureKind.MISCONFIGURED: "no cognee server at this URL",
    FailureKind.REJECTED: "request rejected",
    FailureKind.UNAVAILABLE: "server error",
    FailureKind.SERVER_ERROR: "server error",
    FailureKind.MODEL_DOWN: "server's model not responding",
    FailureKind.NEEDS_USER: "server needs attention",
}


def reason_of(failure: ServerFailure) -> str:
    """Return the reason for the header; "" where the failure only means "no memory yet"."""
    if failure.status == _PAYMENT_REQUIRED:
        return NO_CREDITS
    return _REASONS.get(failure.kind, "")
