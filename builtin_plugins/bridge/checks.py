"""What ``cognee-hooks doctor`` says about the bridge."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cognee_hooks.results import CheckResult, CheckStatus, Failure

if TYPE_CHECKING:
    from builtin_plugins.bridge.folder import BufferFolder
    from cognee_hooks import PluginContext

NAME = "bridge"
DOCTOR = "cognee-hooks doctor"


def rows(context: PluginContext, folder: BufferFolder) -> list[CheckResult]:
    """Return all rows.

    Args:
        context: The plugin's context.
        folder: The buffers.
    """
    counts: Counter[str | None] = Counter()
    closed: list[str] = []
    for buffer in folder.waiting():
        try:
            counts.update(buffer.by_server())
        except OSError as error:
            closed.append(str(error) or buffer.path.name)
    url = context.services.mode.url
    unreadable = counts.pop(None, 0)
    found = [_waiting(context, counts.pop(url, 0) + counts.pop("", 0))]
    found += [_elsewhere(count, other or "") for other, count in sorted(counts.items(), key=str)]
    if unreadable:
        found.append(_warning(unreadable_text(context, unreadable), _KEY))
    if aside := folder.aside():
        detail = f"{aside} entries were put aside in {folder.path / 'quarantine'}: refused or old"
        found.append(_warning(detail, "delete that folder if you do not need them"))
    found += [_warning(detail, "chmod go-rwx it if it is yours") for detail in closed]
    return found


def broken(context: PluginContext, error: OSError) -> CheckResult:
    """Return the row for a bridge that cannot work at all."""
    return CheckResult(
        name=NAME,
        status=CheckStatus.FAILED,
        detail=f"captured entries are kept in memory only: {error.strerror or error}",
        remedy=f"mend {context.services.paths.bridge_dir}",
    )


def unreadable_text(context: PluginContext, count: int) -> str:
    """Say that entries cannot be opened, and what that means."""
    paths = context.services.paths
    return (
        f"{count} kept entries in {paths.bridge_dir} cannot be opened, since they were sealed with "
        f"another key than {paths.key_file}: on another machine, or before the key was lost. They "
        "are not sent, and kept"
    )


_KEY = "put the key file of that machine in its place, or delete the files that hold them"


def sent_text(context: PluginContext, before: int, left: int) -> str:
    """Say what came of sending what waits.

    Args:
        context: The plugin's context.
        before: Entries that waited for the server.
        left: Entries that still wait for it.
    """
    url = context.services.mode.url
    if not before:
        return f"No captured entries of {context.session.agent} wait for {url}."
    sent = f"{_entries(max(before - left, 0))} sent to {url}"
    if not left:
        return f"{sent}; nothing waits any more."
    return Failure(
        f"{sent}; {left} still wait and are kept, until the server takes them. See `{DOCTOR}`."
    )


def _entries(count: int) -> str:
    return "1 captured entry was" if count == 1 else f"{count} captured entries were"


def _waiting(context: PluginContext, count: int) -> CheckResult:
    if not count:
        return CheckResult(name=NAME, status=CheckStatus.OK, detail="nothing waits to be sent")
    agent = context.session.agent
    return CheckResult(
        name=NAME,
        status=CheckStatus.INFO,
        detail=f"{count} captured entries wait for {context.services.mode.url}",
        remedy=f"a session of {agent} sends them; at once: `cognee-hooks send --agent {agent}`",
    )


def _elsewhere(count: int, url: str) -> CheckResult:
    return CheckResult(
        name=NAME,
        status=CheckStatus.INFO,
        detail=f"{count} captured entries wait for {url}, which is not the server in use",
        remedy="they are sent when a session uses that server again",
    )


def _warning(detail: str, remedy: str) -> CheckResult:
    return CheckResult(name=NAME, status=CheckStatus.WARNING, detail=detail, remedy=remedy)
