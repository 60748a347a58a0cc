"""What hook implementations return.

Plugins import all of it from here. Fields of a wrong type raise ``TypeError`` where the value is
made, in the plugin.
"""

from __future__ import annotations

from cognee_hooks.results.agent import NESTED, Agent, Origin
from cognee_hooks.results.entries import AT_THE_SERVER, Act, StoreReceipt, StoreRequest, StoreState
from cognee_hooks.results.identity import Identity, SharedDatasets
from cognee_hooks.results.offers import WARNING_SIGN, Command, Failure, Lane, Tool
from cognee_hooks.results.shown import (
    AdditionalContext,
    CheckResult,
    CheckStatus,
    Scrubbed,
    ScrubState,
    StatusRow,
    StatusSegment,
)

__all__ = [
    "AT_THE_SERVER",
    "NESTED",
    "WARNING_SIGN",
    "Act",
    "AdditionalContext",
    "Agent",
    "CheckResult",
    "CheckStatus",
    "Command",
    "Failure",
    "Identity",
    "Lane",
    "Origin",
    "ScrubState",
    "Scrubbed",
    "SharedDatasets",
    "StatusRow",
    "StatusSegment",
    "StoreReceipt",
    "StoreRequest",
    "StoreState",
    "Tool",
]
