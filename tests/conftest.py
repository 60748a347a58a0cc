"""What holds for every test; see :mod:`tests.support.fixtures`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.support.fixtures", "tests.support.faults"]

# Hypothesis would fail a property that took 200 ms once, which any may on a machine that is busy.
settings.register_profile(
    "tests", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")
