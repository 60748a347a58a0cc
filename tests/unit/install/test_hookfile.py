from __future__ import annotations

import codecs
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import engine, hookfile
from cognee_hooks.install.plan import Plan
from tests.unit.install import documents
from tests.unit.install.documents import OURS, table, written

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
WILD = Path(__file__).parents[2] / "data" / "settings"
TABLE = table(members={"statusLine": {"command": OURS}})


def install(path: Path) -> engine.InstallReport:
    return engine.apply(Plan(changes=[hookfile.plan_addition(path, TABLE, "Agent")]), NOW)


def uninstall(path: Path) -> engine.InstallReport:
    return engine.apply(Plan(changes=[hookfile.plan_removal(path, TABLE, "Agent")]), NOW)


def without_backups(path: Path) -> None:
    for each in path.parent.glob("*backup*"):
        each.unlink()


@pytest.mark.parametrize("name", sorted(each.name for each in (WILD / "claude-code").iterdir()))
def test_files_found_in_the_wild_come_back_byte_for_byte(name, tmp_path):
    path = tmp_path / "settings.json"
    original = (WILD / "claude-code" / name).read_bytes()
    path.write_bytes(original)
    for _ in range(2):
        install(path)
        installed = path.read_bytes()
        assert installed != original
        assert json.loads(installed.decode("utf-8-sig"))["hooks"]["Stop"]
        install(path)
        assert path.read_bytes() == installed
        uninstall(path)
        assert path.read_bytes() == original


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_document_comes_back_byte_for_byte(data, tmp_path):
    path = tmp_path / "settings.json"
    without_backups(path)
    original = data.draw(written(data.draw(documents.settings))).encode()
    path.write_bytes(original)
    install(path)
    uninstall(path)
    assert path.read_bytes() == original


def test_a_file_that_was_not_there_is_gone_again(tmp_path):
    path = tmp_path / ".agent" / "settings.json"
    install(path)
    install(path)
    assert path.exists()
    uninstall(path)
    assert list(path.parent.iterdir()) == []
    assert not uninstall(path).removed


def test_what_was_added_since_stays(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"hooks": {}}')
    install(path)
    path.write_text(path.read_text().replace('{"hooks"', '{"new": 1, "hooks"'))
    uninstall(path)
    assert json.loads(path.read_text()) == {"new": 1}


def test_a_copy_that_holds_entries_of_ours_is_not_brought_back(tmp_path):
    path = tmp_path / "settings.json"
    older = table("/old/cognee_hooks/daemon/client.py")
    engine.apply(Plan(changes=[hookfile.plan_addition(path, older, "Agent")]), NOW)
    install(path)
    assert len(list(tmp_path.glob("*backup*"))) == 1
    uninstall(path)
    assert not path.exists()


def test_copies_that_cannot_be_read_are_passed_over(tmp_path):
    path = tmp_path / "settings.json"
    install(path)
    (tmp_path / "settings.json.cognee-hooks-backup-1").write_text("{broken")
    (tmp_path / "settings.json.cognee-hooks-backup-2").write_bytes(b"\xff")
    (tmp_path / "settings.json.cognee-hooks-backup-3").mkdir()
    uninstall(path)
    assert not path.exists()


def test_an_installation_that_the_agent_rewrote_is_removed_all_the_same(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{\n\t"model": "opus"\n}\n')
    install(path)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    assert not install(path).written
    uninstall(path)
    assert json.loads(path.read_text()) == {"model": "opus"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'{\n  "a": 1,\n  // why\n}',
            "line 3, column 3: a comment stands here. Agent cannot read",
        ),
        (b'{\n  "a": 1,\n}', "line 3, column 1: a member name in double quotes is expected"),
        (b'{"a": ', "line 1, column 7: the text ends in the middle"),
        (b"{\n\n\xff", "line 3: it is not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "line 1: it is not UTF-8"),
        (b'{\n "hooks": [] }', 'line 2, column 11: "hooks" is not an object, as Agent expects'),
        (b'{"hooks": {"Stop": "x"}}', 'line 1, column 20: "Stop" is not an array'),
        (b"[]", "line 1, column 1: the document is not an object"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_with_its_place(content, message, tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with pytest.raises(InstallRefused) as caught:
        hookfile.plan_addition(path, TABLE, "Agent")
    assert f"{path}: {message}" in str(caught.value)
    assert "Nothing was changed." in str(caught.value)
    # Without anything of ours in it there is nothing to complain about.
    assert not hookfile.plan_removal(path, TABLE, "Agent").changes


def test_removal_from_a_broken_file_with_entries_of_ours_is_refused(tmp_path):
    path = tmp_path / "settings.json"
    install(path)
    path.write_text(path.read_text() + "}")
    with pytest.raises(InstallRefused, match="behind the end"):
        hookfile.plan_removal(path, TABLE, "Agent")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    assert hookfile.text_of(tmp_path, codecs.BOM_UTF8 + b"{}") == "{}"
    assert hookfile.text_of(tmp_path, None) == ""


def test_a_huge_file_is_edited_in_time(tmp_path):
    path = tmp_path / "settings.json"
    original = json.dumps({"list": [{"key": f"value {n}"} for n in range(20_000)]}, indent=2)
    path.write_text(original)
    install(path)
    uninstall(path)
    assert path.read_text() == original
