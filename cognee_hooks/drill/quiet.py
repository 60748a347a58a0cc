"""A session inside this process while all is well, which shows what each plugin does wrong."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor.plugins import redaction
from cognee_hooks.drill.script import AGENT, DrillConversation
from cognee_hooks.drill.verdict import REPORT, DrillRow
from cognee_hooks.faults import Fault, FaultType
from cognee_hooks.host import Host
from cognee_hooks.results import CheckStatus

PROVES = "every plugin does its part, in time"
_SETTLE_SECONDS = 3.0
_WITHOUT_BRIDGE = (
    "load the plugin bridge again: without it captures are in memory only, and sent again blindly"
)


@dataclass(frozen=True, slots=True)
class Quiet:
    """What such a session came to.

    Attributes:
        rows: What plugins did wrong; one row that says so where they did nothing wrong.
        capture_off: Why nothing is captured by choice; "" where it is.
        advice: What to do where something else fails.
    """

    rows: list[DrillRow]
    capture_off: str
    advice: str


async def play_quietly(host: Host, conversation: DrillConversation, deadline: Deadline) -> Quiet:
    """Play one turn in a host of its own, which is closed afterwards.

    Args:
        host: The host; not started yet.
        conversation: The conversation.
        deadline: When to be done.
    """
    agent = BUILT_IN[AGENT]
    safe = await redaction(host)
    await host.start()
    payloads = [conversation.start(), *conversation.turn(), conversation.end()]
    for payload in payloads:
        event = agent.read(payload["hook_event_name"], payload, session_id=conversation.session_id)
        if event is not None:
            await host.dispatch(event, deadline)
        await host.background.settle(deadline.within(_SETTLE_SECONDS))
    await host.close(deadline.within(_SETTLE_SECONDS))
    rows = [_row_of_faults(host, name) for name in sorted({f.plugin for f in _faults(host)})]
    if safe.status is CheckStatus.FAILED:
        rows.append(_row("redaction", safe.status, safe.detail, safe.remedy))
    if not rows:
        active = sum(1 for _ in host.registry.manager.list_name_plugin())
        rows = [_row("plugins", CheckStatus.OK, f"{active} plugins, no fault", "")]
    return Quiet(rows, _off(host), REPORT if host.is_active("bridge") else _WITHOUT_BRIDGE)


def _faults(host: Host) -> list[Fault]:
    """Return what counts: a built-in that is slow on a busy machine did nothing wrong."""
    return [
        fault
        for fault in host.faults.rows()
        if fault.error_type != FaultType.SLOW or not host.registry.is_built_in(fault.plugin)
    ]


def _row_of_faults(host: Host, name: str) -> DrillRow:
    faults = [fault for fault in _faults(host) if fault.plugin == name]
    detail = ", ".join(f"{f.error_type} in {f.hook} x{f.count} {f.where}".strip() for f in faults)
    slow = all(fault.error_type == FaultType.SLOW for fault in faults)
    harmless = slow or host.registry.is_built_in(name)
    return _row(
        f"plugin {name}",
        CheckStatus.WARNING if harmless else CheckStatus.FAILED,
        detail,
        "on a busy machine, try again" if harmless else f"mend the plugin, or block it: {name}",
    )


def _row(name: str, status: CheckStatus, detail: str, remedy: str) -> DrillRow:
    return DrillRow(name=name, status=status, detail=detail, proves=PROVES, remedy=remedy)


def _off(host: Host) -> str:
    if not host.core.capture:
        return "capture is off (COGNEE_CAPTURE=false)"
    return "" if host.is_active("capture") else "the capture plugin is not loaded"
