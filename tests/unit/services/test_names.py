from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.services import names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my project/2!),", "my-project-2---"),
        ("", "agent_sessions"),
        ("notes.v2", "notes-v2"),
        ("x" * 101, "x" * 100),
        ("team memory", "team-memory"),
        ("proj/\N{GREEK SMALL LETTER ALPHA}", "proj--"),
        ("a" * 120, "a" * 100),
    ],
)
def test_vectors_16_to_19_a_dataset_name_keeps_only_what_every_route_of_the_server_accepts(
    name, expected
):
    assert names.safe_dataset_name(name) == expected


@pytest.mark.parametrize(
    ("session_id", "expected"),
    [("pi_abc ✨", "pi_abc--"), ("a/b", "a-b"), ("", ""), ("y" * 130, "y" * 120)],
)
def test_a_session_id_keeps_only_what_can_be_read_back(session_id, expected):
    assert names.safe_session_id(session_id) == expected


@pytest.mark.parametrize("word", sorted(names.RESERVED_SESSION_IDS))
def test_a_session_is_never_named_like_another_route(word):
    assert names.safe_session_id(word) not in names.RESERVED_SESSION_IDS


@pytest.mark.parametrize(
    ("session_id", "expected"),
    [
        ("pi_x", "pi_x__2"),
        ("pi_x__2", "pi_x__3"),
        ("pi_x__9", "pi_x__10"),
        ("a__b__3", "a__b__4"),
        ("pi__x", "pi__x__2"),
        ("pi_x__007", "pi_x__8"),
        ("pi_abc", "pi_abc__2"),
        ("pi_abc__2", "pi_abc__3"),
        ("pi_abc__9", "pi_abc__10"),
        ("a__x", "a__x__2"),
    ],
)
def test_vector_22_the_next_ordinal_counts_up(session_id, expected):
    assert names.next_ordinal(session_id) == expected


def test_w43_a_long_id_keeps_its_ordinal():
    """W15: the stem is cut, never the number."""
    second = names.next_ordinal("z" * 125)
    assert second == "z" * 117 + "__2"
    assert names.next_ordinal(second) == "z" * 117 + "__3"


@given(st.text(max_size=200))
def test_the_next_ordinal_is_always_another_valid_id(session_id):
    following = names.next_ordinal(session_id)
    assert following != session_id
    assert following == names.safe_session_id(following)


@pytest.mark.parametrize(
    "value",
    ["42391BA7-2487-5312-8912-589684AC04D2", "42391BA7248753128912589684ac04d2"],
)
def test_vector_20_both_spellings_of_a_uuid_count(value):
    assert names.canonical_uuid(value) == "42391ba7-2487-5312-8912-589684ac04d2"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "agent_sessions",
        "{42391ba7-2487-5312-8912-589684ac04d2}",
        "urn:uuid:42391ba7-2487-5312-8912-589684ac04d2",
        " 42391ba7248753128912589684ac04d2",
        "42391ba7-24875312-8912-589684ac04d2",
        "٤2391ba7248753128912589684ac04d2",
    ],
)
def test_vector_21_what_only_resembles_a_uuid_does_not_count(value):
    assert names.canonical_uuid(value) == ""


def test_vectors_23_and_24_digests_are_those_that_other_plugins_compute():
    assert names.session_file_stem("pi_x") == "fa26b44bd62cb12380dd2969bb09522ec45a21e7"
    assert names.key_fingerprint("http://localhost:8011", None) == (
        "37ab41643c8782ff5d2e39e899ae9f4bdc1f4a66110ed7d3436d3b9e6a197c8d"
    )
    assert names.key_fingerprint("http://localhost:8011", "ck_" + "test") == (
        "3e5817c1772dba2f0d213165f868cb309461ca28ace5c09e38b8c4b069509dca"
    )
    assert names.key_fingerprint("http://localhost:8011", "k1") == (
        "a3e270460b3598973efdca7f17c7f0d43e3ea027b0f3fbfcf08a9e5cb4d60b7b"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docs/Ünï notes.v2.md", "Ünï notes.v2.md"),
        ('a"b%41\\c.json', "a_b_41_c.json"),
        ("a\r\nb\x00.md", "a__b_.md"),
        ("x" * 300 + ".md", "x" * 197 + ".md"),
        ("", "text.txt"),
        ("docs/", "text.txt"),
    ],
)
def test_a_file_name_comes_back_as_it_was_sent(name, expected):
    assert names.safe_file_name(name) == expected
