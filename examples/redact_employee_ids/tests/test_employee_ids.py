"""The example's own tests."""

from __future__ import annotations

import pytest
from cognee_hooks_employee_ids import EmployeeIds, redact_loose_ids

from cognee_hooks.redaction import RedactionPipeline

TAG = "[redacted:employee-id]"


@pytest.fixture
def pipeline() -> RedactionPipeline:
    return RedactionPipeline(EmployeeIds().cognee_register_redactors())


@pytest.mark.parametrize(
    "text", ["EMP-123456", "EMP 123456", "emp_123456", "emp123456", "ask EMP-123456, please"]
)
def test_every_spelling_of_an_id_is_taken_out(pipeline: RedactionPipeline, text: str) -> None:
    safe = pipeline.redact_blocking(text).value
    assert "123456" not in safe
    assert TAG in safe


@pytest.mark.parametrize("text", ["EMP-12345", "TEMP-123456", "emp1234567", "empty 123456"])
def test_what_only_looks_like_an_id_stays(pipeline: RedactionPipeline, text: str) -> None:
    assert pipeline.redact_blocking(text).value == text


def test_ids_deep_inside_a_tool_call_are_taken_out(pipeline: RedactionPipeline) -> None:
    call = {"command": "grep EMP-123456 staff.csv", "more": [{"who": "emp 654321"}]}
    assert pipeline.redact_blocking(call).value == {
        "command": f"grep {TAG} staff.csv",
        "more": [{"who": TAG}],
    }


def test_the_function_can_be_tested_alone() -> None:
    assert redact_loose_ids("emp 123456") == TAG
