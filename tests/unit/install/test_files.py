from __future__ import annotations

import os

import pytest

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import files


def test_a_missing_file_is_no_content(tmp_path):
    assert files.read(tmp_path / "no" / "settings.json") is None


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(InstallRefused, match="it is not a regular file"):
        files.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InstallRefused, match="it is not a regular file"):
        files.read(tmp_path / "pipe")


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InstallRefused, match="a symbolic link that leads back to itself"):
        files.read(tmp_path / "loop")


def test_a_name_that_the_system_does_not_take_is_refused(tmp_path):
    with pytest.raises(InstallRefused, match="cannot be read or written"):
        files.read(tmp_path / ("x" * 300))


def test_a_file_without_end_is_refused(tmp_path):
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    with pytest.raises(InstallRefused, match="larger than 16 MB"):
        files.read(path)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    monkeypatch.setattr(files, "read_bytes", lambda path: None)
    with pytest.raises(InstallRefused, match="it cannot be read"):
        files.read(tmp_path / "x")


def test_copies_come_newest_first_whatever_the_name_of_the_file(tmp_path):
    path = tmp_path / "[a]*?.json"
    for number in (1, 3, 2):
        path.with_name(f"{path.name}{files.BACKUP_MARK}{number}").write_text(str(number))
    (tmp_path / f"a.json{files.BACKUP_MARK}9").write_text("other")
    assert list(files.backups(path)) == [b"3", b"2", b"1"]
