from __future__ import annotations

import pytest

from builtin_plugins.bootstrap.extras import missing, needed, requirement
from builtin_plugins.bootstrap.version import PIN, TESTED, is_acceptable, is_past_tested
from tests.support.real_cognee import VERSIONS


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "cognee==1.6.5"),
        ({"DB_PROVIDER": " PostgreSQL "}, "cognee[postgres-binary]==1.6.5"),
        (
            {
                "DB_PROVIDER": "postgres",
                "VECTOR_DB_PROVIDER": "pgvector",
                "GRAPH_DATABASE_PROVIDER": "neo4j",
                "LLM_PROVIDER": "ollama",
            },
            "cognee[postgres-binary,neo4j,ollama]==1.6.5",
        ),
        (
            {"EMBEDDING_PROVIDER": "FastEmbed", "LLM_PROVIDER": "openai"},
            "cognee[fastembed]==1.6.5",
        ),
    ],
    ids=["v26", "v27", "v28", "v29"],
)
def test_extras_follow_from_what_is_configured(environ: dict[str, str], expected: str):
    assert requirement(needed(environ)) == expected


def test_v30_extras_whose_distribution_is_absent_are_missing():
    wanted = ["postgres-binary", "neo4j", "ollama"]
    assert missing(wanted, {"asyncpg", "neo4j"}) == ["postgres-binary", "neo4j"]


def test_the_pin_is_the_newest_version_that_the_contract_tests_pass():
    assert TESTED == VERSIONS
    assert max(VERSIONS) == PIN


@pytest.mark.parametrize(
    ("version", "good"),
    [
        ("1.6.5", True),
        ("1.6.0", True),
        ("1.6.12", True),
        ("1.7.0", True),
        ("1.6.3", False),
        ("1.5.9", False),
        ("", False),
        ("none", False),
    ],
)
def test_w19_what_is_tested_or_newer_stays_and_all_else_is_replaced(version: str, good: bool):
    assert is_acceptable(version) is good


def test_a_version_of_a_later_line_is_told():
    assert [is_past_tested(each) for each in ("1.6.9", "1.7.0", "2.0.0", "")] == [
        False,
        True,
        True,
        False,
    ]
