from __future__ import annotations

import json
import os

import pytest

from cognee_hooks.agents.transcripts import last_records


def test_the_latest_record_comes_first(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"n": 1}\n{"n": 2}\nnonsense\n[3]\n{"n": 4}\n{"n": 5')
    assert [record["n"] for record in last_records(str(file))] == [4, 2, 1]


def test_only_the_end_of_a_long_file_is_read(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(10_000)))
    records = list(last_records(str(file), 100))
    assert records[0] == {"n": 9999}
    assert len(records) < 10


def test_hostile_lines_are_passed_over(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"[" * 200_000 + b"\n" + b"\xff\xfe\n" + b'{"n": 1}\n' + b"9" * 5000)
    assert list(last_records(str(file))) == [{"n": 1}]


def test_what_is_no_regular_file_is_empty(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), str(tmp_path), "/dev/zero", str(tmp_path / "none")):
        assert list(last_records(path)) == []


@pytest.mark.parametrize("path", ["", "relative", "/with\0nul", "/half \ud800"])
def test_what_is_no_path_is_empty(path):
    assert list(last_records(path)) == []


def test_only_lines_that_mention_what_is_looked_for_are_parsed(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"n": "a"}\n{"n": "b"}\n{"n": "c"}\n')
    records = list(last_records(str(file), mentioning=(b'"a"', b'"c"')))
    assert records == [{"n": "c"}, {"n": "a"}]
