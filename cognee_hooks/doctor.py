"""The checks of ``cognee-hooks doctor``: the core's own and every plugin's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure
from cognee_hooks.registry import PluginState
from cognee_hooks.results import CheckResult, CheckStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from cognee_hooks.host import Host

OK, INFO, WARNING, FAILED = (
    CheckStatus.OK,
    CheckStatus.INFO,
    CheckStatus.WARNING,
    CheckStatus.FAILED,
)

_SENTENCE = "A plain sentence without anything secret in it."


async def examine(host: Host, deadline: Deadline) -> list[CheckResult]:
    """Run all checks.

    Args:
        host: The host to examine; it needs not be started.
        deadline: When to be done.

    Returns:
        One row a check, the core's first.
    """
    return [
        _mode(host),
        *_settings(host),
        *await _server(host, deadline),
        await _redaction(host),
        *_plugins(host),
        *await _plugin_checks(host, deadline),
    ]


def _mode(host: Host) -> CheckResult:
    mode = host.mode
    if mode.missing_base_url:
        return CheckResult(
            name="mode",
            status=FAILED,
            detail=f"{mode.backend}: {mode.reason}, but there is no URL",
            remedy="set COGNEE_BASE_URL to the address of the server",
        )
    return CheckResult(name="mode", status=OK, detail=f"{mode.backend} {mode.url}: {mode.reason}")


def _settings(host: Host) -> list[CheckResult]:
    problems = [
        CheckResult(
            name="settings",
            status=WARNING,
            detail=f"{problem.source}: {problem.message}",
            remedy="see `cognee-hooks config`",
        )
        for problem in host.settings.problems
    ]
    if problems:
        return problems
    sources = sorted({row.source for row in host.settings.rows()} - {"default"})
    detail = f"from {', '.join(sources)}" if sources else "all defaults"
    return [CheckResult(name="settings", status=OK, detail=detail)]


async def _server(host: Host, deadline: Deadline) -> list[CheckResult]:
    if host.mode.missing_base_url:
        return []
    started = time.monotonic()
    try:
        health = await host.services.client.health(deadline)
    except ServerFailure as failure:
        return [_unreachable(host, failure)]
    milliseconds = (time.monotonic() - started) * 1000
    reachable = CheckResult(
        name="server",
        status=OK if health.ready else WARNING,
        detail=f"cognee {health.version or 'of unknown version'} at {host.mode.url} answered in "
        f"{milliseconds:.0f} ms{'' if health.ready else ', but says that it is not ready'}",
        remedy="" if health.ready else "look at the server's own log",
    )
    return [reachable, *await _identity(host, deadline)]


def _unreachable(host: Host, failure: ServerFailure) -> CheckResult:
    foreign = failure.kind in {FailureKind.MISCONFIGURED, FailureKind.NOT_FOUND}
    return CheckResult(
        name="server",
        status=FAILED,
        detail=f"{host.mode.url}: {failure}",
        remedy="this is not a cognee server: correct COGNEE_BASE_URL"
        if foreign
        else "start the server (`cognee-hooks server` runs a small local one) or correct "
        "COGNEE_BASE_URL; the agent itself works without it",
    )


async def _identity(host: Host, deadline: Deadline) -> list[CheckResult]:
    client = host.services.client
    try:
        who = await client.whoami(deadline)
        single_user = await client.single_user(deadline)
        key = await host.credentials.key(deadline)
    except ServerFailure as failure:
        return [
            CheckResult(
                name="key",
                status=FAILED,
                detail=f"{host.services.keys.source}: {failure}",
                remedy="correct COGNEE_API_KEY, or remove it to have a key made on a local server",
            )
        ]
    rows = [
        CheckResult(
            name="key",
            status=OK,
            detail=f"{key.source if key else 'none needed'}, known as {who.email or who.id}",
        )
    ]
    if single_user:
        rows.append(
            CheckResult(
                name="access control",
                status=WARNING,
                detail="off: all datasets of this server share one store",
                remedy="start the server with ENABLE_BACKEND_ACCESS_CONTROL=true to keep projects "
                "apart",
            )
        )
    return rows


async def _redaction(host: Host) -> CheckResult:
    if host.redaction.closed_because:
        return CheckResult(
            name="redaction",
            status=FAILED,
            detail=host.redaction.closed_because,
            remedy="nothing is sent until this is mended; see `cognee-hooks plugins --all`",
        )
    if not host.core.redact:
        return CheckResult(
            name="redaction",
            status=WARNING,
            detail="switched off: secrets leave this machine",
            remedy="remove COGNEE_CAPTURE_REDACT=false",
        )
    try:
        await host.redaction.redact(_SENTENCE)
    except RedactionFailed as failure:
        return CheckResult(
            name="redaction",
            status=FAILED,
            detail=f"redactor {failure.redactor!r} fails ({failure.cause_type}) even on a plain "
            "sentence, so nothing is captured or sent",
            remedy="mend the plugin that brings it, or block it; see `cognee-hooks plugins`",
        )
    names = ", ".join(host.registered.redactors) or "none"
    return CheckResult(name="redaction", status=OK, detail=f"built-in rules; others: {names}")


def _plugins(host: Host) -> list[CheckResult]:
    rows = [_of_plugin(host, problem) for problem in host.registry.problems]
    active = 0
    for record in host.registry.records:
        faults = host.faults.rows(record.name)
        if record.state is PluginState.FAILED:
            rows.append(
                CheckResult(
                    name=f"plugin {record.name}",
                    status=FAILED,
                    detail=f"{record.distribution or 'no package'}: {record.reason}",
                    remedy="mend or remove the plugin; everything else works without it",
                )
            )
        elif record.state is PluginState.ACTIVE:
            active += 1
            if faults:
                counted = ", ".join(f"{f.error_type} in {f.hook} x{f.count}" for f in faults)
                rows.append(_of_plugin(host, f"{record.name}: {counted}"))
    return [CheckResult(name="plugins", status=OK, detail=f"{active} active"), *rows]


def _of_plugin(_: Host, detail: str) -> CheckResult:
    return CheckResult(
        name="plugins", status=WARNING, detail=detail, remedy="see `cognee-hooks plugins --all`"
    )


async def _plugin_checks(host: Host, deadline: Deadline) -> list[CheckResult]:
    called = await host.dispatcher.call("cognee_doctor_checks", deadline=deadline)
    rows: list[CheckResult] = []
    for outcome in called.outcomes:
        if outcome.fault:
            rows.append(
                CheckResult(
                    name=f"plugin {outcome.plugin}",
                    status=FAILED,
                    detail=f"its own check failed ({outcome.fault})",
                    remedy="report this to the plugin's author",
                )
            )
        elif isinstance(outcome.result, (list, tuple)):
            rows.extend(outcome.result)
        elif outcome.result is not None:
            rows.append(outcome.result)
    return rows


def worst(rows: list[CheckResult]) -> CheckStatus:
    """Return the worst status of all rows."""
    order: Callable[[CheckStatus], int] = list(CheckStatus).index
    return max((row.status for row in rows), key=order, default=CheckStatus.OK)
