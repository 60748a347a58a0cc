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


def run_tests(command: Sequence[str], folder: Path, apart: Sequence[str] = ()) -> bool:
    """Run pytest, if need be twice; tells whether every test passed once.

    Args:
        command: Runs all tests; pytest's options can be added to it.
        folder: Where to run it.
        apart: Folders of tests that a second process runs at the same time. Most tests wait for
            something most of the time.
    """
    with tempfile.TemporaryDirectory(prefix="tests-") as scratch:
        halves = [
            _Half(command, folder, Path(scratch, "one"), [f"--ignore={each}" for each in apart])
        ]
        if apart:
            halves.append(_Half(command, folder, Path(scratch, "two"), apart, shown_later=True))
        for half in halves:
            half.begin()
        codes = [half.end() for half in halves]
        failed = [test for half in halves for test in half.failed]
        worst = max(codes, key=lambda code: (code not in {0, _TESTS_FAILED}, code != 0))
        if not deserves_another(worst, failed):
            return worst == 0
        print(f"== tests: {len(failed)} failed and run again, alone", flush=True)
        again = [half.again() for half in halves if half.failed]
        # A test that was not found again has not passed.
        still = [test for half in halves for test in half.failed]
    for test in failed:
        outcome = "DID NOT PASS AGAIN" if test in still else "PASSED ONLY WHEN RUN AGAIN"
        print(f"== {outcome}: {test}", flush=True)
    return not any(again) and not still


class _Half:
    """A process that runs some of the tests.

    Args:
        command: Runs all tests.
        folder: Where.
        cache: A cache of its own: in that of the project are failures of other runs.
        chosen: Options that choose the tests.
        shown_later: Keep what it says until the end, as another one is speaking.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        cache: Path,
        chosen: Sequence[str],
        *,
        shown_later: bool = False,
    ) -> None:
        self._command = [*command, "-o", f"cache_dir={cache}", *chosen]
        self._folder = folder
        self._cache = cache
        self._log = cache.with_suffix(".log") if shown_later else None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def failed(self) -> list[str]:
        """Ids of the tests that failed and have not passed since."""
        return _failed(self._cache)

    def begin(self) -> None:
        """Start it."""
        if self._log is None:
            self._process = subprocess.Popen(self._command, cwd=self._folder)
            return
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._folder, stdout=log, stderr=subprocess.STDOUT
            )

    def end(self) -> int:
        """Wait for its end, show what it said, and return what it ended with."""
        assert self._process is not None
        code = self._process.wait()
        if self._log is not None:
            print(self._log.read_text(errors="replace"), flush=True)
        return code

    def again(self) -> int:
        """Run the tests that failed once more."""
        options = ["--last-failed", "--last-failed-no-failures", "none"]
        return subprocess.run([*self._command, *options], cwd=self._folder, check=False).returncode


def _failed(cache: Path) -> list[str]:
    """Return the ids of the tests that failed and have not passed since."""
    try:
        return sorted(json.loads((cache / "v" / "cache" / "lastfailed").read_text()))
    except FileNotFoundError:
        return []
