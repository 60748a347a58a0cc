"""What ``cognee-hooks doctor`` says of the agent's side: its hooks, their trust, the daemon."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from cognee_hooks.cli.words import counted, span
from cognee_hooks.daemon import control
from cognee_hooks.daemon.protocol import is_newer
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import INSTALLERS
from cognee_hooks.install.codex_trust import BY_HAND, codex_trust_problems
from cognee_hooks.install.command import MARKER
from cognee_hooks.install.plan import Place
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.crypto import KEY_BYTES
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process_table import memory_of
from cognee_hooks.services.statefile import finite, read_bytes

DAEMON_SECONDS = 2.0
MIB = 1024 * 1024
LARGE_MEMORY = 600 * MIB
"""Bytes that a daemon with many sessions should not need."""


def check_agent(
    agent: str, environ: Mapping[str, str], cwd: Path, deadline: Deadline | None = None
) -> list[CheckResult]:
    """Check how an agent is set up to call us.

    Args:
        agent: Its name.
        environ: The person's environment.
        cwd: The project.
        deadline: Until when the daemon is waited for, at most `DAEMON_SECONDS`.
    """
    limit = deadline.within(DAEMON_SECONDS) if deadline else Deadline.after(DAEMON_SECONDS)
    rows = [*_daemon(environ, limit), *_key(environ)]
    if agent not in INSTALLERS:
        known = ", ".join(sorted(INSTALLERS))
        detail = f"no agent that can be set up is called {agent!r}; there are: {known}"
        rows.insert(0, CheckResult(name="agent", status=CheckStatus.INFO, detail=detail))
    else:
        place = Place(environ=environ, cwd=cwd, status_line=False)
        rows[:0] = [_hooks(agent, place), _others(agent, place)]
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


def _others(agent: str, place: Place) -> CheckResult:
    """Tell which of the other agents call us."""
    names = sorted(set(INSTALLERS) - {agent})
    calling = [name for name in names if _hooks(name, place).status is CheckStatus.OK]
    detail = f"{', '.join(calling)} call us, too" if calling else "no other one calls us"
    return CheckResult(name="other agents", status=CheckStatus.OK, detail=detail)


def _daemon(environ: Mapping[str, str], deadline: Deadline) -> list[CheckResult]:
    folder = Paths.of(environ, "daemon").daemon_dir
    status = control.ask(folder, "status", deadline)
    if status is None:
        return [_no_daemon(folder)]
    version, sessions, pid = str(status.get("version")), status.get("sessions"), status.get("pid")
    detail = f"version {version}, process {pid}"
    began = finite(status.get("began"))
    if began > 0:
        detail += f", up {span(time.time() - began)}"
    if isinstance(sessions, list):
        detail += f", {counted(len(sessions), 'session')}"
    rows = [_version(version, detail)]
    if isinstance(pid, int) and (held := memory_of(pid)) is not None:
        rows.append(_memory(held))
    return rows


def _no_daemon(folder: Path) -> CheckResult:
    if control.runs(folder):
        return CheckResult(
            name="daemon",
            status=CheckStatus.WARNING,
            detail="runs, and does not answer",
            remedy="see `cognee-hooks daemon logs`; if that lasts, `cognee-hooks daemon restart`",
        )
    detail = "does not run; the next event of an agent starts it"
    return CheckResult(name="daemon", status=CheckStatus.OK, detail=detail)


def _version(version: str, detail: str) -> CheckResult:
    if is_newer(VERSION, version):
        return CheckResult(
            name="daemon",
            status=CheckStatus.WARNING,
            detail=f"{detail}; {VERSION} is installed",
            remedy="`cognee-hooks daemon restart`, or wait for the next event of an agent",
        )
    return CheckResult(name="daemon", status=CheckStatus.OK, detail=detail)


def _memory(held: int) -> CheckResult:
    detail = f"holds {held // MIB} MiB"
    if held > LARGE_MEMORY:
        return CheckResult(
            name="daemon memory",
            status=CheckStatus.WARNING,
            detail=detail,
            remedy="`cognee-hooks daemon restart` frees it, and loses nothing; please report it",
        )
    return CheckResult(name="daemon memory", status=CheckStatus.OK, detail=detail)


def _key(environ: Mapping[str, str]) -> list[CheckResult]:
    """Check the key of what is kept on disk; nothing is said where all is well, or none is there.

    One of the wrong length is not looked at as the person's: the daemon puts it aside.
    """
    path = Paths.of(environ, "daemon").key_file
    if not os.path.lexists(path) or read_bytes(path, max_bytes=KEY_BYTES, private=True):
        return []
    return [
        CheckResult(
            name="encryption",
            status=CheckStatus.FAILED,
            detail=f"{path} holds no key that nobody else can change; without a key no daemon "
            "comes up, and events wait for one",
            remedy=f"`chmod 600 {path}`, or remove the file; a new one is made",
        )
    ]
