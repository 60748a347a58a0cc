"""What ``cognee-hooks doctor`` says about the local server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap import extras, version
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.installed import look
from builtin_plugins.bootstrap.installer import find_uv
from builtin_plugins.bootstrap.local_server import GET_MODEL_KEY, LocalServer
from builtin_plugins.bootstrap.presence import Verdict
from builtin_plugins.bootstrap.settings import BootstrapSettings, ServerKind
from builtin_plugins.bootstrap.state import WORDS, Phase, ServerRecord
from cognee_hooks.results import CheckResult, CheckStatus

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline

RUNTIME, PROCESS = "local runtime", "server pidfile"
_MAX_DETAIL = 300
_SPARE_SECONDS = 0.7
_LOOK_SECONDS = 1.0
_UP = "run `cognee-hooks up`"


async def rows(
    server: LocalServer, settings: BootstrapSettings, deadline: Deadline, now: float
) -> list[CheckResult]:
    """Return all rows.

    Args:
        server: The local server.
        settings: The plugin's options.
        deadline: When to be done.
        now: Epoch seconds.
    """
    if refusal := server.refusal():
        return [CheckResult(name=RUNTIME, status=CheckStatus.INFO, detail=refusal)]
    if not settings.enabled:
        return [
            CheckResult(
                name=RUNTIME,
                status=CheckStatus.INFO,
                detail="bootstrap off (COGNEE_LOCAL_BOOTSTRAP=off)",
                remedy=f"start the server yourself, or {_UP}",
            )
        ]
    facts, found = await asyncio.gather(
        _facts(server, settings, deadline),
        server.probe.look(confirm=False, seconds=_LOOK_SECONDS, tidy=False),
    )
    if server.lacks_model_key and found.verdict is not Verdict.READY:
        return [
            CheckResult(
                name=RUNTIME,
                status=CheckStatus.WARNING,
                detail="no local server is started: LLM_API_KEY is not set",
                remedy=GET_MODEL_KEY,
            )
        ]
    process = CheckResult(name=PROCESS, status=CheckStatus.INFO, detail=server.pidfile.describe())
    status, told, remedy = _state(server.record, found.verdict, server.plan.port, now)
    if status is CheckStatus.OK and (foreign := facts.remedy):
        status, remedy = CheckStatus.WARNING, foreign
    detail = " · ".join([facts.detail, *([told] if told else [])])
    return [CheckResult(name=RUNTIME, status=status, detail=detail, remedy=remedy), process]


def _state(
    record: ServerRecord, verdict: Verdict, port: int, now: float
) -> tuple[CheckStatus, str, str]:
    """Return how the start stands or went: status, what is shown, and what to do."""
    if record.working:
        told = f"bootstrap: {_work(record, now)}"
        return CheckStatus.INFO, told, "wait; `cognee-hooks up` shows how far it is"
    if verdict is Verdict.READY:
        return CheckStatus.OK, "bootstrap: the server runs", ""
    if record.phase is Phase.STOPPED:
        return CheckStatus.INFO, "bootstrap: stopped by hand", f"{_UP} to start it again"
    if verdict is Verdict.BUSY:
        told = f"bootstrap: port {port} is held by something that does not serve as cognee does"
        return CheckStatus.WARNING, told, f"end that program, then {_UP}"
    if record.phase is Phase.FAILED:
        told = f"bootstrap: failed — {shortened(record.detail)}"
        return CheckStatus.WARNING, told, f"see `cognee-hooks logs`, then {_UP}"
    told = "" if record.phase is Phase.NONE else "bootstrap: the server ended"
    return (
        CheckStatus.INFO,
        told or "bootstrap: nothing was started yet",
        f"start an agent, or {_UP}",
    )


async def _facts(
    server: LocalServer, settings: BootstrapSettings, deadline: Deadline
) -> CheckResult:
    """Return what is installed, as the beginning of a row; its remedy speaks of the version."""
    if settings.server is ServerKind.EMBEDDED:
        return CheckResult(name=RUNTIME, status=CheckStatus.OK, detail="embedded server")
    environ = server.environment()
    limit = deadline.within(max(0.1, deadline.remaining() - _SPARE_SECONDS))
    remedy = ""
    try:
        found = await look(server.plan.places, extras.needed(environ), limit)
    except BootFailed:
        venv = "does not answer"
    else:
        venv = found.version or "not built"
        if version.is_past_tested(found.version):
            remedy = f"another plugin installed it; what was tested is {version.PIN}"
    uv = find_uv(environ, server.plan.shared) or "not found, so Python's own venv and pip"
    detail = f"uv: {uv} · venv: {venv} · pin: {version.PIN}"
    return CheckResult(name=RUNTIME, status=CheckStatus.OK, detail=detail, remedy=remedy)


def shortened(text: str) -> str:
    """Return a text cut to one row's length."""
    return text if len(text) <= _MAX_DETAIL else f"{text[: _MAX_DETAIL - 1]}…"


def status_text(server: LocalServer, now: float) -> str:
    """Return how the local server stands, for the page of ``cognee-hooks status``.

    Args:
        server: The local server.
        now: Epoch seconds.

    Returns:
        One line; "" where there is nothing to tell beside what is told of every server.
    """
    record = server.record
    if record.working:
        return f"{_work(record, now)}; prompts work meanwhile"
    if record.phase is Phase.STOPPED:
        return "stopped by hand; `cognee-hooks up` starts it"
    if record.phase is Phase.FAILED:
        return f"did not start: {shortened(record.detail)} `cognee-hooks up` tries again"
    if record.server.alive:
        return ""
    if server.lacks_model_key:
        return "none is started, since LLM_API_KEY is not set; `cognee-hooks doctor` says more"
    return "ended; the next prompt starts it" if record.phase is Phase.READY else ""


def _work(record: ServerRecord, now: float) -> str:
    return f"{WORDS[record.phase]}, for {max(0.0, now - record.at):.0f} s"
