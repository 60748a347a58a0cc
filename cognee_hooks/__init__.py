"""Lasting memory for coding agents, as a plugin framework.

Everything that a plugin or an embedding agent needs is here or in `cognee_hooks.events`,
`cognee_hooks.results` and `cognee_hooks.testing`. Other modules may change without notice.

Importing this package is cheap: what costs time is loaded on first use.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.markers import hookimpl

if TYPE_CHECKING:
    from cognee_hooks.context import PluginContext
    from cognee_hooks.host import Host
    from cognee_hooks.leak import Leak
    from cognee_hooks.redaction import Pattern, Redacted, Redactor
    from cognee_hooks.settings import Narrow, option

__all__ = [
    "API_VERSION",
    "Deadline",
    "Host",
    "Leak",
    "Narrow",
    "Pattern",
    "PluginContext",
    "Redacted",
    "Redactor",
    "__version__",
    "hookimpl",
    "option",
]

API_VERSION = 1
"""Version of the hook API; a plugin may say which one it was written for."""

# A library stays silent unless the application that embeds it asks for its log.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_LAZY = {
    "Host": "cognee_hooks.host",
    "Leak": "cognee_hooks.leak",
    "Narrow": "cognee_hooks.settings",
    "Pattern": "cognee_hooks.redaction",
    "PluginContext": "cognee_hooks.context",
    "Redacted": "cognee_hooks.redaction",
    "Redactor": "cognee_hooks.redaction",
    "option": "cognee_hooks.settings",
}


def __getattr__(name: str) -> Any:
    """Load what is dear on first use."""
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("cognee-hooks")
        except PackageNotFoundError:
            return "0+unknown"  # run from a source tree that is not installed
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
