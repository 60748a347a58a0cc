"""How the plugins of a host behaved, and what is read of it from a daemon's answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.faults import QUARANTINE_AFTER, Faults
from cognee_hooks.plugin_report import HookReport, PluginReport, read_reports, reports
from cognee_hooks.registry import PluginRecord, PluginState
from cognee_hooks.timings import Timings

pytestmark = pytest.mark.expects_faults


def record(name: str, *, built_in: bool = False) -> PluginRecord:
    return PluginRecord(name=name, state=PluginState.ACTIVE, built_in=built_in)


def test_calls_times_and_faults_of_a_plugin_are_put_together_by_hook():
    timings, faults = Timings(), Faults()
    for seconds in (0.5, 0.25):
        timings.add("notes", "cognee_stop", seconds, 0.6)
    faults.record("notes", "cognee_stop", "ValueError", "notes.py:3")
    for _ in range(QUARANTINE_AFTER):
        faults.record("notes", "lane", "timeout")
    faults.record("other", "lane", "timeout")
    assert reports([record("notes"), record("silent")], timings, faults) == [
        PluginReport(
            name="notes",
            hooks=(
                HookReport(
                    hook="cognee_stop",
                    calls=2,
                    seconds=0.75,
                    slowest=0.5,
                    faults=1,
                    last_fault="ValueError notes.py:3",
                    slow=1,
                ),
                HookReport(hook="lane", faults=5, last_fault="timeout", quarantined=True),
            ),
        )
    ]


def test_a_built_in_is_slow_where_it_holds_up_the_loop_and_not_where_it_waits_for_the_server():
    timings, faults = Timings(), Faults()
    timings.add("recall", "cognee_user_prompt_submit", 3.9, 4.0)
    timings.add("capture", "cognee_stop", 0.01, 0.05)
    faults.slow("capture", "cognee_stop")
    found = reports(
        [record("recall", built_in=True), record("capture", built_in=True)], timings, faults
    )
    slow = {each.name: (each.hooks[0].slow, each.hooks[0].faults) for each in found}
    assert slow == {"recall": (0, 0), "capture": (1, 0)}


def test_names_that_a_plugin_gave_are_printable_and_short():
    timings, faults = Timings(), Faults()
    name = "\x1b[2J" + "n" * 9999
    timings.add(name, "cognee_stop", 0.0, 1.0)
    faults.record(name, "cognee_stop", "E\n" * 999, "w\x07" * 999)
    [found] = reports([record(name)], timings, faults)
    text = json.dumps(found.as_json())
    assert len(text) < 999
    assert "\\u001b" not in text
    assert "\\n" not in text


def test_a_daemon_is_understood():
    hook = HookReport(
        hook="lane",
        calls=3,
        seconds=0.5,
        slowest=0.25,
        faults=2,
        last_fault="timeout",
        slow=1,
        quarantined=True,
    )
    made = PluginReport(name="notes", hooks=(hook,))
    assert read_reports(json.loads(json.dumps([made.as_json()]))) == [made]


@pytest.mark.parametrize(
    "document", [None, "x", {}, [1, None, {}], [{"name": 1, "hooks": []}], [{"name": "x"}]]
)
def test_what_is_no_report_is_passed_over(document):
    assert read_reports(document) == []


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    hooks=st.lists(
        VALUES | st.dictionaries(st.sampled_from(list(HookReport.__dataclass_fields__)), VALUES)
    )
)
def test_whatever_an_answer_holds_comes_to_numbers_that_can_be_added(hooks):
    [found] = read_reports([{"name": "\x1b[2Jx", "hooks": hooks}])
    assert found.name == "x"
    for each in found.hooks:
        assert each.calls + each.faults + each.slow >= 0
        assert each.seconds + each.slowest >= 0
        assert each.quarantined in {True, False}
