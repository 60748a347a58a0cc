"""What ``cognee-hooks doctor`` says of the agent's side: its hooks, their trust, the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cognee_hooks.daemon import control
from cognee_hooks.daemon.protocol import is_newer
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import INSTALLERS
from cognee_hooks.install.codex_trust import BY_HAND, codex_trust_problems
from cognee_hooks.install.command import MARKER
from cognee_hooks.install.plan import Place
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.paths import Paths


def check_agent(agent: str, environ: Mapping[str, str], cwd: Path) -> list[CheckResult]:
    """Check how an agent is set up to call us.

    Args:
        agent: Its name.
        environ: The person's environment.
        cwd: The project.
    """
    rows = [_daemon(environ), *_key(environ)]
    if agent not in INSTALLERS:
        known = ", ".join(sorted(INSTALLERS))
        detail = f"no agent that can be set up is called {agent!r}; there are: {known}"
        rows.insert(0, CheckResult(name="agent", status=CheckStatus.INFO, detail=detail))
    else:
        rows.insert(0, _hooks(agent, Place(environ=environ, cwd=cwd, status_line=False)))
    if agent == "codex" and (events := codex_trust_problems(environ, cwd)):
        detail = f"Codex does not trust our hooks for {', '.join(events)}, and skips them"
        rows.append(
            CheckResult(
                name="trust",
                status=CheckStatus.WARNING,
                detail=detail,
                remedy=f"`cognee-hooks install codex --trust`. Or by hand: {BY_HAND}",
            )
        )
    return rows


def _hooks(agent: str, place: Place) -> CheckResult:
    command = f"`cognee-hooks install {agent}`"
    try:
        changes = INSTALLERS[agent].install(place).effective
    except InstallRefused as error:
        return CheckResult(
            name="agent", status=CheckStatus.WARNING, detail=str(error), remedy=f"then {command}"
        )
    if not changes:
        return CheckResult(name="agent", status=CheckStatus.OK, detail=f"{agent} calls us")
    path = changes[0].path
    if any(MARKER.encode() in (each.before or b"") for each in changes):
        return CheckResult(
            name="agent",
            status=CheckStatus.WARNING,
            detail=f"our hooks in {path} are those of another installation or version",
            remedy=command,
        )
    return CheckResult(
        name="agent",
        status=CheckStatus.INFO,
        detail=f"{agent} does not call us: there are no hooks of ours in {path}",
        remedy=f"{command}, unless its own plugin manager or a project's settings do that",
    )


def _daemon(environ: Mapping[str, str]) -> CheckResult:
    status = control.ask(Paths.of(environ, "daemon").daemon_dir, "status")
    if status is None:
        detail = "does not run; the next event of an agent starts it"
        return CheckResult(name="daemon", status=CheckStatus.OK, detail=detail)
    version, sessions = str(status.get("version")), status.get("sessions")
    detail = f"version {version}, process {status.get('pid')}"
    if isinstance(sessions, list):
        detail += f", {len(sessions)} sessions"
    if is_newer(VERSION, version):
        return CheckResult(
            name="daemon",
            status=CheckStatus.WARNING,
            detail=f"{detail}; {VERSION} is installed",
            remedy="`cognee-hooks daemon restart`, or wait for the next event of an agent",
        )
    return CheckResult(name="daemon", status=CheckStatus.OK, detail=detail)


def _key(environ: Mapping[str, str]) -> list[CheckResult]:
    """Check the key of what is kept on disk; nothing is said where all is well."""
    path = Paths.of(environ, "daemon").key_file
    try:
        Sealer.of(path)
    except OSError as error:
        return [
            CheckResult(
                name="encryption",
                status=CheckStatus.FAILED,
                detail=f"{error}; without a key no daemon comes up, and events wait for one",
                remedy=f"`chmod 600 {path}`, or remove the file; a new one is made",
            )
        ]
    return []
