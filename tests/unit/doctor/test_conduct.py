"""What is said of plugins that do not behave, and when."""

from __future__ import annotations

import pytest

from cognee_hooks.doctor import conduct
from cognee_hooks.doctor.conduct import MAX_HOOKS, MAX_ROWS
from cognee_hooks.plugin_report import HookReport, PluginReport, together
from cognee_hooks.results import CheckResult, CheckStatus


def plugin(name: str, *hooks: HookReport) -> PluginReport:
    return PluginReport(name=name, hooks=hooks)


def hook(name: str = "cognee_stop", **more: object) -> HookReport:
    return HookReport(hook=name, **{"calls": 20, "seconds": 4.0, "slowest": 0.5} | more)


def rows(*plugins: PluginReport) -> list[CheckResult]:
    return conduct.checks("live plugins", plugins, lambda name: name == "recall")


def test_of_one_that_is_switched_off_it_is_said_what_that_means_and_what_to_do():
    off = hook(calls=5, faults=5, last_fault="ValueError notes.py:3", quarantined=True)
    [row] = rows(plugin("notes", off))
    assert (row.name, row.status) == ("live plugins", CheckStatus.WARNING)
    assert row.detail == (
        "notes failed 5 times in a row and is switched off until its session ends: stop (5 of 5 "
        "failed, last ValueError notes.py:3). What it does there is missing, all else works"
    )
    assert "`cognee-hooks plugins disable notes`" in row.remedy
    assert "author" in row.remedy
    assert "doctor --bundle" in row.remedy


def test_one_of_ours_is_reported_to_us():
    [row] = rows(plugin("recall", hook(faults=5, last_fault="timeout")))
    assert "disable" not in row.remedy
    assert "doctor --bundle" in row.remedy


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (hook(), ""),
        (hook(faults=1), ""),  # a busy machine
        (hook(faults=2, last_fault="timeout"), "fails"),
        (hook(calls=1, faults=1, last_fault="timeout"), "fails"),
        (hook("background", calls=0, faults=1, last_fault="timeout"), "background (1 failed"),
        (hook(slow=2), ""),
        (hook(calls=100, slow=19), ""),
        (hook(slow=4), "is slow, and the agent may have to wait for it: stop (200 ms on average"),
        (hook(faults=20, slow=20, last_fault="timeout"), "is slow"),
    ],
)
def test_only_what_happens_again_and_again_is_said(report, said):
    found = rows(plugin("notes", report))
    assert [said in row.detail for row in found] == ([True] if said else [])


def test_all_that_is_wrong_with_a_plugin_is_one_row():
    [row] = rows(
        plugin(
            "notes",
            hook("lane", faults=5, last_fault="E", quarantined=True),
            hook("cognee_stop", faults=20, last_fault="E"),
            hook("cognee_user_prompt_submit", slow=20),
        )
    )
    assert [word in row.detail for word in ("switched off", "fails", "slow")] == [True] * 3


def test_however_many_plugins_and_hooks_there_are_the_rows_stay_few_and_short():
    bad = [hook(f"cognee_{n}", faults=20, last_fault="E") for n in range(MAX_HOOKS + 2)]
    found = rows(*(plugin(f"plugin {n}", *bad) for n in range(MAX_ROWS + 3)))
    assert len(found) == MAX_ROWS + 1
    assert "2 more" in found[0].detail
    assert found[-1].detail == "and 3 more plugins"
    assert "cognee-hooks plugins" in found[-1].remedy


def test_one_session_in_which_it_is_switched_off_is_enough():
    both = together(
        [
            plugin("notes", hook(calls=5, faults=5, last_fault="E", quarantined=True)),
            plugin("notes", hook()),
            plugin("other", hook()),
        ]
    )
    assert both["notes"] == PluginReport(
        name="notes",
        sessions=2,
        hooks=(hook(calls=25, faults=5, seconds=8.0, last_fault="E", quarantined=True),),
    )
    [row] = rows(*both.values())
    assert "switched off" in row.detail
