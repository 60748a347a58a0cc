"""Which file a document came from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from builtin_plugins.memory import origins
from builtin_plugins.memory.origins import Origins
from cognee_hooks.services.documents import Document

URL = "http://localhost:8011"
DATASET = "42391ba7-2487-5312-8912-589684ac04d2"


def document(number, created=0.0):
    return Document(f"0f8fad5b-d9cb-469f-a165-{number:012d}", "a", "a.md", created)


@pytest.fixture
def kept(tmp_path):
    return Origins(tmp_path / "files.json", URL)


def test_of_documents_of_one_name_the_one_that_came_from_the_file_is_chosen(kept):
    old, new = document(1), document(2, created=9.0)
    kept.note(old.id, DATASET, Path("/one/a.md"))
    assert kept.choose([old, new], DATASET, Path("/one/a.md")) is old
    assert kept.choose([old, new], DATASET, Path("/two/a.md")) is new
    kept.note(new.id, DATASET, Path("/two/a.md"))
    assert kept.choose([old, new], DATASET, Path("/three/a.md")) is None


def test_another_server_or_dataset_has_documents_of_its_own(kept, tmp_path):
    kept.note(document(1).id, DATASET, Path("/one/a.md"))
    other = Origins(tmp_path / "files.json", "http://elsewhere")
    assert other.choose([document(1)], DATASET, Path("/one/a.md")) is None


def test_what_sessions_note_down_at_the_same_time_is_all_there(kept):
    """A note that was lost would let another file of the name take its document."""
    numbers = range(24)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: kept.note(document(n).id, DATASET, Path(f"/{n}/a.md")), numbers))
    for number in numbers:
        assert kept.choose([document(number)], DATASET, Path("/else/a.md")) is None


def test_old_notes_make_room_for_new_ones(kept, monkeypatch):
    monkeypatch.setattr(origins, "MAX_ROWS", 2)
    for number in range(3):
        kept.note(document(number).id, DATASET, Path(f"/{number}/a.md"))
    found = [kept.choose([document(number)], DATASET, Path("/else/a.md")) for number in range(3)]
    assert [each is None for each in found] == [False, True, True]
    assert kept.choose([document(0)], DATASET, Path("/0/a.md")) == document(0)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": 7}'])
def test_a_damaged_file_counts_as_empty(kept, content):
    kept.path.write_bytes(content)
    assert kept.choose([document(1)], DATASET, Path("/a.md")) == document(1)
    kept.note(document(1).id, DATASET, Path("/a.md"))
    assert kept.choose([document(1)], DATASET, Path("/b.md")) is None
