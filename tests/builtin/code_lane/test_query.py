from __future__ import annotations

from dataclasses import replace

import pytest

from cognee_hooks.errors import FailureKind, ServerFailure
from tests.support.code_session import DATASETS, UUID
from tests.support.repositories import make_repository
from tests.support.scripted import RECALL

K = FailureKind
REFUND = {"kind": "symbol", "name": "src/pay.Service.refund", "file": "src/pay.py", "line": 9}
FINDING = {"kind": "insight", "name": "Dead code candidate: method src/pay.Service.refund"}
OTHER = "99999999-2487-5312-8912-589684ac04d2"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def bodies(made):
    return [each for each in made.client.bodies(RECALL) if each["scope"] == ["code"]]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({}, "⚠ Provide a seed"),
        ({"operation": "traverse"}, "⚠ traverse needs 'start'"),
        ({"operation": "find_path", "source": "A"}, "⚠ find_path needs 'source' and 'target'"),
        ({"operation": "impact_analysis", "targets": []}, "⚠ impact_analysis needs 'targets'"),
    ],
)
async def test_vectors_67_to_70_a_question_that_lacks_something_is_not_asked(
    session, arguments, answer
):
    made = await session()
    assert (await made.ask(**arguments)).startswith(answer)
    assert bodies(made) == []


async def test_an_answer_is_a_title_and_a_line_a_fact(session):
    made = await session()
    made.client.facts["refund"] = [REFUND]
    answer = await made.ask(operation="query_facts", name="refund", dataset="my-code")
    assert answer == (
        "Code graph my-code: query_facts refund\nsrc/pay.Service.refund (symbol) at src/pay.py:9"
    )


async def test_a_question_goes_to_the_dataset_that_is_named_or_the_repositorys(
    session, repository, tmp_path
):
    made = await session()
    await made.ask(seed="X", dataset="my code")
    assert bodies(made)[-1]["datasets"] == ["my-code"]
    await made.ask(seed="X", repo="https://github.com/org/repo.git")
    assert bodies(made)[-1]["datasets"] == ["codebase-repo-bdb72e6e"]
    await made.ask(seed="X", repo="src")
    (derived,) = bodies(made)[-1]["datasets"]
    assert derived.startswith("codebase-shop-")
    await made.index("--wait 5")
    await made.ask(seed="X", repo="src")
    assert bodies(made)[-1]["dataset_ids"] == [UUID]
    count = len(bodies(made))
    assert "⚠ no git repository" in await made.ask(seed="X", repo=str(tmp_path))
    assert len(bodies(made)) == count


async def test_a_secret_in_a_question_does_not_leave(session):
    made = await session()
    await made.ask(operation="query_facts", name=f"key {TOKEN}", dataset="d")
    assert bodies(made)
    assert TOKEN not in str(made.client.unsent)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dataset": TOKEN},
        {"repo": f"https://h/o/r?access_token={TOKEN}"},
        {"repo": f"https://{TOKEN}@h/o/r"},
        {"repo": f"https://h/o/{TOKEN}.git"},
        {"repo": "named"},
    ],
    ids=["dataset", "query", "user", "name", "folder"],
)
async def test_a_secret_in_where_to_ask_does_not_leave(session, tmp_path, arguments):
    make_repository(tmp_path / TOKEN)
    if arguments.get("repo") == "named":
        arguments = {"repo": str(tmp_path / TOKEN)}
    made = await session()
    answer = await made.ask(seed="X", **arguments)
    sent = str(made.client.unsent).lower()
    assert TOKEN.lower() not in sent
    assert "a1b2c3d4e5" not in sent
    assert "secret" in answer or "codebase-r-" in answer


async def test_a_short_name_that_a_finding_has_too_is_made_a_full_one(session):
    made = await session()
    made.client.facts["refund"] = [FINDING, REFUND]
    listing = made.client.scripts[RECALL]
    graph = {"operation": "explore", "focus": REFUND, "nodes": [REFUND], "edges": []}

    def answer(body):
        query = body["code_query"]
        if query["operation"] == "query_facts":
            return listing(body)
        return [{"source": "code", "raw": graph}] if query["name"] == REFUND["name"] else []

    made.client.scripts[RECALL] = answer
    assert "src/pay.Service.refund (symbol)" in await made.ask(operation="explore", name="refund")


async def test_a_name_that_several_symbols_have_is_told_from_one_that_none_has(session):
    made = await session()
    other = REFUND | {"name": "src/other.refund"}
    made.client.facts["refund"] = [REFUND, other]
    answer = await made.ask(operation="explore", name="refund")
    assert answer.startswith("'refund' does not name exactly one thing")
    assert "src/other.refund" in answer
    nothing = await made.ask(operation="explore", name="zzz")
    assert nothing.startswith("No code facts for 'zzz'")
    assert "⚠" not in nothing


async def test_w8_that_there_is_no_path_is_not_told_as_a_missing_symbol(session):
    made = await session()
    raw = {"operation": "find_path", "from": {"name": "a"}, "to": {"name": "b"}, "found": False}
    made.client.scripts[RECALL] = lambda _: [{"source": "code", "raw": {**raw, "path": []}}]
    answer = await made.ask(operation="find_path", source="a", target="b")
    assert answer.startswith("There is no path from a to b")


