from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import engine, files
from cognee_hooks.install.plan import FileChange, Plan

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
COPY = "settings.json.cognee-hooks-backup-20260504-030201"


@pytest.fixture
def path(tmp_path) -> Path:
    file = tmp_path / "settings.json"
    file.write_bytes(b"old\n")
    return file


def changing(path: Path, after: bytes | None = b"new\n", **options) -> Plan:
    return Plan(changes=[FileChange(path=path, before=files.read(path), after=after, **options)])


# -- showing -----------------------------------------------------------------------------------


def test_a_plan_is_shown_as_a_diff(path):
    assert engine.diff(changing(path)) == (f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-old\n+new\n")


def test_files_that_appear_or_go_are_named_as_such(path, tmp_path):
    assert engine.diff(changing(tmp_path / "x")).startswith("--- /dev/null\n")
    assert "+++ /dev/null\n" in engine.diff(changing(path, None))


def test_files_that_are_wholly_ours_are_not_shown_line_by_line(path, tmp_path):
    new = tmp_path / "x"
    assert engine.diff(changing(new, b"a\nb\n", wholly_ours=True)) == (
        f"{new}: new file, wholly ours, 2 lines\n"
    )
    assert "to be removed" in engine.diff(changing(path, None, wholly_ours=True))
    assert "-old" in engine.diff(changing(path, wholly_ours=True))


def test_a_diff_cannot_command_the_terminal_or_flood_it(path):
    shown = engine.diff(changing(path, b"\x1b[2Jred\xff " + b"x" * 10_000 + b"\n"))
    assert "\x1b" not in shown
    assert len(shown) < 1000


def test_a_plan_without_changes_shows_nothing(path):
    assert engine.diff(changing(path, b"old\n")) == ""


# -- writing -----------------------------------------------------------------------------------


def test_a_file_is_changed_and_a_dated_copy_is_kept_beside_it(path, tmp_path):
    report = engine.apply(changing(path), NOW)
    assert path.read_bytes() == b"new\n"
    assert report.backups == [tmp_path / COPY]
    assert (tmp_path / COPY).read_bytes() == b"old\n"
    assert report.written == [path]


def test_nothing_is_written_where_nothing_changes(path, tmp_path):
    path.chmod(0o400)
    engine.apply(changing(path, b"old\n"), NOW)
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_needs_no_copy(tmp_path):
    new = tmp_path / "a" / "b" / "settings.json"
    report = engine.apply(changing(new, mode=0o640), NOW)
    assert (report.written, report.backups) == ([new], [])
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


def test_a_file_that_is_wholly_ours_needs_no_copy(path, tmp_path):
    engine.apply(changing(path, wholly_ours=True), NOW)
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_content_is_not_kept_twice(path, tmp_path):
    for _ in range(3):
        engine.apply(changing(path, b"new\n"), NOW)
        engine.apply(changing(path, b"old\n"), NOW + timedelta(seconds=1))
    assert len(list(tmp_path.glob("*backup*"))) == 2


def test_two_copies_in_one_second_have_two_names(path, tmp_path):
    engine.apply(changing(path, b"1"), NOW)
    engine.apply(changing(path, b"2"), NOW)
    engine.apply(changing(path, b"3"), NOW)
    assert sorted(each.name for each in tmp_path.glob("*backup*")) == [
        COPY,
        f"{COPY}-2",
        f"{COPY}-3",
    ]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o777])
def test_permissions_stay_as_they_are(path, tmp_path, mode):
    path.chmod(mode)
    engine.apply(changing(path), NOW)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / COPY).stat().st_mode) & ~mode == 0


def test_a_linked_file_is_changed_where_it_really_is(tmp_path):
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_bytes(b"old\n")
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    engine.apply(changing(link), NOW)
    assert link.is_symlink()
    assert real.read_bytes() == b"new\n"
    assert (tmp_path / COPY).read_bytes() == b"old\n"
    assert list(real.parent.iterdir()) == [real]


def test_a_file_in_a_linked_folder_is_changed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    engine.apply(changing(tmp_path / "link" / "settings.json"), NOW)
    assert (tmp_path / "real" / "settings.json").read_bytes() == b"new\n"
    assert (tmp_path / "link").is_symlink()


def test_a_link_to_nowhere_gets_its_target(tmp_path):
    link = tmp_path / "settings.json"
    link.symlink_to("real.json")
    engine.apply(changing(link), NOW)
    assert (tmp_path / "real.json").read_bytes() == b"new\n"
    engine.apply(changing(link, None), NOW)
    assert link.is_symlink()
    assert not link.exists()


