"""How the plugins of a host behave, hook by hook: calls, times, faults, what was switched off.

A host makes reports of what it counted; whoever asks a daemon reads them from its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cognee_hooks.faults import Faults, FaultType
from cognee_hooks.printable import brief
from cognee_hooks.services.statefile import finite
from cognee_hooks.timings import Timing, Timings

if TYPE_CHECKING:
    from cognee_hooks.registry import PluginRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReport:
    """What one plugin did in one hook.

    Attributes:
        hook: The hook; ``lane`` and ``background`` are the lanes and the background work of a
            plugin.
        calls: How often it was called.
        seconds: Wall time of all calls.
        slowest: Seconds of the longest call.
        faults: How often it failed.
        last_fault: Name and place of its latest fault; "" without one.
        slow: Calls that took too much of the agent's time.
        quarantined: It is no longer called here in this session.
    """

    hook: str
    calls: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    faults: int = 0
    last_fault: str = ""
    slow: int = 0
    quarantined: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the report as the daemon tells it."""
        # `asdict` copies everything deeply; an open page asks every second, of all sessions.
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """What one plugin did in one session, or in several.

    Attributes:
        name: Registered name.
        hooks: What it did, each hook once.
        sessions: How many sessions that was in.
    """

    name: str
    hooks: tuple[HookReport, ...]
    sessions: int = 1

    @property
    def calls(self) -> int:
        """How often it was called."""
        return sum(each.calls for each in self.hooks)

    @property
    def seconds(self) -> float:
        """Wall time of all calls."""
        return sum(each.seconds for each in self.hooks)

    @property
    def mean(self) -> float:
        """Seconds of a call on average."""
        return self.seconds / self.calls if self.calls else 0.0

    @property
    def slowest(self) -> float:
        """Seconds of the longest call."""
        return max((each.slowest for each in self.hooks), default=0.0)

    @property
    def faults(self) -> int:
        """How often it failed."""
        return sum(each.faults for each in self.hooks)

    @property
    def quarantined(self) -> list[str]:
        """Hooks in which it is no longer called, in one of the sessions at least."""
        return [each.hook for each in self.hooks if each.quarantined]

    def as_json(self) -> dict[str, Any]:
        """Return the report as the daemon tells it."""
        return {"name": self.name, "hooks": [each.as_json() for each in self.hooks]}


def reports(
    plugins: Iterable[PluginRecord], timings: Timings, faults: Faults
) -> list[PluginReport]:
    """Return what plugins did, without those that did nothing yet.

    Args:
        plugins: The plugins of a host.
        timings: What its calls took.
        faults: What its plugins did wrong.
    """
    made = [
        PluginReport(name=brief(each.name), hooks=_hooks(each, timings, faults)) for each in plugins
    ]
    return [each for each in made if each.hooks]


def _hooks(plugin: PluginRecord, timings: Timings, faults: Faults) -> tuple[HookReport, ...]:
    taken, failed = timings.by_hook(plugin.name), faults.rows(plugin.name)
    found: list[HookReport] = []
    for hook in dict.fromkeys([*taken, *(each.hook for each in failed)]):
        timing = taken.get(hook, Timing())
        rows = [each for each in failed if each.hook == hook]
        wrong = [each for each in rows if each.error_type != FaultType.SLOW]
        # What built-ins wait for is the server, which says for itself how it is; that they held up
        # the event loop is their own doing.
        held = sum(each.count for each in rows if each.error_type == FaultType.SLOW)
        found.append(
            HookReport(
                hook=brief(hook),
                calls=timing.calls,
                seconds=round(timing.seconds, 6),
                slowest=round(timing.slowest, 6),
                faults=sum(each.count for each in wrong),
                last_fault=brief(f"{wrong[0].error_type} {wrong[0].where}") if wrong else "",
                slow=held if plugin.built_in else timing.slow,
                quarantined=faults.is_quarantined(plugin.name, hook),
            )
        )
    return tuple(found)


def together(found: Iterable[PluginReport]) -> dict[str, PluginReport]:
    """Put the reports of several sessions together, by the name of the plugin.

    Args:
        found: The reports.
    """
    by_name: dict[str, list[PluginReport]] = {}
    for each in found:
        by_name.setdefault(each.name, []).append(each)
    return {
        name: PluginReport(
            name=name,
            hooks=_added(hook for each in told for hook in each.hooks),
            sessions=sum(each.sessions for each in told),
        )
        for name, told in by_name.items()
    }


def _added(hooks: Iterable[HookReport]) -> tuple[HookReport, ...]:
    added: dict[str, HookReport] = {}
    for each in hooks:
        known = added.get(each.hook, HookReport(hook=each.hook))
        added[each.hook] = HookReport(
            hook=each.hook,
            calls=known.calls + each.calls,
            seconds=known.seconds + each.seconds,
            slowest=max(known.slowest, each.slowest),
            faults=known.faults + each.faults,
            last_fault=each.last_fault or known.last_fault,
            slow=known.slow + each.slow,
            quarantined=known.quarantined or each.quarantined,
        )
    return tuple(added.values())


def read_reports(document: Any) -> list[PluginReport]:
    """Return the reports in an answer of a daemon, which may be of another version.

    Args:
        document: What stands under ``plugins`` in one of its sessions; what is no report in it is
            passed over.
    """
    found: list[PluginReport] = []
    for each in document if isinstance(document, list) else ():
        name, hooks = (each.get("name"), each.get("hooks")) if isinstance(each, dict) else (0, 0)
        if isinstance(name, str) and isinstance(hooks, list):
            read = [_read_hook(hook) for hook in hooks if isinstance(hook, Mapping)]
            found.append(PluginReport(name=brief(name), hooks=tuple(read)))
    return found


def _read_hook(document: Mapping[str, Any]) -> HookReport:
    hook, last = document.get("hook"), document.get("last_fault")
    return HookReport(
        hook=brief(hook) if isinstance(hook, str) else "?",
        calls=_count(document.get("calls")),
        seconds=_seconds(document.get("seconds")),
        slowest=_seconds(document.get("slowest")),
        faults=_count(document.get("faults")),
        last_fault=brief(last) if isinstance(last, str) else "",
        slow=_count(document.get("slow")),
        quarantined=document.get("quarantined") is True,
    )


def _count(value: object) -> int:
    return max(0, value) if type(value) is int else 0


def _seconds(value: object) -> float:
    return max(0.0, finite(value))
