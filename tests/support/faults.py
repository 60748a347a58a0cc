"""Makes swallowed faults loud: what a host forgives a plugin, a test must expect."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cognee_hooks import registry
from cognee_hooks.faults import Fault, FaultType
from cognee_hooks.host import Host
from cognee_hooks.markers import Policy
from tests.support.waiting import PATIENCE

SHORT = 3.0
"""Seconds of a budget that a busy machine may use up without anything being wrong."""


def failures(host: Host) -> list[Fault]:
    """What plugins did wrong; a built-in that a busy machine held up did nothing wrong."""
    return [row for row in host.faults.rows() if row.error_type != FaultType.SLOW]


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture(autouse=True)
def patient_hooks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every hook seconds where no fault is expected: that a machine is busy is none.

    A plugin's function on a thread of its own has a share of 50 ms otherwise, and the beginning of
    a session 2.5 s, which a server that other tests use as well may need.
    """
    if request.node.get_closest_marker("expects_faults") is None:
        declared = registry.declared_policies

        def patient() -> dict[str, Policy]:
            return {
                name: replace(policy, budget=max(policy.budget, PATIENCE / 2))
                if policy.budget < SHORT
                else policy
                for name, policy in declared().items()
            }

        monkeypatch.setattr(registry, "declared_policies", patient)


@pytest.fixture(autouse=True)
def loud_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a plugin fault was counted, unless it is marked ``expects_faults``."""
    logger = logging.getLogger("cognee_hooks.faults")
    collector = _Collector()
    logger.addHandler(collector)
    yield
    logger.removeHandler(collector)
    if collector.lines and request.node.get_closest_marker("expects_faults") is None:
        pytest.fail("plugin faults were swallowed: " + "; ".join(collector.lines), pytrace=False)
