"""Rows about plugins that fail, are switched off for a session, or keep the agent waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cognee_hooks.doctor.rows import warning
from cognee_hooks.faults import QUARANTINE_AFTER
from cognee_hooks.plugin_report import HookReport, PluginReport
from cognee_hooks.results import CheckResult

MAX_ROWS = 20
"""Plugins that are named."""
MAX_HOOKS = 4
"""Hooks of one plugin that are named."""
FAILING_SHARE = 0.1
"""A plugin is failing in a hook where so much of its calls do; now and then is a busy machine."""
SLOW_CALLS = 3
SLOW_SHARE = 0.2
"""A plugin is slow in a hook where so many of its calls are, and so much of them."""


def checks(
    name: str, plugins: Iterable[PluginReport], is_built_in: Callable[[str], bool]
) -> list[CheckResult]:
    """Return one row for each plugin that does not behave.

    Args:
        name: What the rows are called.
        plugins: What plugins did.
        is_built_in: Tells whether the plugin of a name comes with us.
    """
    found = [
        warning(name, f"{each.name} {problem}", _remedy(each.name, is_built_in))
        for each in plugins
        if (problem := ". It ".join(_problems(each)))
    ]
    if len(found) > MAX_ROWS:
        more = f"and {len(found) - MAX_ROWS} more plugins"
        found[MAX_ROWS:] = [warning(name, more, "see `cognee-hooks plugins`")]
    return found


def _problems(plugin: PluginReport) -> Iterator[str]:
    """Yield what is wrong with a plugin, each way in which it misbehaves once."""
    off = [each for each in plugin.hooks if each.quarantined]
    failing = [
        each
        for each in plugin.hooks
        if each.faults and each not in off and each.faults >= each.calls * FAILING_SHARE
    ]
    slow = [
        each
        for each in plugin.hooks
        if each.slow >= SLOW_CALLS and each.slow >= each.calls * SLOW_SHARE and each not in off
    ]
    if off:
        yield (
            f"failed {QUARANTINE_AFTER} times in a row and is switched off until its session ends: "
            f"{_listed(off, _fault)}. What it does there is missing, all else works"
        )
    if failing:
        yield f"fails, and what it does there is missing then: {_listed(failing, _fault)}"
    if slow:
        yield f"is slow, and the agent may have to wait for it: {_listed(slow, _time)}"


def _listed(hooks: list[HookReport], told: Callable[[HookReport], str]) -> str:
    named = [f"{each.hook.removeprefix('cognee_')} ({told(each)})" for each in hooks[:MAX_HOOKS]]
    more = [f"{len(hooks) - MAX_HOOKS} more"] if len(hooks) > MAX_HOOKS else []
    return ", ".join([*named, *more])


def _fault(hook: HookReport) -> str:
    # Work in the background fails without having been called by us.
    often = f"{hook.faults} of {hook.calls}" if hook.calls else f"{hook.faults}"
    return f"{often} failed, last {hook.last_fault}"


def _time(hook: HookReport) -> str:
    mean = hook.seconds / hook.calls if hook.calls else 0.0
    return f"{mean * 1000:.0f} ms on average, {hook.slowest * 1000:.0f} ms at worst"


def _remedy(name: str, is_built_in: Callable[[str], bool]) -> str:
    if is_built_in(name):
        return "it comes with cognee-hooks: report this with `cognee-hooks doctor --bundle`"
    return (
        f"`cognee-hooks plugins disable {name}` does without it; report this to its author, with "
        "the file that `cognee-hooks doctor --bundle` writes"
    )