def test_a_file_is_removed_and_folders_of_ours_with_it(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "theirs").touch()
    path = inner / "x"
    path.touch()
    change = FileChange(path=path, before=b"", after=None, wholly_ours=True)
    report = engine.apply(Plan(changes=[change], empty_folders=[inner, tmp_path / "a"]), NOW)
    assert report.removed == [path]
    assert not inner.exists()
    assert (tmp_path / "a").exists()


def test_root_leaves_a_file_to_its_owner(path, monkeypatch):
    facts = path.stat()
    given = []
    monkeypatch.setattr(os, "geteuid", lambda: facts.st_uid + 1)
    monkeypatch.setattr(os, "chown", lambda *what: given.append(what))
    engine._write(changing(path).changes[0], engine.InstallReport())
    assert given == [(path, facts.st_uid, facts.st_gid)]


# -- refusing ----------------------------------------------------------------------------------


def refusal(plan: Plan) -> str:
    before = {each.path: files.read(each.path) for each in plan.changes}
    with pytest.raises(InstallRefused) as caught:
        engine.apply(plan, NOW)
    assert {each.path: files.read(each.path) for each in plan.changes} == before
    return str(caught.value)


def test_a_file_that_changed_in_between_is_refused(path):
    plan = changing(path)
    path.write_bytes(b"theirs\n")
    assert "another program changed it just now" in refusal(plan)


def test_a_read_only_file_is_refused_even_to_root(path):
    path.chmod(0o444)
    assert "it is read-only. Make it writable" in refusal(changing(path))


def test_a_link_to_a_read_only_file_is_refused_with_its_target(path, tmp_path):
    path.chmod(0o444)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert f"it is read-only (it leads to {path})" in refusal(changing(link))


def test_a_file_of_another_user_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    assert "it belongs to another user" in refusal(changing(path))


def test_a_read_only_folder_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda where, mode: Path(where).is_file())
    assert f"the folder {path.parent} is read-only" in refusal(changing(path))


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    link = tmp_path / "settings.json"
    (tmp_path / "file").touch()
    link.symlink_to("file/x/settings.json")
    plan = Plan(changes=[FileChange(path=tmp_path / "new", before=None, after=b"1")])
    assert engine.apply(plan, NOW).written
    with pytest.raises(InstallRefused, match="a part of this path is a file"):
        files.read(link)


def test_a_folder_that_became_a_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    plan = Plan(changes=[FileChange(path=tmp_path / "file" / "x", before=None, after=b"1")])
    monkeypatch.setattr(engine, "read", lambda path: None)
    with pytest.raises(InstallRefused, match="is not a folder"):
        engine.apply(plan, NOW)


def test_all_files_are_checked_before_the_first_is_written(path, tmp_path):
    second = tmp_path / "second"
    second.touch(mode=0o444)
    plan = Plan(changes=[*changing(path).changes, *changing(second).changes])
    assert "read-only" in refusal(plan)
    assert not list(tmp_path.glob("*backup*"))


def test_what_was_written_is_put_back_where_a_later_file_fails(path, tmp_path, monkeypatch):
    new, gone, last = tmp_path / "new", tmp_path / "gone", tmp_path / "last"
    gone.write_bytes(b"gone")
    last.touch()
    write = engine.write_atomic

    def full(where: Path, data: bytes, **options) -> None:
        if where == last:
            raise OSError(28, "No space left on device")
        write(where, data, **options)

    monkeypatch.setattr(engine, "write_atomic", full)
    changes = [changing(path), changing(new), changing(gone, None), changing(last)]
    plan = Plan(changes=[each.changes[0] for each in changes])
    assert "No space left on device" in refusal(plan)
    assert (path.read_bytes(), new.exists(), gone.read_bytes()) == (b"old\n", False, b"gone")


def test_a_kill_in_the_middle_leaves_the_old_file_or_the_new_one(path):
    code = (
        "import sys, os, threading, time\n"
        "from datetime import datetime\n"
        "from pathlib import Path\n"
        "from cognee_hooks.install import engine, files\n"
        "from cognee_hooks.install.plan import FileChange, Plan\n"
        "path = Path(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "for n in range(100000):\n"
        "    after = (b'%d' % (n % 2)) * 200000\n"
        "    change = FileChange(path=path, before=files.read(path), after=after)\n"
        "    engine.apply(Plan(changes=[change]), datetime(2026, 1, 1))\n"
    )
    allowed = {b"old\n", b"0" * 200_000, b"1" * 200_000}
    for delay in (0.0, 0.01, 0.03):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert path.read_bytes() in allowed
