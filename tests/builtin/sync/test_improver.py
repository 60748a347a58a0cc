from __future__ import annotations

import pytest

from builtin_plugins.sync.improver import SyncOutcome, SyncTarget, Trigger, reason_of
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import Act
from cognee_hooks.services.failures import Body
from cognee_hooks.services.improve import ImproveState
from tests.support.scripted import fails
from tests.support.sync_session import HERE, NEWEST, RUNS

K = FailureKind
S = ImproveState
RUNNING = {"status": "running", "stages": [], "dataset_id": ""}


def stages(status, reason=None):
    names = ("persist_session_qa", "persist_agent_traces")
    return {
        "status": "completed",
        "stages": [{"stage": name, "status": status, "reason": reason} for name in names],
    }


PROMOTED = stages("completed")
NOTHING_NEW = stages("already_completed", "no_new_entries")
BUSY = stages("skipped", "lock_held")


def soon(seconds=5.0):
    return Deadline.after(seconds)


async def run(rig, trigger=Trigger.IDLE, **options):
    return await rig.improver().run(HERE, trigger, soon(), **options)


async def test_a_session_is_improved_into_its_own_dataset_in_the_background(rig):
    rig.store(2)
    await run(rig)
    (body,) = rig.improves
    assert body["session_ids"] == ["claude_s1"]
    assert body["dataset_name"] == "agent_sessions"
    assert body["run_in_background"] is True


@pytest.mark.parametrize("document", [PROMOTED, NOTHING_NEW])
async def test_what_is_known_to_be_promoted_needs_no_repeating(rig, document):
    rig.store(2)
    rig.store(1, Act.REPLAYED)
    rig.answers(document)
    await run(rig)
    record = rig.record
    assert (record.improved_at, record.count, record.trigger) == (rig.now, 3, "idle")
    assert record.new_entries(3) == 0


@pytest.mark.parametrize(
    ("document", "state", "recorded"),
    [
        pytest.param({"status": "completed"}, S.SUBMITTED, "taken", id="Y11-completed"),
        pytest.param({"status": "skipped"}, S.SKIPPED, "failed", id="Y11-skipped-better"),
        pytest.param([], S.SUBMITTED, "taken", id="Y11-list"),
        pytest.param(Body.NOT_JSON, S.SUBMITTED, "taken", id="Y11-empty"),
        pytest.param({"status": "new"}, S.SUBMITTED, "taken", id="Y11-new"),
        # The reference counts both as a success.
        pytest.param({"status": "running"}, S.SUBMITTED, "taken", id="Y12-running-better"),
        pytest.param({}, S.BUSY, "nothing", id="Y12-busy-better"),
        pytest.param({"status": "errored", "error": "boom"}, S.ERRORED, "failed", id="Y13"),
    ],
)
async def test_what_an_answer_is_recorded_as(rig, document, state, recorded):
    rig.store(3)
    rig.answers(document)
    outcome = await run(rig)
    record = rig.record
    assert outcome.result.state is state
    assert (record.improved_at > 0, record.failures) == {
        "taken": (True, 0),
        "failed": (False, 1),
        "nothing": (False, 0),
    }[recorded]
    assert record.new_entries(3) == 3


async def test_y13_the_reason_is_error_with_the_servers_words(rig):
    rig.answers({"status": "errored", "error": "boom"})
    await run(rig)
    assert rig.record.failure_reason == "error: boom"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        pytest.param(ServerFailure(K.REJECTED, status=422), "HTTP 422", id="Y14-W47-422"),
        pytest.param(ServerFailure(K.NOT_FOUND, "x", status=404), "HTTP 404", id="Y14-W47-404"),
        pytest.param(ServerFailure(K.UNAVAILABLE, status=503), "HTTP 503", id="Y15-503"),
        pytest.param(ServerFailure(K.TIMED_OUT), "timeout", id="Y15-timeout"),
        pytest.param(ServerFailure(K.REFUSED, sent=False), "unreachable", id="Y15-refused"),
        pytest.param(ServerFailure(K.UNREACHABLE, sent=False), "unreachable", id="Y15-no-host"),
        pytest.param(ServerFailure(K.LOST), "unreachable", id="Y15-lost"),
        pytest.param(ServerFailure(K.MISCONFIGURED), "error", id="stranger"),
    ],
)
async def test_a_failure_has_a_word_and_is_recorded_if_the_server_may_have_seen_it(
    rig, failure, reason
):
    rig.answers(fails(failure.kind, status=failure.status, sent=failure.sent))
    outcome = await run(rig, Trigger.AUTO)
    assert reason_of(outcome.failure) == reason
    record = rig.record
    # W34: what never left must not hold back the next one.
    assert record.failures == int(failure.sent)
    if failure.sent:
        assert (record.failure_reason, record.failure_trigger) == (reason, "auto")
        assert record.failed_at == rig.now


