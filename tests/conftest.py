"""What holds for every test; see :mod:`tests.support.fixtures`."""

from __future__ import annotations

pytest_plugins = ["tests.support.fixtures", "tests.support.faults"]
