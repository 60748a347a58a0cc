"""Rows about plugins: redaction, who was loaded, and what each says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.doctor import conduct
from cognee_hooks.doctor.rows import Finding, failed, ok, warning
from cognee_hooks.errors import RedactionFailed
from cognee_hooks.faults import FaultType
from cognee_hooks.plugin_report import reports
from cognee_hooks.registry import PluginState
from cognee_hooks.results import CheckResult

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.host import Host
    from cognee_hooks.outcomes import Outcome

MAX_ROWS = 30
"""Rows of one plugin."""
SPARE_SECONDS = 0.2
"""Left of the time by plugins, so that what they came to is still told."""
_SENTENCE = "A plain sentence without anything secret in it."


async def checks(host: Host) -> list[CheckResult]:
    """Return the core's rows about plugins."""
    return [await redaction(host), *_loaded(host)]


async def redaction(host: Host) -> CheckResult:
    """Tell whether texts can be made safe; asks every redactor."""
    if host.redaction.closed_because:
        return failed(
            "redaction",
            host.redaction.closed_because,
            "nothing is sent until this is mended; see `cognee-hooks plugins --all`",
        )
    if not host.core.redact:
        return warning(
            "redaction",
            "switched off: secrets leave this machine",
            "remove COGNEE_CAPTURE_REDACT=false",
        )
    try:
        await host.redaction.redact(_SENTENCE)
    except RedactionFailed as failure:
        return failed(
            "redaction",
            f"redactor {failure.redactor!r} fails ({failure.cause_type}) even on a plain "
            "sentence, so nothing is captured or sent",
            "mend the plugin that brings it, or block it; see `cognee-hooks plugins`",
        )
    names = ", ".join(host.registered.redactors) or "none"
    own = len(host.core.redact_patterns)
    return ok("redaction", f"built-in rules; patterns of yours: {own}; of plugins: {names}")


def _loaded(host: Host) -> list[CheckResult]:
    rows = [_doubtful(problem) for problem in host.registry.problems]
    active = 0
    for record in host.registry.records:
        if record.state is PluginState.FAILED:
            rows.append(
                failed(
                    f"plugin {record.name}",
                    f"{record.distribution or 'no package'}: {record.reason}",
                    "mend or remove the plugin; everything else works without it",
                )
            )
        elif record.state is PluginState.ACTIVE:
            active += 1
            rows += [_outdated(record.name, text) for text in record.deprecations]
    done = reports(host.registry.records, host.dispatcher.timings, host.faults)
    rows += conduct.checks("plugins", done, host.registry.is_built_in)
    return [ok("plugins", f"{active} active"), *rows]


def _outdated(plugin: str, detail: str) -> CheckResult:
    return warning(f"plugin {plugin}", detail, "it works for now; look for a newer version of it")


def _doubtful(detail: str) -> CheckResult:
    return warning("plugins", detail, "see `cognee-hooks plugins --all`")


async def own_checks(host: Host, deadline: Deadline) -> list[Finding]:
    """Return what plugins say of themselves."""
    limit = deadline.within(max(0.0, deadline.remaining() - SPARE_SECONDS))
    called = await host.dispatcher.call("cognee_doctor_checks", deadline=limit)
    found: list[Finding] = []
    for outcome in called.outcomes:
        result = _fault(outcome) if outcome.fault else outcome.result
        rows = result if isinstance(result, (list, tuple)) else () if result is None else (result,)
        found += [Finding(row, outcome.plugin) for row in rows[:MAX_ROWS]]
    return found


def _fault(outcome: Outcome) -> CheckResult:
    found = (
        "its own check did not answer in time"
        if outcome.fault == FaultType.TIMEOUT
        else f"its own check failed ({outcome.fault})"
    )
    return failed(f"plugin {outcome.plugin}", found, "report this to the plugin's author")
