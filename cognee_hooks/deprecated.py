"""Everything in the hook API that will go away, and who still uses it.

Each deprecation is one constant here, so that a glance shows what the next major release removes;
nothing is deprecated at present. A hook, or single arguments of one, are declared as deprecated
where they are declared::

    OLD_EVENT = CogneeHooksDeprecationWarning(
        "The hook cognee_old", "1.2", "2.0", "Implement cognee_new."
    )

    @hookspec(..., warn_on_impl=OLD_EVENT)
    def cognee_old(event: Stop) -> None: ...

    @hookspec(..., warn_on_impl_args={"text": OLD_TEXT})
    def cognee_stop(event: Stop, text: str) -> None: ...

A plugin that uses one works as before. Its author is told by a warning when it is registered, by
`cognee_hooks.testing.check_plugin`, and by ``cognee-hooks plugins`` and ``doctor``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cognee_hooks.guard import attempt

if TYPE_CHECKING:
    import pluggy

    from cognee_hooks.errors import CogneeHooksDeprecationWarning
    from cognee_hooks.markers import Policy


def warn_of(
    plugin: object, manager: pluggy.PluginManager, policies: Mapping[str, Policy]
) -> tuple[str, ...]:
    """Issue a warning for each deprecated thing that a registered plugin implements or asks for.

    A warning names the line of the plugin. It is never raised, not even where a filter turns
    warnings into errors: the person who uses the plugin cannot mend it.

    Args:
        plugin: A plugin that the manager knows.
        manager: Holds its implementations.
        policies: What is declared of each hook.

    Returns:
        What the warnings say, each once, by hook.
    """
    said: dict[str, None] = {}
    for caller in manager.get_hookcallers(plugin) or ():
        policy = policies.get(caller.name)
        if policy is None:
            continue  # an optional hook that this version does not have
        for each in caller.get_hookimpls():
            if each.plugin is plugin:
                for warning in _uses(policy, each):
                    said[str(warning)] = None
                    attempt(_issue, warning, each.function)
    return tuple(said)


def _uses(policy: Policy, found: pluggy.HookImpl) -> list[CogneeHooksDeprecationWarning]:
    of_hook = [policy.warn_on_impl] if policy.warn_on_impl is not None else []
    return of_hook + [
        warning for name, warning in policy.warn_on_impl_args.items() if name in found.argnames
    ]


def _issue(warning: CogneeHooksDeprecationWarning, function: Callable[..., object]) -> None:
    code = inspect.unwrap(function).__code__
    warnings.warn_explicit(warning, type(warning), code.co_filename, code.co_firstlineno)
