"""Rows about the server: whether it answers, as whom it knows us, what time it is there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cognee_hooks.doctor.rows import failed, info, ok, warning
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import CheckResult
from cognee_hooks.services.address import bare, is_loopback

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.host import Host
    from cognee_hooks.services.answers import Health

HEALTH_SECONDS = 3.0
SKEW_SECONDS = 60.0
"""Clocks that are further apart are told: what expires on one of them expires wrongly."""


async def checks(host: Host, deadline: Deadline) -> list[CheckResult]:
    """Return all rows."""
    if host.mode.missing_base_url:
        return []
    started = time.monotonic()
    try:
        health = await host.services.client.health(deadline.within(HEALTH_SECONDS))
    except ServerFailure as failure:
        return [_unreachable(host, failure)]
    milliseconds = (time.monotonic() - started) * 1000
    version = health.version or "of unknown version"
    kind = "embedded server" if health.embedded else "cognee"
    found = f"{kind} {version} at {bare(host.mode.url)} answered in {milliseconds:.0f} ms"
    reachable = (
        ok("server", found)
        if health.ready
        else warning(
            "server", f"{found}, but says that it is not ready", "look at the server's own log"
        )
    )
    return [reachable, *_clock(health), *await _identity(host, deadline)]


def _unreachable(host: Host, failure: ServerFailure) -> CheckResult:
    return failed("server", f"{bare(host.mode.url)}: {failure}", _remedy(host, failure))


def _remedy(host: Host, failure: ServerFailure) -> str:
    foreign = failure.kind in {FailureKind.MISCONFIGURED, FailureKind.NOT_FOUND}
    if foreign and not host.mode.explicit_url:
        return "another program holds the local server's port: end that, then run `cognee-hooks up`"
    if foreign:
        return "this is not a cognee server: correct COGNEE_BASE_URL"
    return (
        "start the server (`cognee-hooks up`, or `cognee-hooks server` for the small one) or "
        "correct COGNEE_BASE_URL; the agent itself works without it"
    )


def _clock(health: Health) -> list[CheckResult]:
    if health.date is None:
        return []
    apart = health.date - time.time()
    if abs(apart) < SKEW_SECONDS:
        return [ok("clock", "the server's is right, to the minute")]
    direction = "ahead" if apart > 0 else "behind"
    return [
        warning(
            "clock",
            f"the server's is {abs(apart):.0f} s {direction} of ours",
            "set both by a time server; keys and tokens expire by the clock",
        )
    ]


async def _identity(host: Host, deadline: Deadline) -> list[CheckResult]:
    client = host.services.client
    try:
        single_user = await client.single_user(deadline)
        who = await client.whoami(deadline)
    except ServerFailure as failure:
        return [_no_key(host) if _lacks_key(host, failure) else _refused(host, failure)]
    rows = [ok("key", f"{host.credentials.source}, known as {who.email or who.id}")]
    if single_user:
        rows.append(
            warning(
                "access control",
                "off: all datasets of this server share one store",
                "start the server with ENABLE_BACKEND_ACCESS_CONTROL=true to keep projects apart",
            )
        )
    return rows


def _lacks_key(host: Host, failure: ServerFailure) -> bool:
    return failure.kind is FailureKind.AUTH and not host.credentials.known_value


def _no_key(host: Host) -> CheckResult:
    problem = host.services.keys.problem
    if problem:
        return failed(
            "key",
            f"none, and none could be made: {problem}",
            "start the server with DEFAULT_USER_PASSWORD equal to COGNEE_USER_PASSWORD, or set "
            "COGNEE_API_KEY",
        )
    if is_loopback(host.mode.url):
        return info("key", "none yet; one is made when an agent first needs it")
    return failed("key", "none is set", "set COGNEE_API_KEY; on this server none is made for you")


def _refused(host: Host, failure: ServerFailure) -> CheckResult:
    return failed(
        "key",
        f"{host.credentials.source}: {failure}",
        "correct COGNEE_API_KEY, or remove it to have a key made on a local server",
    )
