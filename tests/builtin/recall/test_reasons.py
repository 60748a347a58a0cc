from __future__ import annotations

import pytest

from builtin_plugins.recall.reasons import reason_of
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import failure_of


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "auth failed"),
        (403, "no access to this dataset"),
        (404, "no cognee server at this URL"),
        (408, "rate limited"),
        (422, "request rejected"),
        (429, "rate limited"),
        (500, "server error"),
        (502, "server error"),
        (503, "server error"),
        (504, "server error"),
        (307, "no cognee server at this URL"),
    ],
)
def test_the_header_names_what_the_status_means(status, reason):
    assert reason_of(failure_of(status, {"detail": "x"})) == reason


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FailureKind.REFUSED, "server unreachable"),
        (FailureKind.UNREACHABLE, "server unreachable"),
        (FailureKind.LOST, "server unreachable"),
        (FailureKind.TIMED_OUT, "server not responding"),
    ],
)
def test_transport_failures_tell_unreachable_from_slow(kind, reason):
    assert reason_of(ServerFailure(kind)) == reason


def test_an_empty_memory_is_no_failure():
    failure = failure_of(404, {"detail": "Nothing here. [NoDataError]"}, empty_is_404=True)
    assert reason_of(failure) == ""


@pytest.mark.parametrize(
    "kind", [each for each in FailureKind if each is not FailureKind.NO_MEMORY]
)
def test_every_other_kind_has_a_reason(kind):
    assert reason_of(ServerFailure(kind))


def test_a_402_is_told_apart_from_what_else_needs_a_person():
    spent = ServerFailure(FailureKind.NEEDS_USER, status=402)
    assert reason_of(spent) == "out of credits"
    assert reason_of(ServerFailure(FailureKind.NEEDS_USER, status=409)) == "server needs attention"
