from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import Body
from cognee_hooks.services.improve import (
    ImproveResult,
    ImproveRun,
    ImproveState,
    RunOutcome,
    moment,
    newest_moment,
    read_improve,
    read_runs,
    refusal,
)

K = FailureKind
S = ImproveState
QA, TRACES = "persist_session_qa", "persist_agent_traces"
DATASET = "2830e6fd-7f83-56c7-9958-45b43ba9a466"

WORDS = [
    "status",
    "stages",
    "stage",
    "reason",
    "rerun_passes",
    "rerun_requested",
    "error",
    "outcome",
    "operation_name",
    "started_at",
    "created_at",
    "improve",
    "succeeded",
    "errored",
    "completed",
    QA,
    TRACES,
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(WORDS),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), children, max_size=5)
    ),
    max_leaves=20,
)


def stage(name, status, reason=None, error=None):
    return {"stage": name, "status": status, "reason": reason, "error": error, "run": None}


def answer(*stages, status="completed", **fields):
    """An answer of a cognee server whose other stages went well."""
    others = [stage("feedback_weights", "completed"), stage("distill_sessions", "completed")]
    return {
        "dataset_id": DATASET,
        "stages": [*others, *stages],
        "finished": True,
        "error": None,
        "rerun_requested": False,
        "rerun_passes": [],
        "status": status,
        **fields,
    }


def both(each, reason=None, **fields):
    return answer(stage(QA, each, reason), stage(TRACES, each, reason), **fields)


NOTHING = (
    stage(QA, "already_completed", "no_new_entries"),
    stage(TRACES, "already_completed", "no_new_trace_steps"),
)


@pytest.mark.parametrize(
    ("document", "state", "reason"),
    [
        (both("completed"), S.PROMOTED, ""),
        (answer(stage(QA, "completed"), NOTHING[1]), S.PROMOTED, ""),
        (answer(stage(QA, "completed"), stage(TRACES, "skipped", "off")), S.PROMOTED, ""),
        (answer(*NOTHING), S.NOTHING_NEW, "no_new_entries"),
        (both("skipped", "no_session_ids", status="skipped"), S.SKIPPED, "no_session_ids"),
        (both("skipped", status="skipped"), S.SKIPPED, ""),
        (both("skipped", "lock_held", status="skipped"), S.BUSY, "lock_held"),
        (
            answer(
                stage(QA, "completed"), stage(TRACES, "errored", error="boom"), status="errored"
            ),
            S.PARTIAL,
            "boom",
        ),
        (
            answer(
                stage(QA, "errored", error="boom"),
                stage(TRACES, "skipped", "aborted_by_fatal_stage"),
                status="errored",
            ),
            S.ERRORED,
            "boom",
        ),
        (
            answer(
                stage(QA, "completed"),
                stage(TRACES, "skipped", "budget_exhausted"),
                status="errored",
            ),
            S.BUDGET,
            "budget_exhausted",
        ),
        (
            answer(stage("distill_sessions", "errored"), *NOTHING, status="errored"),
            S.NOTHING_NEW,
            "no_new_entries",
        ),
        (
            {"status": "running", "stages": [], "background": True, "finished": False},
            S.SUBMITTED,
            "",
        ),
    ],
)
def test_the_persist_stages_decide_what_an_improve_did(document, state, reason):
    found = read_improve(document)
    assert found is not None
    assert (found.state, found.reason) == (state, reason)


def test_the_answer_names_the_dataset():
    assert read_improve(answer(*NOTHING)).dataset_id == DATASET


@pytest.mark.parametrize("requested", [True, False, "yes", None])
def test_only_a_busy_session_can_have_asked_its_holder_for_one_more_pass(requested):
    busy = both("skipped", "lock_held", rerun_requested=requested)
    assert read_improve(busy).rerun_requested is (requested is True)
    done = both("completed", rerun_requested=requested)
    assert read_improve(done).rerun_requested is False


@pytest.mark.parametrize(
    ("first", "later", "state"),
    [
        ("completed", "already_completed", S.PROMOTED),
        ("already_completed", "completed", S.PROMOTED),
        ("errored", "completed", S.PROMOTED),
        ("errored", "already_completed", S.NOTHING_NEW),
        ("completed", "errored", S.ERRORED),
    ],
)
def test_a_later_pass_mends_or_breaks_what_an_earlier_one_did(first, later, state):
    passes = [[stage(QA, later), stage(TRACES, later)]]
    assert read_improve(both(first, rerun_passes=passes)).state is state


