"""What ``cognee-hooks doctor`` says about the local server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.bootstrap import extras, version
from builtin_plugins.bootstrap.installer import find_uv, look
from builtin_plugins.bootstrap.local_server import GET_MODEL_KEY, LocalServer
from builtin_plugins.bootstrap.settings import BootstrapSettings, ServerKind
from builtin_plugins.bootstrap.state import Phase
from cognee_hooks.results import CheckResult, CheckStatus

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline

RUNTIME, PROCESS = "local runtime", "server pidfile"
_MAX_DETAIL = 160
_SPARE_SECONDS = 0.5


async def rows(
    server: LocalServer, settings: BootstrapSettings, deadline: Deadline
) -> list[CheckResult]:
    """Return all rows.

    Args:
        server: The local server.
        settings: The plugin's options.
        deadline: When to be done.
    """
    if refusal := server.refusal():
        return [CheckResult(name=RUNTIME, status=CheckStatus.INFO, detail=refusal)]
    if not settings.enabled:
        return [
            CheckResult(
                name=RUNTIME,
                status=CheckStatus.INFO,
                detail="bootstrap off (COGNEE_LOCAL_BOOTSTRAP=off)",
                remedy="start the server yourself, or run `cognee-hooks up`",
            )
        ]
    if server.lacks_model_key:
        return [
            CheckResult(
                name=RUNTIME,
                status=CheckStatus.WARNING,
                detail="no local server is started: LLM_API_KEY is not set",
                remedy=GET_MODEL_KEY,
            )
        ]
    process = CheckResult(name=PROCESS, status=CheckStatus.INFO, detail=server.pidfile.describe())
    return [await _runtime(server, settings, deadline), process]


async def _runtime(
    server: LocalServer, settings: BootstrapSettings, deadline: Deadline
) -> CheckResult:
    record = server.record
    parts = []
    status, remedy = CheckStatus.OK, ""
    if settings.server is ServerKind.EMBEDDED:
        parts.append("embedded server")
    else:
        environ = server.environment()
        limit = deadline.within(max(0.1, deadline.remaining() - _SPARE_SECONDS))
        found = await look(server.plan.places, extras.needed(environ), limit)
        parts += [
            f"uv: {find_uv(environ, server.plan.shared) or 'not found'}",
            f"venv: {found.version or 'not built'}",
            f"pin: {version.PIN}",
        ]
        if version.is_newer(found.version):
            status = CheckStatus.WARNING
            remedy = f"another plugin installed it; what was tested is {version.PIN}"
    if record.phase:
        parts.append(f"bootstrap: {record.phase}")
    if record.phase is Phase.FAILED:
        parts[-1] += f" — {shortened(record.detail)}"
        status, remedy = CheckStatus.WARNING, "see `cognee-hooks logs`, then run `cognee-hooks up`"
    if record.phase is Phase.STOPPED:
        status, remedy = CheckStatus.INFO, "run `cognee-hooks up` to start it again"
    return CheckResult(name=RUNTIME, status=status, detail=" · ".join(parts), remedy=remedy)


def shortened(text: str) -> str:
    """Return a text cut to one row's length."""
    return text if len(text) <= _MAX_DETAIL else f"{text[: _MAX_DETAIL - 1]}…"
