"""Sample payloads of every built-in agent: captured where there are captures, documented else."""

from __future__ import annotations

from pathlib import Path

from cognee_hooks.testing.adapter_rules import Samples
from cognee_hooks.testing.agent_conformance import load_samples

DATA = Path(__file__).parents[1] / "data"
CAPTURED = {"claude-code": "2.1.332", "codex": "0.171.0", "opencode": "1.18.33", "pi": "1.6.0"}
"""Version whose payloads are replayed, by agent."""


def samples_of(agent: str) -> Samples:
    """Payloads by event."""
    return load_samples(DATA / agent / CAPTURED.get(agent, ""))
