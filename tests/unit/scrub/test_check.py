from __future__ import annotations

import pytest

from cognee_hooks.scrub.check import value_problem


@pytest.mark.parametrize(
    "value",
    [
        "",
        "   \n",
        "abc12",
        "aaaaaaaaaaaa",
        "banana",
        "session_id",
        "Password",
        "claude-code",
        "redacted:scrubbed",
        "/home/kim",
        "12345678",
    ],
)
def test_values_that_stand_in_most_files_are_refused(value: str):
    problem = value_problem(value, "/home/kim")
    assert problem
    assert not value.strip() or value not in problem


@pytest.mark.parametrize(
    "value", ["hunter2", "correct horse battery", "AKIA" + "4" * 8 + "ZQ19", "4929123456"]
)
def test_what_may_be_a_secret_is_not_refused(value: str):
    assert value_problem(value, "/home/kim") == ""