async def test_an_empty_delta_says_that_nothing_is_indexed(session):
    made = await session()
    assert (await made.code("DELTA")).startswith("Delta: no repository records")
    assert bodies(made)[-1]["query"] == ""


async def test_w10_a_dataset_that_is_missing_is_told_from_one_without_a_graph(session):
    made = await session()
    made.fails(RECALL, K.NO_MEMORY)
    assert (await made.ask(seed="X", dataset="typo")).startswith("There is no dataset 'typo'")
    made.client.scripts[DATASETS] = lambda _: [{"id": UUID, "name": "known"}]
    answer = await made.ask(seed="X", dataset="known")
    assert answer.startswith("Code dataset 'known' has no graph yet")
    made.fails(DATASETS, K.TIMED_OUT)
    answer = await made.ask(seed="X", dataset="known")
    assert answer.startswith("Code dataset 'known' has no graph yet")


@pytest.mark.parametrize(
    ("kind", "text", "help_"),
    [
        (K.REFUSED, "nothing listens", "start the server"),
        (K.AUTH, "HTTP 401", "COGNEE_API_KEY"),
        (K.TIMED_OUT, "no answer", "try again later"),
        (K.REJECTED, "HTTP 422: Unsupported CODE operation 'hubs'", "too old"),
    ],
)
async def test_a_failure_says_what_to_do(session, kind, text, help_):
    made = await session()
    made.fails(RECALL, kind, text)
    answer = await made.ask(operation="hubs")
    assert answer.startswith(f"⚠ Code query failed: {text}")
    assert help_ in answer


async def test_a_graph_that_may_be_old_says_so(session):
    made = await session()
    made.client.ends = "DATASET_PROCESSING_STARTED"
    await made.index()
    made.client.facts["refund"] = [REFUND]
    assert "is being indexed" in await made.ask(operation="query_facts", name="refund")


async def test_vector_101_federated_reads_do_not_touch_the_code_graph(session):
    made = await session(COGNEE_PLUGIN_READ_DATASET_IDS=f'["{OTHER}"]')
    await made.ask(seed="X", dataset="my-code")
    await made.index("--wait 5")
    await made.ask(seed="X")
    await made.host.registered.lanes["code"].search("what does process_refund do?")
    named, *own = bodies(made)
    assert named["datasets"] == ["my-code"]
    assert own
    assert OTHER not in str(bodies(made))


async def test_the_command_asks_like_the_tool(session):
    made = await session()
    made.client.facts["refund"] = [REFUND]
    quoted = """'{"operation": "query_facts", "name": "refund"}' --dataset my-code --top-k 3"""
    assert "src/pay.Service.refund" in await made.code(quoted)
    assert (bodies(made)[-1]["datasets"], bodies(made)[-1]["top_k"]) == (["my-code"], 3)
    assert (await made.code('{"operation"')).startswith("⚠ this looks like an operation in JSON")
    assert (await made.code("")).startswith("⚠ Provide a seed")


@pytest.mark.parametrize("kind", [K.FORBIDDEN, K.NO_MEMORY])
async def test_w33_a_dataset_that_is_gone_is_forgotten(session, kind):
    made = await session()
    await made.index("--wait 5")
    made.fails(RECALL, kind)
    assert (await made.ask(seed="X")).startswith("There is no dataset 'codebase-shop-")
    assert made.record is None


async def test_w33_a_prompt_finds_out_too_but_not_while_it_is_being_indexed(session):
    made = await session()
    made.client.ends = "DATASET_PROCESSING_STARTED"
    await made.index()
    made.fails(RECALL, K.NO_MEMORY)
    await made.host.registered.lanes["code"].search("what does process_refund do?")
    assert made.record.pending
    made.client.run("DATASET_PROCESSING_COMPLETED")
    await made.index("--wait 5")
    made.client.ends = "DATASET_PROCESSING_COMPLETED"
    await made.index("--wait 5")
    await made.host.registered.lanes["code"].search("what does process_refund do?")
    assert made.record is None


async def test_w27_what_could_not_be_built_stays_known_so_that_it_is_not_tried_all_the_time(
    session,
):
    made = await session()
    made.client.ends = "DATASET_PROCESSING_ERRORED"
    await made.index("--wait 5")
    made.fails(RECALL, K.NO_MEMORY)
    assert (await made.ask(seed="X")).startswith("There is no dataset 'codebase-shop-")
    assert made.record.error_count == 1


async def test_w33_what_another_process_submitted_meanwhile_is_not_forgotten(session):
    made = await session()
    await made.index("--wait 5")
    read_before = made.record
    later = replace(
        read_before, last_index_at=read_before.last_index_at + 60, last_status="running"
    )
    made.records.write(later)
    made.records.lost(read_before, ServerFailure(K.NO_MEMORY))
    assert made.record == later


async def test_a_failure_with_another_dataset_forgets_nothing(session):
    made = await session()
    await made.index("--wait 5")
    made.fails(RECALL, K.FORBIDDEN)
    assert "⚠" in await made.ask(seed="X", dataset="other")
    assert made.record is not None
