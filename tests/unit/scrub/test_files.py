from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.leak import MARKER, Leak
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub import files
from cognee_hooks.scrub.files import Sweeper

VALUE = "hunter2-" + "Zq81"


def sweep(root: Path, *, value: str = VALUE, dry_run: bool = False, **named) -> list[Scrubbed]:
    sweeper = Sweeper(Leak(value), Deadline.after(60), dry_run)
    return [*sweeper.sweep(root, named.get("leave", lambda _: ""))]


def test_a_text_is_replaced_as_a_whole_and_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text(f"one {VALUE} two {VALUE}")
    path.chmod(0o640)

    (row,) = sweep(tmp_path)

    assert (row.state, row.count) == (ScrubState.CLEANED, 2)
    assert path.read_text() == f"one {MARKER} two {MARKER}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_look_changes_nothing(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text(VALUE)
    before = path.stat().st_mtime_ns, path.stat().st_ino

    (row,) = sweep(tmp_path, dry_run=True)

    assert row.state is ScrubState.FOUND
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


@pytest.mark.parametrize("name", ["daemon.log", "daemon.log.1", "server.log.12"])
def test_a_log_is_overwritten_where_it_stands(tmp_path: Path, name: str):
    path = tmp_path / name
    with path.open("ab", buffering=0) as writer:
        writer.write(f"login {VALUE} ok\n".encode())
        sweep(tmp_path)
        writer.write(b"later\n")

    assert path.read_text() == f"login {'*' * len(VALUE)} ok\nlater\n"


def test_a_value_at_the_edge_of_what_is_read_at_once_is_found_once(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(files, "_CHUNK", 16)
    for number in range(20):
        (tmp_path / f"{number}.txt").write_bytes(b"x" * number + VALUE.encode() + b"y" * 9)
        (tmp_path / f"{number}.log").write_bytes(b"x" * number + VALUE.encode() + b"y" * 9)

    rows = sweep(tmp_path)

    assert [row.count for row in rows] == [1] * 40
    assert not any(VALUE in path.read_text() for path in tmp_path.iterdir())


def test_json_stays_json_also_line_by_line_and_for_numbers(tmp_path: Path):
    number = "4929123456"
    whole, lines = tmp_path / "state.json", tmp_path / "rows.jsonl"
    whole.write_text(json.dumps({"card": int(number), "other": [1, 2]}, indent=2))
    lines.write_text(f'{{"card": {number}}}\n{{"kept": 1}}\ntorn {number}')

    sweep(tmp_path, value=number)

    assert json.loads(whole.read_text()) == {"card": MARKER, "other": [1, 2]}
    first, second, third = lines.read_text().split("\n")
    assert [json.loads(first), json.loads(second)] == [{"card": MARKER}, {"kept": 1}]
    assert third == f"torn {MARKER}"


@pytest.mark.parametrize("kind", ["binary", "linked", "long", "foreign"])
def test_what_cannot_be_rewritten_safely_is_named_and_left(tmp_path: Path, monkeypatch, kind: str):
    path = tmp_path / "state.bin"
    path.write_bytes(VALUE.encode() + (b"\0" if kind == "binary" else b""))
    if kind == "linked":
        (tmp_path.parent / f"{tmp_path.name}.link").hardlink_to(path)
    if kind == "long":
        monkeypatch.setattr(files, "MAX_BYTES", 4)
    if kind == "foreign":
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)

    (row,) = sweep(tmp_path)

    assert (row.state, row.count) == (ScrubState.LEFT, 1)
    assert row.detail
    assert VALUE.encode() in path.read_bytes()


def test_what_is_not_ours_is_only_told(tmp_path: Path):
    path = tmp_path / "theirs"
    path.write_text(VALUE)

    (row,) = sweep(tmp_path, leave=lambda _: "theirs, so ask them")

    assert (row.state, row.detail) == (ScrubState.LEFT, "theirs, so ask them")
    assert path.read_text() == VALUE


def test_links_are_not_followed_but_named_where_they_lead_to_the_value(tmp_path: Path):
    inside, outside, clean = tmp_path / "in", tmp_path / "out.txt", tmp_path / "clean.txt"
    inside.mkdir()
    outside.write_text(VALUE)
    clean.write_text("nothing")
    (inside / "link").symlink_to(outside)
    (inside / "clean").symlink_to(clean)
    (inside / "gone").symlink_to(tmp_path / "nowhere")
    (inside / "itself").symlink_to(inside / "itself")
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")

    rows = {Path(row.place).name: row for row in sweep(inside)}

    assert set(rows) == {"link", "folder"}
    assert {row.state for row in rows.values()} == {ScrubState.LEFT}
    assert outside.read_text() == VALUE


def test_a_folder_that_cannot_be_looked_into_is_named(tmp_path: Path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir()
    real = os.scandir

    def scandir(folder):
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scandir)
        (row,) = sweep(tmp_path)

    assert (row.state, row.place) == (ScrubState.LEFT, str(closed))


def test_a_name_that_holds_the_value_is_told_without_it(tmp_path: Path):
    (tmp_path / f"for-{VALUE}.txt").write_text("nothing")

    (row,) = sweep(tmp_path)

    assert row.state is ScrubState.LEFT
    assert row.place.endswith(f"for-{MARKER}.txt")
