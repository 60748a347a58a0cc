from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.usage import Usage
from cognee_hooks.registry import PluginRecord, PluginState
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow
from cognee_hooks.view.plugin_rows import MAX_HOOKS, MAX_PLUGINS, plugin_rows
from cognee_hooks.view.sources import RecordedSession

FIELDS = {
    "name",
    "package",
    "version",
    "built_in",
    "state",
    "reason",
    "sessions",
    "calls",
    "seconds",
    "slowest",
    "faults",
    "last_fault",
    "slow",
    "quarantined",
    "hooks",
}


def hook(name: str = "cognee_stop", **more: object) -> dict[str, object]:
    return {
        "hook": name,
        "calls": 2,
        "seconds": 0.5,
        "slowest": 0.4,
        "faults": 0,
        "last_fault": "",
        "slow": 0,
        "quarantined": False,
        **more,
    }


def live(session_id: str, *hooks: dict[str, object], name: str = "recall") -> dict[str, object]:
    plugins = [{"name": name, "hooks": list(hooks)}]
    return {"session_id": session_id, "agent": "pi", "plugins": plugins}


def ran(calls: int = 1, seconds: float = 0.0) -> dict[str, object]:
    return {"count": calls, "seconds": seconds}


def ended(session_id: str, **plugins: dict[str, object]) -> RecordedSession:
    ledger = LedgerFile.of(Path("/nowhere"), session_id, "pi", 1.0)
    known = KnownSession(session_id=session_id, agent="pi", began=1.0, last=2.0, ledger=ledger)
    rows = [LedgerRow(time=2.0, act=Act.RAN, what=name, **each) for name, each in plugins.items()]
    return RecordedSession(known, Usage(), rows)


def test_a_plugin_that_never_ran_is_shown_with_its_package_and_state():
    record = PluginRecord(
        name="notes",
        distribution="cognee-hooks-notes",
        version="1.2",
        state=PluginState.BLOCKED,
        reason="It is blocked in config.yaml.",
    )
    (row,) = plugin_rows([record], None, [])
    assert row == {
        "name": "notes",
        "package": "cognee-hooks-notes",
        "version": "1.2",
        "built_in": False,
        "state": "blocked",
        "reason": "It is blocked in config.yaml.",
        "sessions": 0,
        "calls": 0,
        "seconds": 0.0,
        "slowest": None,
        "faults": 0,
        "last_fault": None,
        "slow": 0,
        "quarantined": [],
        "hooks": [],
    }


def test_what_a_plugin_did_in_all_live_sessions_is_added_up():
    failed = hook(faults=5, last_fault="ValueError notes.py:3", slow=1, quarantined=True)
    told = {"sessions": [live("pi_1", failed), live("pi_2", hook(slowest=0.1), hook("lane"))]}
    (row,) = plugin_rows([PluginRecord(name="recall")], told, [])
    assert (row["sessions"], row["calls"], row["seconds"], row["slowest"]) == (2, 6, 1.5, 0.4)
    assert (row["faults"], row["last_fault"], row["slow"]) == (5, "ValueError notes.py:3", 1)
    assert row["quarantined"] == ["cognee_stop"]
    assert row["hooks"] == [
        {"hook": "cognee_stop", "calls": 4, "seconds": 1.0, "slowest": 0.4, "faults": 5},
        {"hook": "lane", "calls": 2, "seconds": 0.5, "slowest": 0.4, "faults": 0},
    ]


def test_what_it_took_in_sessions_that_ended_is_added_and_a_session_that_goes_on_counts_once():
    told = {"sessions": [live("pi_1", hook())]}
    recorded = [
        ended("pi_1", recall=ran(3, 1.0)),
        ended("pi_2", recall=ran(4, 2.0)),
    ]
    (row,) = plugin_rows([PluginRecord(name="recall")], told, recorded)
    assert (row["sessions"], row["calls"], row["seconds"]) == (2, 9, 3.5)


def test_a_plugin_that_only_sessions_have_is_shown_too_with_what_is_known():
    told = {"sessions": [live("pi_1", hook(), name="local")]}
    first, second, third = plugin_rows(
        [PluginRecord(name="recall")], told, [ended("pi_2", gone=ran())]
    )
    assert [each["name"] for each in (first, second, third)] == ["recall", "gone", "local"]
    assert (third["state"], third["package"], third["built_in"]) == (None, None, None)
    assert all(set(each) == FIELDS for each in (first, second, third))


def test_names_and_reasons_are_made_safe_and_rows_bounded():
    many = {"sessions": [live("x", *(hook(f"h{n}") for n in range(99)), name="\x1b[2Jbad\u202e")]}
    record = PluginRecord(name="a\x1b[2Jb", reason="x" * 9999)
    others = {f"p{number}": ran() for number in range(MAX_PLUGINS)}
    made = plugin_rows([record], many, [ended("pi_1", **others)])
    assert len(made) == MAX_PLUGINS
    assert (made[0]["name"], len(made[0]["reason"])) == ("ab", 500)
    assert made[1]["name"] == "bad"
    assert len(made[1]["hooks"]) == MAX_HOOKS
    assert (made[1]["calls"], made[1]["seconds"]) == (198, 49.5)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["sessions", "plugins", "name", "hooks", "hook", "calls", "seconds"]),
            inner,
            max_size=7,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.just("sessions"), ANYTHING))
def test_whatever_a_daemon_tells_can_be_shown(told):
    made = plugin_rows([PluginRecord(name="recall")], told, [])
    json.dumps(made, allow_nan=False, ensure_ascii=False).encode()
    assert all(set(each) == FIELDS for each in made)