@pytest.mark.parametrize("status", [404, 405])
async def test_y14_a_server_without_improve_is_recorded_as_unsupported(rig, status):
    def answer(_):
        raise ServerFailure(K.NOT_FOUND, f"HTTP {status}: Not Found", status=status)

    rig.answers(answer)
    outcome = await run(rig)
    assert outcome.result.state is S.UNSUPPORTED
    assert rig.record.failure_reason == f"unsupported: HTTP {status}: Not Found"


@pytest.mark.parametrize(
    "failure",
    [
        ServerFailure(K.NEEDS_USER, "HTTP 402: budget", status=402),
        ServerFailure(K.NEEDS_USER, "dimensions", status=409),
    ],
)
async def test_what_needs_a_person_is_recorded_as_such(rig, failure):
    def answer(_):
        raise failure

    rig.answers(answer)
    await run(rig)
    assert rig.record.needs_user


async def test_a_promotion_that_failed_says_nothing_about_the_connection(rig):
    rig.answers(fails(K.SERVER_ERROR, status=409))
    await run(rig)
    assert rig.context.services.health.state == "unknown"
    rig.answers(fails(K.AUTH, status=401))
    await run(rig)
    assert rig.context.services.health.state == "auth"
    rig.answers(PROMOTED)
    await run(rig)
    assert rig.context.services.health.state == "ok"


async def test_partly_promoted_is_no_success(rig):
    document = stages("completed")
    document["stages"][1] |= {"status": "errored", "error": "boom"}
    rig.answers(document)
    outcome = await run(rig)
    assert outcome.result.state is S.PARTIAL
    assert rig.record.failure_reason == "partly failed: boom"


async def test_busy_with_another_session_is_neither_success_nor_failure(rig):
    rig.answers(BUSY)
    outcome = await run(rig)
    assert outcome.try_again
    assert rig.record.to_json() == {"session_id": "claude_s1", "dataset": "agent_sessions"}
    assert not rig.folder.joinpath("x").exists()


async def test_busy_with_this_session_is_taken_on_by_whoever_is_at_it_but_not_known_to_be_done(rig):
    rig.store(4)
    rig.answers(BUSY | {"rerun_requested": True})
    outcome = await run(rig)
    assert not outcome.try_again
    assert not outcome.open
    assert (rig.record.count, rig.record.confirmed) == (4, False)


async def test_entries_that_come_while_the_server_answers_count_as_new(rig):
    def answer(_):
        rig.store(5)
        return PROMOTED

    rig.store(1)
    rig.answers(answer)
    await run(rig)
    assert rig.record.new_entries(6) == 5


# -- one at a time


async def test_one_improve_a_session_at_a_time(rig):
    improver = rig.improver()
    inner = []

    async def another(_):
        inner.append(await improver.run(HERE, Trigger.MANUAL, soon()))

    lock = rig.records.lock(HERE.session_id, 60)
    assert lock.try_acquire()
    outcome = await improver.run(HERE, Trigger.IDLE, soon())
    assert outcome == SyncOutcome()
    assert rig.improves == []
    lock.release()
    assert await improver.run(HERE, Trigger.IDLE, soon()) != SyncOutcome()
    assert await improver.run(HERE, Trigger.IDLE, soon()) != SyncOutcome()


async def test_the_lock_is_given_back_when_the_server_fails(rig):
    rig.answers(fails(K.TIMED_OUT))
    await run(rig)
    assert rig.records.lock(HERE.session_id, 60).try_acquire()


