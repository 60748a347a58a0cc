"""What authors of plugins and agents test their work with.

* `PluginSession`: a real host with a scripted server, in which a plugin lives; as a fixture,
  ``cognee_session`` (installed with this package).
* `assert_plugin` and `check_plugin`: everything that a host would forgive a plugin, as problems.
* `check_redactor`: a redactor judged by a corpus, in both directions.
* `cognee_hooks.testing.agent_conformance`: the same for agent adapters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cognee_hooks.testing.clock import FakeClock
    from cognee_hooks.testing.corpus import Sample
    from cognee_hooks.testing.plugin_rules import assert_plugin, check_plugin
    from cognee_hooks.testing.redactor_rules import check_redactor
    from cognee_hooks.testing.session import PluginSession

__all__ = [
    "FakeClock",
    "PluginSession",
    "Sample",
    "assert_plugin",
    "check_plugin",
    "check_redactor",
]

_LAZY = {
    "FakeClock": "clock",
    "PluginSession": "session",
    "Sample": "corpus",
    "assert_plugin": "plugin_rules",
    "check_plugin": "plugin_rules",
    "check_redactor": "redactor_rules",
}


def __getattr__(name: str) -> Any:
    """Load on first use; pytest imports this package in every project in which we are installed."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
