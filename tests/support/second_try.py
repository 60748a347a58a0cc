"""Runs all tests, and the few that failed a second time, alone.

The agents and servers that the tests drive live on real clocks, and the machine may be busy with
other things: of thousands of tests one may come too late without anything being wrong. What fails
alone as well, is wrong.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

MOST = 3
"""More failures than this have another reason than a busy machine."""
_TESTS_FAILED = 1
"""What pytest ends with when it ran to its end; errors of collection and its own end otherwise."""


def deserves_another(code: int, failed: Collection[str]) -> bool:
    """Tell whether the tests that failed may be run once more.

    Args:
        code: What pytest ended with.
        failed: Ids of the tests that failed.
    """
    return code == _TESTS_FAILED and 0 < len(failed) <= MOST


def run_tests(command: Sequence[str], folder: Path) -> bool:
    """Run pytest, if need be twice; tells whether every test passed once.

    Args:
        command: Runs all tests; pytest's options can be added to it.
        folder: Where to run it.
    """
    with tempfile.TemporaryDirectory(prefix="tests-") as cache:
        # A cache of its own: in that of the project are failures of other runs.
        everything = [*command, "-o", f"cache_dir={cache}"]
        code = subprocess.run(everything, cwd=folder, check=False).returncode
        failed = _failed(Path(cache))
        if not deserves_another(code, failed):
            return code == 0
        print(f"== tests: {len(failed)} failed and run again, alone", flush=True)
        again = [*everything, "--last-failed", "--last-failed-no-failures", "none"]
        code = subprocess.run(again, cwd=folder, check=False).returncode
        # A test that was not found again has not passed.
        still = _failed(Path(cache))
    for test in failed:
        outcome = "DID NOT PASS AGAIN" if test in still else "PASSED ONLY WHEN RUN AGAIN"
        print(f"== {outcome}: {test}", flush=True)
    return code == 0 and not still


def _failed(cache: Path) -> list[str]:
    """Return the ids of the tests that failed and have not passed since."""
    try:
        return sorted(json.loads((cache / "v" / "cache" / "lastfailed").read_text()))
    except FileNotFoundError:
        return []