async def test_a_disk_on_which_no_lock_can_be_made_does_not_stop_a_sync(rig, caplog):
    rig.folder.parent.mkdir(parents=True)
    rig.folder.touch()
    rig.answers(PROMOTED)
    assert (await run(rig)).result.state is S.PROMOTED
    assert "no lock" in caplog.text


# -- the ledger


@pytest.mark.parametrize(
    ("document", "count"),
    [(RUNNING, 3), (PROMOTED, 3), (BUSY | {"rerun_requested": True}, 3), (NOTHING_NEW, 0)],
)
async def test_entries_that_the_server_took_on_are_in_the_ledger(rig, document, count):
    rig.store(3)
    rig.answers(document)
    await run(rig, Trigger.AUTO)
    assert rig.context.totals().get(Act.SYNCED, 0) == count


@pytest.mark.parametrize("document", [BUSY, stages("skipped", "off"), {"status": "errored"}])
async def test_what_was_not_done_is_not_in_the_ledger(rig, document):
    rig.store(3)
    rig.answers(document)
    await run(rig)
    assert Act.SYNCED not in rig.context.totals()


async def test_another_session_has_its_own_count_and_ledger(rig):
    other = SyncTarget("claude_s2", "d2")
    rig.store(3)
    rig.store(2, session_id="claude_s2")
    rig.answers(PROMOTED)
    await rig.improver().run(other, Trigger.SWITCH, soon())
    assert rig.improver().record(other).count == 2
    assert rig.context.totals("claude_s2")[Act.SYNCED] == 2
    assert Act.SYNCED not in rig.context.totals()


# -- how a run ends


async def started(rig):
    rig.store(3)
    rig.answers(RUNNING)
    outcome = await run(rig)
    assert outcome.open
    assert not rig.record.confirmed
    return outcome


async def settle(rig, outcome, seconds=5.0):
    return await rig.improver().settle(HERE, outcome, soon(seconds))


async def test_a_run_that_succeeded_needs_no_repeating(rig):
    outcome = await started(rig)
    rig.runs("succeeded")
    assert await settle(rig, outcome) is True
    assert rig.record.new_entries(3) == 0


async def test_a_run_that_failed_is_a_failure_and_its_entries_are_new_again(rig):
    outcome = await started(rig)
    rig.runs("failed", error_class="CogneeSystemError")
    rig.now += 300
    assert await settle(rig, outcome) is False
    record = rig.record
    assert (record.failed_at, record.failures) == (rig.now, 1)
    assert record.failure_reason == "run failed CogneeSystemError"
    assert record.new_entries(3) == 3


async def test_a_run_whose_end_is_not_known_stays_open(rig):
    outcome = await started(rig)
    assert await settle(rig, outcome, 0.02) is None
    assert not rig.record.confirmed


async def test_a_newer_sync_by_another_process_is_left_alone(rig):
    outcome = await started(rig)

    def answer(_):
        rig.records.write(rig.record.accepted(rig.now + 1, 9, "auto", confirmed=False))
        return [
            {
                "operation_name": "improve",
                "session_id": HERE.session_id,
                "outcome": "succeeded",
                "started_at": "2030-01-01T00:00:00",
            }
        ]

    rig.client.scripts[RUNS] = answer
    assert await settle(rig, outcome) is None
    assert (rig.record.count, rig.record.confirmed) == (9, False)


async def test_a_server_that_never_says_how_runs_end_is_taken_at_its_word(rig):
    rig.client.scripts[NEWEST] = fails(K.NOT_FOUND, status=404)
    rig.store(3)
    rig.answers(RUNNING)
    outcome = await run(rig)
    assert not outcome.open
    assert rig.record.confirmed
    assert await settle(rig, outcome) is None


async def test_a_run_that_nobody_follows_is_not_known_to_be_done(rig):
    rig.store(3)
    rig.answers(RUNNING)
    outcome = await run(rig, Trigger.FINAL, to_follow=False)
    assert not outcome.open
    assert not rig.record.confirmed
    assert [each.path for each in rig.client.unsent] == ["/api/v1/improve"]


async def test_there_is_nothing_to_settle_without_an_answer(rig):
    assert await settle(rig, SyncOutcome()) is None
