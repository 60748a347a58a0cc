"""Is the ranking useful?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognee_hooks.embedded.memory import EmbeddedMemory

FACTS = {
    "refund": "PaymentService.process_refund checks the LedgerStore before money moves back.",
    "deploy": "Deployments run every Tuesday; the release manager approves them in #shipping.",
    "cache": "The session cache evicts entries after forty minutes without a read.",
    "auth": "Authentication uses signed tokens that expire after one hour.",
    "flaky": "test_checkout is flaky because the clock is not frozen; freeze it with freezegun.",
    "tabs": "The user prefers tabs over spaces and short commit messages.",
    "db": "The production database is Postgres 16; migrations live in db/migrate.",
    "japanese": "このプロジェクトの記憶サーバーは東京で動いています。",
    "chinese": "支付服务使用红宝石账本进行复式记账。",
    "french": "La rétention bloque la mise en production le vendredi.",
}


@pytest.fixture
def filled(memory: EmbeddedMemory) -> EmbeddedMemory:
    dataset = memory.datasets.create("d")
    for name, text in FACTS.items():
        memory.passages.replace(dataset.id, name, name, [text], [])
    return memory


def best(memory: EmbeddedMemory, query: str) -> str | None:
    hits = memory.passages.search(query, memory.datasets.id_of("d"), 5)
    return hits[0].source_id if hits else None


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("how do refunds work?", "refund"),
        ("what does the payment service check", "refund"),
        ("ledger store", "refund"),
        ("when do we deploy?", "deploy"),
        ("who approves a deployment", "deploy"),
        ("what evicts the cached entries", "cache"),
        ("auth", "auth"),
        ("how long do token last", "auth"),
        ("why is the checkout test flaky", "flaky"),
        ("should I indent with tabs or with spaces?", "tabs"),
        ("where are the migrations of the postgres database", "db"),
        ("記憶サーバーはどこ", "japanese"),
        ("红宝石账本", "chinese"),
        ("retention vendredi", "french"),
    ],
)
def test_the_passage_that_answers_comes_first(filled: EmbeddedMemory, query: str, source: str):
    assert best(filled, query) == source


@pytest.mark.parametrize("query", ["xylophone", "", "?!", "🦊", "\x00", '"', "the of and"])
def test_a_query_without_a_match_finds_nothing(filled: EmbeddedMemory, query: str):
    assert best(filled, query) is None


def test_a_passage_that_shares_a_common_word_only_is_left_out(filled: EmbeddedMemory):
    dataset = filled.datasets.id_of("d")
    for number in range(20):
        filled.passages.replace(dataset, f"n{number}", "n", [f"The service number {number}."], [])
    hits = filled.passages.search("process_refund LedgerStore service", dataset, 5)
    assert [hit.source_id for hit in hits] == ["refund"]


def test_hits_are_ordered_and_their_distance_lies_between_0_and_1(filled: EmbeddedMemory):
    hits = filled.passages.search("cache tokens expire hour", filled.datasets.id_of("d"), 5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= hit.distance <= 1 for hit in hits)


def test_datasets_do_not_see_each_other(filled: EmbeddedMemory):
    other = filled.datasets.create("other")
    assert filled.passages.search("refunds", other.id, 5) == []


def test_replaced_and_removed_passages_are_not_found(filled: EmbeddedMemory):
    dataset = filled.datasets.id_of("d")
    filled.passages.replace(dataset, "cache", "cache", ["Nothing of interest."], [])
    assert best(filled, "evicts entries") is None
    filled.passages.remove_source("tabs")
    assert best(filled, "tabs spaces") is None


def test_node_names_restrict_what_is_found(filled: EmbeddedMemory):
    dataset = filled.datasets.id_of("d")
    filled.passages.replace(dataset, "x", "x", ["KiloTable one"], ["agent:pi", "b"])
    filled.passages.replace(dataset, "y", "y", ["KiloTable two"], ["c"])
    found = filled.passages.search("KiloTable", dataset, 5, ["agent:pi", "unknown"])
    assert [hit.source_id for hit in found] == ["x"]


@settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_no_query_text_breaks_the_search(filled: EmbeddedMemory, query: str):
    filled.passages.search(query, filled.datasets.id_of("d"), 5)


def test_a_very_long_query_is_answered(filled: EmbeddedMemory):
    query = " ".join(f"word{number}" for number in range(20_000)) + " refund"
    filled.passages.search("refund " + query, filled.datasets.id_of("d"), 5)
    assert best(filled, "refund " + query) == "refund"
