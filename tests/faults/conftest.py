"""Counts what the rounds of a test run came to, and prints it at its end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.faults.rounds import Tally
from tests.faults.world import World, opened_world

TALLY = pytest.StashKey[Tally]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Tally()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tally = terminalreporter.config.stash[TALLY]
    if not tally:
        return
    terminalreporter.section("fault suite")
    for name in sorted(tally, key=lambda each: (": " in each, each)):
        terminalreporter.write_line(f"{name:30} {tally[name]:6}")


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    """What all rounds came to so far."""
    return request.config.stash[TALLY]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A machine."""
    async with opened_world() as made:
        yield made
