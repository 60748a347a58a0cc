"""``python -m tests``: everything that has to hold before a change is done.

Arguments go to pytest; with any, only pytest runs.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.support.second_try import run_tests

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SOURCES = ("cognee_hooks", "builtin_plugins", "examples", "tests")
FULLY_COVERED = (
    "builtin_plugins/bridge/*",
    "cognee_hooks/dispatch.py",
    "cognee_hooks/guard.py",
    "cognee_hooks/implementation.py",
    "cognee_hooks/outcomes.py",
    "cognee_hooks/redaction/*",
    "cognee_hooks/refusals.py",
    "cognee_hooks/registry.py",
    "cognee_hooks/services/filelock.py",
    "cognee_hooks/services/lock.py",
    "cognee_hooks/services/statefile.py",
    "cognee_hooks/timings.py",
)
"""Where a missed branch would break a promise to the user."""
OVERALL = "95"
TESTS = "tests"
APART = ("tests/builtin", "tests/contract/server", "tests/e2e")
"""About half of the tests by time; they run at the same time as the others."""

STEPS: tuple[tuple[str, list[str]], ...] = (
    ("lint", [str(BIN / "ruff"), "check", *SOURCES]),
    ("format", [str(BIN / "ruff"), "format", "--check", *SOURCES]),
    ("types", [sys.executable, "-m", "mypy"]),
    ("imports", [str(BIN / "lint-imports")]),
    (TESTS, [sys.executable, "-m", "coverage", "run", "-m", "pytest"]),
    ("combine", [sys.executable, "-m", "coverage", "combine", "--quiet"]),
    ("coverage", [sys.executable, "-m", "coverage", "report", "--fail-under", OVERALL]),
    (
        "full coverage",
        [
            sys.executable,
            "-m",
            "coverage",
            "report",
            "--fail-under",
            "100",
            "--include",
            ",".join(FULLY_COVERED),
        ],
    ),
)


def passes(name: str, command: list[str]) -> bool:
    """Run a step; the tests get a second try, see :mod:`tests.support.second_try`."""
    if name == TESTS:
        return run_tests(command, ROOT, APART)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Run all steps, or pytest alone with arguments; returns 1 where a step failed."""
    if arguments:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False
        ).returncode
    failed: list[str] = []
    for name, command in STEPS:
        started = time.monotonic()
        print(f"== {name}", flush=True)
        if not passes(name, command):
            failed.append(name)
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
    print(f"== failed: {', '.join(failed)}" if failed else "== all steps passed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