@pytest.mark.parametrize(
    ("document", "state"),
    [
        pytest.param({"status": "completed"}, S.SUBMITTED, id="Y11-completed"),
        # The reference calls this a success; a server that says it did nothing did nothing.
        pytest.param({"status": "skipped"}, S.SKIPPED, id="Y11-skipped"),
        pytest.param([], S.SUBMITTED, id="Y11-list"),
        pytest.param(Body.NOT_JSON, S.SUBMITTED, id="Y11-empty"),
        pytest.param({"status": "new"}, S.SUBMITTED, id="Y11-new"),
        # The reference records both of these as successes.
        pytest.param({"status": "running"}, S.SUBMITTED, id="Y12-running"),
        pytest.param({}, S.BUSY, id="Y12-empty-object"),
        pytest.param({"status": "errored", "error": "boom"}, S.ERRORED, id="Y13"),
    ],
)
def test_w9b_and_vector_120_answers_without_stages_are_what_older_servers_give(document, state):
    """What runs in the background was submitted, and is neither busy nor done."""
    assert read_improve(document).state is state


def test_an_error_without_stages_keeps_its_words():
    assert read_improve({"status": "errored", "error": "boom"}).reason == "boom"


def test_a_web_page_is_no_answer():
    assert read_improve(Body.PAGE) is None


def test_what_the_server_writes_is_one_bounded_line():
    error = "\x1b[31mred\n" + "x" * 10_000
    document = answer(stage(QA, "errored", error=error), status="errored")
    reason = read_improve(document).reason
    assert reason.startswith("red xxx")
    assert len(reason) == 200


@given(JSON)
def test_any_answer_is_read_and_never_raises(document):
    assert isinstance(read_improve(document), ImproveResult)
    read_runs(document)
    newest_moment(document)


def test_a_very_long_answer_is_read_in_part():
    stages = [stage("x", "completed")] * 100_000
    passes = [[*NOTHING]] * 100_000
    assert read_improve(answer(*stages, rerun_passes=passes)).state is S.NOTHING_NEW
    assert len(read_runs([{"operation_name": "improve", "outcome": "failed"}] * 9000)) == 500


# -- failures that are answers


def failure(status, kind, detail=""):
    return ServerFailure(
        kind, f"HTTP {status}: {detail}" if detail else f"HTTP {status}", status=status
    )


@pytest.mark.parametrize(
    ("given", "state"),
    [
        pytest.param(failure(405, K.NOT_FOUND, "Method Not Allowed"), S.UNSUPPORTED, id="Y14-405"),
        pytest.param(failure(404, K.NOT_FOUND, "Not Found"), S.UNSUPPORTED, id="W47-no-route"),
        pytest.param(failure(404, K.NOT_FOUND, "Dataset (x) not found"), None, id="W47-dataset"),
        pytest.param(failure(404, K.NOT_FOUND), None, id="W47-silent-404"),
        pytest.param(failure(422, K.REJECTED, "Not Found"), None, id="W47-422"),
        pytest.param(failure(500, K.SERVER_ERROR), None, id="500"),
        pytest.param(failure(402, K.NEEDS_USER, "budget"), S.BUDGET, id="402"),
        pytest.param(failure(503, K.UNAVAILABLE), None, id="Y15-503"),
        pytest.param(ServerFailure(K.TIMED_OUT), None, id="Y15-timeout"),
        pytest.param(ServerFailure(K.REFUSED), None, id="Y15-refused"),
    ],
)
def test_w47_and_vector_120_only_a_missing_route_means_that_improve_is_not_supported(given, state):
    found = refusal(given)
    assert (found.state if found else None) is state


# -- the log of runs


def test_runs_are_the_improves_that_have_ended():
    rows = [
        {"operation_name": "recall", "outcome": "succeeded"},
        {"operation_name": "improve", "outcome": None},
        {
            "operation_name": "improve",
            "outcome": "failed",
            "session_id": "s1",
            "started_at": "2026-11-30T03:18:32.558730",
            "error_class": "CogneeSystemError",
        },
        {"operation_name": "improve", "outcome": "noop", "session_id": None},
        "no row",
    ]
    assert read_runs(rows) == [
        ImproveRun("s1", RunOutcome.FAILED, 1796008712.55873, "CogneeSystemError"),
        ImproveRun("", RunOutcome.NOOP, 0.0),
    ]


@pytest.mark.parametrize("document", [None, {}, {"detail": "Not Found"}, "x", Body.NOT_JSON])
def test_what_is_no_page_of_runs_is_told_apart_from_an_empty_one(document):
    assert read_runs(document) is None
    assert newest_moment(document) is None
    assert read_runs([]) == []
    assert newest_moment([]) == 0.0


def test_the_newest_row_counts_whatever_it_is():
    rows = [{"created_at": "1970-01-01T00:00:09"}, {"created_at": "1970-01-01T00:00:10+00:00"}]
    assert newest_moment(rows) == 10.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:05", 5.0),
        ("1970-01-01T00:00:05Z", 5.0),
        ("1970-01-01T01:00:05+01:00", 5.0),
        ("", 0.0),
        ("yesterday", 0.0),
        ("0001-01-01T00:00:00+14:00", 0.0),
        ("9999-12-31T23:59:59-23:59", 253_402_300_799.0),
        ("9" * 5000, 0.0),
    ],
)
def test_a_time_stamp_without_a_zone_is_utc(text, seconds):
    assert moment(text) == seconds
