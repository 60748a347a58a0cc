"""The fixtures as pytest itself finds and runs them, in a project of somebody else."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

PLUGIN = """
from cognee_hooks import hookimpl
from cognee_hooks.results import AdditionalContext


class Plugin:
    @hookimpl
    def cognee_user_prompt_submit(self, event):
        return AdditionalContext(text="mine")

    @hookimpl
    def cognee_stop(self, event):
        raise ValueError
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(mine=PLUGIN)
    pytester.syspathinsert()
    return pytester


def test_a_session_is_a_fixture_away(project):
    project.makepyfile(
        """
        from mine import Plugin

        def test_it(cognee_session, cognee_clock):
            session = cognee_session(Plugin(), clock=cognee_clock)
            assert "mine" in session.prompt("hello there")
        """
    )
    project.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1)


def test_a_fault_that_was_forgiven_fails_the_test_unless_it_is_wanted(project):
    project.makepyfile(
        """
        import pytest
        from mine import Plugin

        def test_it(cognee_session):
            cognee_session(Plugin()).stop("x")

        @pytest.mark.cognee_expects_faults
        def test_it_is_wanted(cognee_session):
            cognee_session(Plugin()).stop("x")
        """
    )
    done = project.runpytest_subprocess("--strict-markers")
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(["*forgiven: plugin-0 in cognee_stop: ValueError mine.py:*"])


def test_a_suite_that_asks_for_nothing_pays_nothing(project):
    project.makepyfile(
        """
        import sys

        def test_it():
            assert "cognee_hooks.host" not in sys.modules
            assert "httpx" not in sys.modules
        """
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)
