from __future__ import annotations

import json

import pytest

from cognee_hooks.services.bindings import Binding, Bindings
from cognee_hooks.services.names import key_fingerprint
from cognee_hooks.services.paths import Paths

URL = "http://localhost:8011"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"
OLD = Binding(dataset="one", session_id="pi_a")
NEW = Binding(dataset="two", session_id="pi_a__2")


@pytest.fixture
def paths(tmp_path):
    return Paths.of({"HOME": str(tmp_path)}, "pi")


@pytest.fixture
def make(paths):
    def build(url=URL, key=None):
        return Bindings(
            path=paths.active_dataset_file,
            sessions_dir=paths.sessions_dir,
            base_url=url,
            key=lambda: key,
        )

    return build


@pytest.fixture
def write(paths):
    def put(**fields):
        record = {"base_url": URL, "key_fp": key_fingerprint(URL, None)}
        record |= {"dataset": "two", "session_id": "pi_x__2"} | fields
        paths.active_dataset_file.parent.mkdir(parents=True, exist_ok=True)
        paths.active_dataset_file.write_text(json.dumps(record))

    return put


def test_vectors_23_and_24_a_fingerprint_tells_server_and_account_apart():
    assert key_fingerprint(URL, None).startswith("37ab41643c8782ff")
    assert key_fingerprint(URL, "k1").startswith("a3e270460b359897")


def test_a_switch_is_there_for_later_conversations_and_for_its_own(make, paths):
    make().save("pi_a", NEW, OLD, synced=True, lasting=True)
    assert make().default() == "two"
    assert make().of("pi_a") == NEW
    record = json.loads(paths.active_dataset_file.read_text())
    assert record["previous"] == {"dataset": "one", "session_id": "pi_a", "synced": True}
    assert record["session_id"] == "pi_a__2"
    assert record["switched_at"].endswith("+00:00")


def test_w15_and_w43_another_conversation_shares_the_dataset_and_not_the_session(make):
    make().save("pi_a", NEW, OLD, synced=True, lasting=True)
    assert make().of("pi_b") is None


def test_a_switch_of_one_conversation_only(make):
    make().save("pi_a", NEW, OLD, synced=False, lasting=False)
    assert (make().default(), make().of("pi_a")) == ("", NEW)


@pytest.mark.parametrize("other", [{"url": "http://localhost:8012"}, {"key": "k1"}])
def test_vector_97_a_record_of_another_server_or_account_is_ignored(make, other):
    make().save("pi_a", NEW, OLD, synced=True, lasting=True)
    assert make(**other).default() == ""
    assert make(**other).of("pi_a") is None


@pytest.mark.parametrize(
    "fields",
    [
        {"dataset": ""},
        {"session_id": ""},
        {"dataset": 7},
        {"session_id": None},
        {"base_url": ""},
        {"key_fp": None},
    ],
)
def test_a_record_that_lacks_something_is_ignored(make, write, fields):
    write(**fields)
    assert make().default() == ""


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"dataset": "two"'])
def test_a_torn_record_is_ignored(make, paths, content):
    paths.active_dataset_file.parent.mkdir(parents=True)
    paths.active_dataset_file.write_bytes(content)
    assert make().default() == ""


@pytest.mark.parametrize(
    ("dataset", "expected"), [("my.repo", "my-repo"), (UUID.upper(), UUID), ("two", "two")]
)
def test_a_record_of_pi_cognee_is_read(make, write, dataset, expected):
    write(dataset=dataset, dataset_ids=[UUID], switched_at="2026-01-01T00:00:00Z")
    assert make().default() == expected


def test_vector_98_a_record_that_cannot_be_written_changes_nothing(make, paths):
    paths.active_dataset_file.mkdir(parents=True)
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        make().save("pi_a", NEW, OLD, synced=True, lasting=True)
    assert make().default() == ""
    # Nor does the conversation go on with it when it is resumed.
    assert make().of("pi_a") is None


def test_vector_98_a_second_switch_that_cannot_be_written_leaves_the_first(make, paths):
    make().save("pi_a", NEW, OLD, synced=True, lasting=False)
    paths.active_dataset_file.mkdir(parents=True)
    third = Binding(dataset="three", session_id="pi_a__3")
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        make().save("pi_a", third, NEW, synced=True, lasting=True)
    assert make().of("pi_a") == NEW


@pytest.mark.parametrize(
    ("forgotten", "left"), [(("two", UUID), ""), (("other",), "two"), (("",), "two"), ((), "two")]
)
def test_w33_a_dataset_that_is_gone_is_no_longer_begun_with(make, forgotten, left):
    make().save("pi_a", NEW, OLD, synced=True, lasting=True)
    make().forget(*forgotten)
    assert make().default() == left


def test_w33_a_dataset_known_by_its_id_is_no_longer_begun_with(make):
    by_id = Binding(dataset=UUID, session_id="pi_a__2")
    make().save("pi_a", by_id, OLD, synced=True, lasting=True)
    make().forget("name", UUID.upper())
    assert make().default() == ""
