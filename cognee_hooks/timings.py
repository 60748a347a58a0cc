"""How often each plugin was called in each hook, and how long that took: always counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

SLOW_SHARE = 0.5
"""A call that takes more of its hook's time than this is slow: on a busier day it is cut short."""
SLOW_SECONDS = 0.02
"""What takes less is never slow, however little time its hook has; nobody notices it."""


@dataclass(slots=True)
class Timing:
    """What the calls of one plugin in one hook took.

    Attributes:
        calls: How often it was called, whatever came of it.
        seconds: Wall time of all calls. What a plugin waits for is in it: a server, other plugins.
        slowest: Seconds of the longest call.
        slow: Calls that took too much of their hook's time.
    """

    calls: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slow: int = 0


class Timings:
    """The times of one host. Belongs to its event loop; before that starts, to whoever makes it."""

    def __init__(self) -> None:
        self._by_pair: dict[tuple[str, str], Timing] = {}
        self._taken: dict[str, Timing] = {}

    def add(self, plugin: str, hook: str, seconds: float, budget: float) -> None:
        """Count a call.

        Args:
            plugin: Registered name.
            hook: Name of the hook.
            seconds: Wall time.
            budget: Seconds that the hook has.
        """
        timing = self._by_pair.get((plugin, hook))
        if timing is None:
            timing = self._by_pair[plugin, hook] = Timing()
        timing.calls += 1
        timing.seconds += seconds
        timing.slowest = max(timing.slowest, seconds)
        if seconds > SLOW_SECONDS and seconds > budget * SLOW_SHARE:
            timing.slow += 1

    def by_hook(self, plugin: str) -> Mapping[str, Timing]:
        """Return what a plugin's calls took, by hook, in the order in which they were first called.

        They are copies, which stay as they are.
        """
        pairs = self._by_pair.items()
        return {hook: replace(timing) for (name, hook), timing in pairs if name == plugin}

    def take(self) -> Mapping[str, Timing]:
        """Return what the calls of each plugin took since this was last asked.

        Only ``calls`` and ``seconds`` are told; what was slow is told by hook.
        """
        total: dict[str, Timing] = {}
        for (plugin, _), timing in self._by_pair.items():
            sum_ = total.setdefault(plugin, Timing())
            sum_.calls += timing.calls
            sum_.seconds += timing.seconds
        before, self._taken = self._taken, total
        return {
            plugin: Timing(
                calls=now.calls - (then := before.get(plugin, Timing())).calls,
                seconds=now.seconds - then.seconds,
            )
            for plugin, now in total.items()
            if now.calls > before.get(plugin, Timing()).calls
        }
