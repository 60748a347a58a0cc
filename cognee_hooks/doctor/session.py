"""Rows about this conversation: its id, what became of its entries, whether recall is paused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cognee_hooks.doctor.rows import info, ok, warning
from cognee_hooks.results import AT_THE_SERVER, Act, CheckResult

if TYPE_CHECKING:
    from cognee_hooks.host import Host


def checks(host: Host) -> list[CheckResult]:
    """Return all rows."""
    return [*_session(host), _breaker(host)]


def _session(host: Host) -> Iterator[CheckResult]:
    """Yield what there is to say of a conversation; a host that only looks has none."""
    if not host.background.attached:
        return
    yield ok("session", host.session.session_id)
    totals = host.ledger.totals(host.session.session_id)
    stored = sum(totals.get(act, 0) for act in AT_THE_SERVER)
    found = f"{stored} stored · {host.waiting} waiting"
    drops = host.drops
    found += f" · {drops.left_out} left out by rule" if drops.left_out else ""
    lost = drops.lost + totals.get(Act.QUARANTINED, 0)
    if lost:
        see = "`cognee-hooks ledger` says which and why"
        yield warning("entries", f"{found} · {lost} given up", see)
    else:
        yield ok("entries", found)
    if host.volatile:
        yield warning(
            "buffer",
            f"{host.volatile} of what waits is in memory only",
            "see the row of the bridge: without a disk a kill loses them",
        )


def _breaker(host: Host) -> CheckResult:
    breaker, core = host.services.breaker, host.core
    state = breaker.describe()
    if breaker.state == "open":
        return warning("breaker", state, "recall tries again by itself once the server answers")
    after = (
        f"{core.breaker_threshold} failed recalls within {core.breaker_window_ms // 1000} s pause "
        f"it for {core.breaker_cooldown_ms // 1000} s"
    )
    return (ok if state == "closed" else info)("breaker", f"{state}; {after}")
