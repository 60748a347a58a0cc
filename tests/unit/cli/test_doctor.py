"""The command; its rows are tested where they are made."""

from __future__ import annotations

import json
import time

import pytest

from cognee_hooks.cli import doctor, main
from cognee_hooks.doctor import Finding
from cognee_hooks.drill import Drill, DrillRow
from cognee_hooks.printable import clean
from cognee_hooks.results import CheckResult, CheckStatus


@pytest.fixture
def found(monkeypatch):
    """What doctor finds."""
    rows: list[Finding] = []
    monkeypatch.setattr(doctor, "look", lambda *_: rows)

    def find(*statuses: CheckStatus, detail: str = "found", remedy: str = "do this"):
        rows[:] = [
            Finding(CheckResult(name=f"row {n}", status=each, detail=detail, remedy=remedy))
            for n, each in enumerate(statuses)
        ]

    return find


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([], 0),
        (["ok", "info"], 0),
        (["ok", "warning"], 0),
        (["failed", "ok"], 1),
        (["warning", "failed"], 1),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_worst_row_decides_on_the_exit_code(found, capsys, statuses, code, options):
    found(*map(CheckStatus, statuses))
    assert main(["doctor", *options]) == code


def test_the_json_has_four_texts_a_row(found, capsys):
    found(CheckStatus.WARNING)
    main(["doctor", "--json"])
    assert json.loads(capsys.readouterr().out) == [
        {"name": "row 0", "status": "warning", "detail": "found", "remedy": "do this"}
    ]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_rows_fit_the_terminal(found, capsys, monkeypatch, width):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    found(*CheckStatus, detail="what was found here " * 8, remedy="what to do about it " * 8)
    main(["doctor"])
    lines = clean(capsys.readouterr().out).splitlines()
    assert max(len(line) for line in lines) <= width
    assert sum("\u2192 what to do about" in line for line in lines) == len(CheckStatus)


def test_a_drill_and_a_bundle_are_asked_for_one_by_one(capsys):
    assert main(["doctor", "--drill", "--bundle"]) == 2
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("happens", "told"),
    [(lambda *_: time.sleep(3), "not done in time"), (lambda *_: 1 / 0, "ZeroDivisionError")],
    ids=["hangs", "fails"],
)
def test_what_becomes_of_the_agents_side_costs_no_other_row(monkeypatch, capsys, happens, told):
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(doctor, "APART_SECONDS", 0.5)
    monkeypatch.setattr(doctor, "check_agent", happens)
    assert main(["doctor", "--json"]) == 1
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert told in rows["agent"]["detail"]
    assert {"mode", "server", "bridge"} <= rows.keys()


@pytest.mark.parametrize(
    ("statuses", "code"), [(["ok", "info", "warning"], 0), (["ok", "failed"], 1)]
)
def test_a_drill_is_shown_row_by_row_and_decides_on_the_exit_code(
    monkeypatch, capsys, statuses, code
):
    rows = [
        DrillRow(
            name=f"fault {number}",
            status=CheckStatus(status),
            detail="found",
            proves="it holds",
            remedy="mend it" if status == "failed" else "",
            seconds=0.5,
        )
        for number, status in enumerate(statuses)
    ]

    async def run(self, deadline):
        return rows

    monkeypatch.setattr(Drill, "run", run)
    assert main(["doctor", "--drill"]) == code
    out = capsys.readouterr().out
    assert "it holds" in out
    assert ("mend it" in out) is bool(code)
    assert main(["doctor", "--drill", "--json"]) == code
    assert json.loads(capsys.readouterr().out)[0] == {
        "name": "fault 0",
        "status": "ok",
        "detail": "found",
        "proves": "it holds",
        "remedy": "",
        "seconds": 0.5,
    }
