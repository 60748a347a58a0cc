"""Counting what went wrong, without a word of what was in it."""

from __future__ import annotations

import logging

import pytest

from cognee_hooks.faults import (
    QUARANTINE_AFTER,
    DropReason,
    Drops,
    Faults,
    FaultType,
    NoticeLevel,
    Notices,
    innermost,
)

pytestmark = pytest.mark.expects_faults


def test_faults_of_one_kind_are_one_row_with_a_count_and_times():
    times = iter([10.0, 20.0, 30.0])
    faults = Faults(clock=lambda: next(times))
    faults.record("a", "hook", "ValueError", "a.py:1")
    faults.record("b", "hook", FaultType.TIMEOUT)
    faults.record("a", "hook", "ValueError", "a.py:9")
    latest, other = faults.rows()
    assert (latest.plugin, latest.count, latest.first, latest.last) == ("a", 2, 10, 30)
    assert latest.where == "a.py:9"
    assert faults.rows("b") == [other]


def test_the_fifth_fault_in_a_row_quarantines_and_says_so_once():
    told: list[tuple[str, str]] = []
    faults = Faults(on_quarantine=lambda *pair: told.append(pair))
    for _ in range(QUARANTINE_AFTER - 1):
        faults.record("a", "hook", "ValueError")
    assert not faults.is_quarantined("a", "hook")
    for _ in range(3):
        faults.record("a", "hook", "ValueError")
    assert told == [("a", "hook")]
    assert faults.is_quarantined("a", "hook")
    assert not faults.is_quarantined("a", "other")
    assert not faults.is_quarantined("b", "hook")


def test_quarantine_needs_nobody_to_tell():
    faults = Faults()
    for _ in range(QUARANTINE_AFTER):
        faults.record("a", "hook", "ValueError")
    assert faults.is_quarantined("a", "hook")


def test_a_success_ends_a_row_and_slowness_never_begins_one():
    faults = Faults()
    for _ in range(3 * QUARANTINE_AFTER):
        faults.record("a", "hook", "ValueError")
        faults.success("a", "hook")
        faults.slow("b", "hook")
    assert not faults.is_quarantined("a", "hook")
    assert not faults.is_quarantined("b", "hook")
    assert faults.rows("b")[0].error_type == FaultType.SLOW


def test_each_fault_is_logged_so_that_tests_can_be_loud(caplog):
    with caplog.at_level(logging.WARNING, "cognee_hooks.faults"):
        Faults().record("a", "hook", "ValueError", "a.py:1")
    assert "plugin a failed in hook: ValueError a.py:1" in caplog.text


def test_the_place_of_an_error_is_file_and_line_without_folders():
    with pytest.raises(IndexError) as raised:
        [].pop()
    assert innermost(raised.tb).startswith("test_faults.py:")
    assert innermost(None) == ""


def test_drops_are_counted_by_reason():
    drops = Drops()
    drops.count(DropReason.OWN_TOOL)
    drops.count(DropReason.OWN_TOOL, 2)
    drops.count(DropReason.REJECTED, 0)
    assert drops.as_dict() == {"own_tool": 3}


def test_what_a_rule_leaves_out_is_no_loss():
    drops = Drops()
    drops.count(DropReason.OWN_TOOL, 2)
    drops.count(DropReason.DENIED_PATH)
    drops.count(DropReason.QUEUE_OVERFLOW, 4)
    assert (drops.left_out, drops.lost) == (3, 4)


def test_a_notice_is_said_once_until_its_condition_ended():
    notices = Notices()
    notices.say("down")
    notices.say("down", NoticeLevel.INFO)
    assert [(each.text, each.level) for each in notices.take()] == [("down", NoticeLevel.WARNING)]
    notices.say("down")
    assert notices.take() == []
    notices.forget("down")
    notices.say("down")
    assert len(notices.take()) == 1
