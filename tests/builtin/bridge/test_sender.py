"""One head and what comes of it: verified before it is sent again, never lost, never twice."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from builtin_plugins.bridge.fresh import Fresh
from builtin_plugins.bridge.marks import Tail
from builtin_plugins.bridge.sender import AFTER_BREAK, AFTER_TIMEOUT, Sender, Settling, Step
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure
from tests.support.bridged import STEM, URL, at_once, entry, failing, payload, trace

K = FailureKind


@pytest.fixture
def fresh(context) -> Fresh:
    return Fresh(context)


@pytest.fixture
def step(context, buffer, clock, fresh) -> Callable[..., Step]:
    """Try the head, as a process that has just started."""

    def run(seconds: float = 0.0, deadline: float = 60.0) -> Step:
        clock.seconds += seconds
        sender = Sender(context, Settling(), fresh=fresh)
        return at_once(sender.step(buffer, Deadline.after(deadline)))

    return run


def capture(buffer: Any, fresh: Fresh | None, *contents: object, **fields: Any) -> None:
    for content in contents:
        kept = buffer.enqueue(payload(content, **fields))
        if fresh is not None:
            fresh.add(STEM, kept.seq, "s1")


def kept(buffer: Any) -> list[tuple[int, bool]]:
    """Number of what waits, and whether it may be at the server."""
    return [(seq, seq in buffer._state.marks.attempts) for seq in buffer._items()]


# -- the good way ------------------------------------------------------------------------------


def test_entries_are_sent_as_they_were_captured_z15(buffer, fresh, step, server, context):
    capture(buffer, fresh, 1, dataset="of the session")
    assert step() is Step.DONE
    assert server.stored == [("s1", "of the session", entry(1))]
    assert server.calls == ["entry"]
    assert context.acts == [("delivered", "s1")]
    assert context.noted == [None]
    assert step() is Step.EMPTY


def test_what_waited_for_another_process_is_replayed(buffer, step, server, context):
    capture(buffer, None, 1)
    assert step() is Step.DONE
    assert context.acts == [("replayed", "s1")]


def test_what_leaves_was_redacted_again(buffer, step, server):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    capture(buffer, None, entry(1, answer=f"it is {secret}"))
    step()
    assert secret not in str(server.stored)


def test_nothing_leaves_while_redaction_does_not_work_and_nothing_is_lost(
    buffer, step, server, context
):
    capture(buffer, None, 1)
    context.refuses_to_redact = RedactionFailed("mine", "timeout")
    assert step() is Step.BLOCKED
    assert server.calls == []
    assert buffer.count == 1


def test_an_entry_gets_the_request_timeout_within_the_deadline_w29(buffer, step, server):
    capture(buffer, None, 1, 2, 3)
    step(deadline=60)
    step(deadline=3)
    assert 9 < server.deadlines[0] <= 10
    assert 2 < server.deadlines[1] <= 3
    assert step(deadline=0.1) is Step.STOPPED
    assert buffer._items().keys() == {3}
    assert buffer.head(URL).attempt is None


# -- ambiguity ---------------------------------------------------------------------------------

A_VECTORS = {
    "A2": (K.REFUSED, None, False),
    "A3": (K.UNAVAILABLE, 503, False),
    "A4": (K.SERVER_ERROR, 500, True),
    "A5": (K.SERVER_ERROR, 502, True),
    "A6": (K.SERVER_ERROR, 504, True),
    "A7": (K.AUTH, 401, False),
    "A8": (K.RATE_LIMITED, 429, False),
    "A10": (K.TIMED_OUT, None, True),
    # The reference takes a reset for "never sent".
    "A12, W4": (K.LOST, None, True),
}


@pytest.mark.parametrize(("kind", "status", "ambiguous"), A_VECTORS.values(), ids=A_VECTORS)
def test_after_a_failure_it_is_known_whether_the_server_may_be_storing_it(
    buffer, fresh, step, server, kind, status, ambiguous
):
    capture(buffer, fresh, 1)
    server.answers = [failing(kind, status=status)]
    assert step() in {Step.BLOCKED, Step.STOPPED}
    attempt = buffer.head(URL).attempt
    assert (attempt is not None and attempt.until > 0) is ambiguous
    # Only an answer of whoever could be a proxy is worth a look before the next attempt.
    assert (attempt is None) is (kind is K.REFUSED)


P06 = {
    "stored, then no answer": (failing(K.TIMED_OUT, stored=True), 1),
    "stored, then reset": (failing(K.LOST, stored=True), 1),
    "stored, then 500": (failing(K.SERVER_ERROR, stored=True, status=500), 1),
    "stored, then 502": (failing(K.SERVER_ERROR, stored=True, status=502), 1),
    "stored, then 504": (failing(K.SERVER_ERROR, stored=True, status=504), 1),
    "stored, then 503 of a proxy": (failing(K.UNAVAILABLE, stored=True, status=503), 1),
    "no answer": (failing(K.TIMED_OUT), 2),
    "reset": (failing(K.LOST), 2),
    "500": (failing(K.SERVER_ERROR, status=500), 2),
    "502": (failing(K.SERVER_ERROR, status=502), 2),
    "503": (failing(K.UNAVAILABLE, status=503), 2),
    "refused": (failing(K.REFUSED), 2),
}


@pytest.mark.parametrize("content", [1, trace("ls")], ids=["qa", "trace"])
@pytest.mark.parametrize(("answer", "sends"), P06.values(), ids=P06)
def test_each_entry_is_stored_once_and_sent_as_often_as_needed_p06(
    buffer, fresh, step, server, content, answer, sends
):
    capture(buffer, fresh, content)
    server.answers = [answer]
    step()
    assert step(AFTER_TIMEOUT + 1) is Step.DONE
    assert len(server.stored) == 1
    assert server.calls.count("entry") == sends


@pytest.mark.parametrize("stored", [True, False])
def test_after_a_kill_in_the_middle_the_session_is_looked_at_first(buffer, step, server, stored):
    capture(buffer, None, 1)
    buffer.begin(1)
    if stored:
        server.stored.append(("s1", "d", entry(1)))
        assert step() is Step.DONE
    else:
        assert step() is Step.BLOCKED
        assert step(AFTER_BREAK - 1) is Step.BLOCKED
        assert step(2) is Step.DONE
        assert server.calls[-1] == "entry"
    assert len(server.stored) == 1


def test_it_is_not_sent_again_while_a_slow_server_may_still_be_storing_it(
    buffer, fresh, step, server, clock
):
    capture(buffer, fresh, 1)
    late = []
    server.answers = [lambda store: (late.append(store), failing(K.TIMED_OUT)(store))[0]]
    assert step() is Step.STOPPED
    assert step(20) is Step.BLOCKED
    assert step(20) is Step.BLOCKED
    late[0]()  # a database that was locked for 40 s
    assert step(1) is Step.DONE
    assert server.questions == ["question 1"]


def test_a_moment_from_a_clock_that_was_set_back_is_not_waited_for(
    buffer, fresh, step, server, clock
):
    capture(buffer, fresh, 1)
    server.answers = [failing(K.TIMED_OUT)]
    step()
    clock.seconds -= 1_000_000
    assert step() is Step.BLOCKED
    assert step(AFTER_TIMEOUT + 1) is Step.DONE


def test_equal_entries_are_told_apart_by_counting(buffer, fresh, step, server):
    capture(buffer, fresh, 1)
    step()
    capture(buffer, fresh, 1, 1)
    server.answers = [failing(K.LOST), failing(K.LOST, stored=True)]
    step()
    assert step(AFTER_BREAK + 1) is Step.STOPPED  # not stored, so sent again, and stored then
    assert step() is Step.DONE
    assert step() is Step.DONE
    assert server.questions == ["question 1"] * 3


def test_a_cancelled_request_may_have_been_stored(buffer, step, server, context):
    capture(buffer, None, 1)

    def cancel(_):
        raise asyncio.CancelledError

    server.answers = [cancel]
    with pytest.raises(asyncio.CancelledError):
        step()
    attempt = buffer.head(URL).attempt
    assert not attempt.running
    assert attempt.until == int((context.now() + AFTER_TIMEOUT) * 1000)


def test_a_cancelled_request_stays_one_where_the_disk_is_full(buffer, step, server, monkeypatch):
    capture(buffer, None, 1)

    def cancel(_):
        def full(*_):
            raise OSError(errno.ENOSPC, "no space")

        monkeypatch.setattr(os, "write", full)
        raise asyncio.CancelledError

    server.answers = [cancel]
    with pytest.raises(asyncio.CancelledError):
        step()
    monkeypatch.undo()
    assert buffer.head(URL).attempt.running


# -- the look before ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [K.REFUSED, K.TIMED_OUT, K.LOST, K.UNAVAILABLE, K.AUTH, K.RATE_LIMITED, K.MISCONFIGURED]
)
def test_a_look_that_cannot_be_taken_is_taken_later(buffer, step, server, context, kind):
    capture(buffer, None, 1)
    buffer.begin(1)
    server.checks = [ServerFailure(kind)] * 5
    for _ in range(5):
        assert step(60) is Step.STOPPED
    assert "entry" not in server.calls
    assert context.noted[-1].kind is kind
    assert step(60) is Step.DONE


@pytest.mark.parametrize(
    "failure",
    [
        ServerFailure(K.SERVER_ERROR, status=500),
        ServerFailure(K.FORBIDDEN, status=403),
        ServerFailure(K.NOT_FOUND, status=404),
        ServerFailure(K.REJECTED, status=400),
    ],
)
def test_a_session_that_cannot_be_shown_gets_its_entry_in_the_third_round_z4(
    buffer, buffer_of, step, server, failure
):
    capture(buffer, None, 1)
    buffer.begin(1)
    server.checks = [failure] * 9
    assert step(10) is Step.BLOCKED
    assert buffer_of().head(URL).attempt.checks == 1  # also for a process that ends in between
    assert step(10) is Step.BLOCKED
    assert step(10) is Step.DONE
    assert server.questions == ["question 1"]


def test_what_cannot_be_recognised_is_sent_without_a_look_x6(buffer, step, server):
    capture(buffer, None, {"type": "feedback", "qa_id": "q1"})
    buffer.begin(1)
    assert step() is Step.DONE
    assert server.calls == ["entry"]


def test_after_damage_the_session_is_read_once_before_the_first_entry(buffer, step, server, folder):
    server.stored += [("s1", "d", entry(1)), ("s1", "d", trace())]
    (folder).mkdir(mode=0o700)
    (folder / f"{STEM}.log").write_bytes(b"")
    (folder / f"{STEM}.log").chmod(0o600)
    capture(buffer, None, 1, 2)
    server.answers = [failing(K.LOST)]
    assert step() is Step.STOPPED
    assert server.calls == ["session", "entry"]
    # Without it the old entry would have been taken for the new one.
    assert step(AFTER_BREAK + 1) is Step.DONE
    assert step() is Step.DONE
    assert [row.get("question") for _, _, row in server.stored] == [
        "question 1",
        None,
        "question 1",
        "question 2",
    ]


def test_after_damage_a_server_that_is_away_stops_and_one_that_cannot_tell_does_not(
    buffer, step, server, folder
):
    folder.mkdir(mode=0o700)
    (folder / f"{STEM}.log").write_bytes(b"")
    (folder / f"{STEM}.log").chmod(0o600)
    capture(buffer, None, 1)
    server.checks = [ServerFailure(K.REFUSED), ServerFailure(K.SERVER_ERROR, status=500)]
    assert step() is Step.STOPPED
    assert step() is Step.DONE
    assert buffer.complete


# -- scenarios of the reference ----------------------------------------------------------------


@pytest.fixture
def failed_once(buffer, fresh, step, server) -> None:
    """A new entry, and a server that answered 500 without storing it."""
    capture(buffer, fresh, 1)
    server.answers = [failing(K.SERVER_ERROR, status=500)]
    assert step() is Step.BLOCKED
    server.calls.clear()


def test_the_first_failure_of_a_new_entry_starts_no_pause_z1(failed_once, buffer, context):
    assert kept(buffer) == [(1, True)]
    assert buffer.resting_until == 0
    assert context.acts == [("buffered", "s1")]


def test_an_entry_that_is_not_there_is_sent_after_one_look_z2(failed_once, buffer, step, server):
    assert step(AFTER_BREAK + 1) is Step.DONE
    assert server.calls == ["session", "entry"]
    assert not buffer.path.exists()


def test_an_entry_that_is_there_is_not_sent_z3(failed_once, buffer, step, server, context):
    server.stored.append(("s1", "d", entry(1)))
    assert step() is Step.DONE
    assert server.calls == ["session"]
    assert not buffer.path.exists()
    assert context.acts[-1] == ("deduplicated", "s1")


def test_the_order_of_parameters_does_not_matter_z5(buffer, step, server):
    sent = trace(method_params={"a": "1", "b": "2"})
    capture(buffer, None, sent)
    buffer.begin(1)
    server.stored.append(("s1", "d", {**sent, "method_params": {"b": "2", "a": "1"}}))
    assert step() is Step.DONE
    assert "entry" not in server.calls


def test_what_was_never_sent_is_sent_without_a_look_z6(buffer, step, server):
    capture(buffer, None, 1)
    assert step() is Step.DONE
    assert server.calls == ["entry"]


def test_a_refused_key_keeps_entries_and_makes_longer_and_longer_pauses_z7_z8_z9_w32(
    buffer, step, server
):
    capture(buffer, None, 1)
    server.answers = [failing(K.AUTH, status=401)] * 2
    assert step() is Step.STOPPED
    assert step(59) is Step.BLOCKED
    assert server.calls == ["entry"]
    assert step(2) is Step.STOPPED
    assert step(119) is Step.BLOCKED
    assert step(2) is Step.DONE
    assert server.questions == ["question 1"]


def test_of_three_only_the_one_that_timed_out_is_in_doubt_z11(buffer, fresh, step, server):
    capture(buffer, fresh, 1, 2, 3)
    server.answers = [failing(K.TIMED_OUT)]
    assert step() is Step.STOPPED
    assert kept(buffer) == [(1, True), (2, False), (3, False)]


def test_of_three_none_is_in_doubt_where_nobody_listens_z12(buffer, fresh, step, server, context):
    capture(buffer, fresh, 1, 2, 3)
    server.answers = [failing(K.REFUSED)]
    assert step() is Step.STOPPED
    assert kept(buffer) == [(1, False), (2, False), (3, False)]
    assert context.acts == [("buffered", "s1")] * 3


@pytest.mark.parametrize(
    ("kind", "status", "outcome"),
    [
        (K.AUTH, 401, Step.STOPPED),
        (K.FORBIDDEN, 403, Step.BLOCKED),
        (K.NOT_FOUND, 404, Step.STOPPED),
        (K.RATE_LIMITED, 429, Step.STOPPED),
        (K.RATE_LIMITED, 408, Step.STOPPED),
        (K.NEEDS_USER, 402, Step.BLOCKED),
        (K.MISCONFIGURED, 302, Step.STOPPED),
    ],
)
def test_what_a_person_can_mend_loses_nothing_z10_w32_w46(
    buffer, fresh, step, server, context, kind, status, outcome
):
    capture(buffer, fresh, 1, 2)
    server.answers = [failing(kind, status=status, sent=kind is not K.MISCONFIGURED)]
    assert step() is outcome
    assert buffer.count == 2
    told = "cannot be sent" in "".join(context.said)
    assert told is (kind not in {K.AUTH, K.RATE_LIMITED})
    while step(AFTER_TIMEOUT + 1) is not Step.EMPTY:
        pass
    assert server.questions == ["question 1", "question 2"]


def test_failures_without_a_status_make_no_pause(buffer, step, server):
    capture(buffer, None, 1)
    server.answers = [failing(K.REFUSED), failing(K.TIMED_OUT)]
    step()
    step()
    assert buffer.resting_until == 0


@pytest.mark.parametrize(
    "failure",
    [
        {"status": 400, "detail": "HTTP 400: body.entry: missing"},
        {"status": 413},
        {"status": 422},
        {"status": 503, "detail": "1 validation error for SessionQAEntry"},
        {"sent": False, "detail": "not sent: question must be text"},
    ],
)
def test_what_is_refused_for_good_is_put_aside_told_and_not_tried_again_z14_w30(
    buffer, fresh, step, server, context, failure
):
    capture(buffer, fresh, 1, 2)
    server.answers = [failing(K.REJECTED, **failure)]
    assert step() is Step.DONE
    assert step() is Step.DONE
    assert step() is Step.EMPTY
    assert server.questions == ["question 2"]
    assert buffer.aside == 1
    assert ("quarantined", "s1") in context.acts
    (line,) = context.said
    assert failure.get("detail", "rejected") in line
    assert str(buffer.aside_path) in line


def test_entries_of_pi_cognee_are_replayed_to_any_server(buffer, step, server, folder):
    import json

    old = {**entry("old"), "sessionId": "pi_1", "dataset": "mine", "_buffered_at": 5}
    doubtful = {**old, "question": "doubtful", "_replay_ambiguous": True}
    folder.mkdir(mode=0o700)
    buffer.path.write_text(json.dumps({"entries": [old, doubtful], "fail_count": 0, "fail_at": 0}))
    buffer.path.chmod(0o600)
    assert step() is Step.DONE
    assert server.calls == ["entry"]
    server.stored.append(("pi_1", "mine", {**entry("x"), "question": "doubtful"}))
    assert step() is Step.DONE
    assert server.calls == ["entry", "session"]
    assert server.stored[0] == ("pi_1", "mine", entry("old"))
    assert step() is Step.EMPTY


# -- sessions that belong to another dataset ---------------------------------------------------

UNEXPLAINED = {"status": 400, "detail": "HTTP 400: Invalid remember request."}


def test_a_session_that_is_bound_to_another_dataset_goes_on_under_the_next_id(
    buffer, step, server, buffer_of
):
    capture(buffer, None, 1, 2)
    server.known = {"d": "id-d", "other": "id-o"}
    server.bound = {"s1": "id-o"}
    server.answers = [failing(K.REJECTED, **UNEXPLAINED)]
    assert [step() for _ in range(4)] == [Step.DONE, Step.DONE, Step.DONE, Step.EMPTY]
    assert [session for session, _, _ in server.stored] == ["s1__2", "s1__2"]
    assert buffer.aside == 0


def test_an_ordinal_that_is_bound_as_well_leads_to_the_next(buffer, step, server):
    capture(buffer, None, 1)
    server.bound = {"s1": "id-o", "s1__2": "id-x"}
    server.answers = [failing(K.REJECTED, **UNEXPLAINED)] * 2
    assert [step() for _ in range(3)] == [Step.DONE, Step.DONE, Step.DONE]
    assert [session for session, _, _ in server.stored] == ["s1__3"]


def test_a_server_that_refuses_each_next_session_is_not_followed_for_ever(buffer, step, server):
    capture(buffer, None, 1, session_id="s1__98")
    server.bound = {"s1__98": "id-o", "s1__99": "id-o"}
    server.answers = [failing(K.REJECTED, **UNEXPLAINED)] * 5
    assert [step() for _ in range(3)] == [Step.DONE, Step.DONE, Step.EMPTY]
    assert buffer.aside == 1


@pytest.mark.parametrize("bound", [{}, {"s1": "id-d"}], ids=["not bound", "bound to ours"])
def test_an_unexplained_refusal_for_another_reason_is_put_aside(buffer, step, server, bound):
    capture(buffer, None, 1)
    server.known = {"d": "id-d"}
    server.bound = bound
    server.answers = [failing(K.REJECTED, **UNEXPLAINED)]
    assert step() is Step.DONE
    assert buffer.aside == 1


def test_where_the_binding_cannot_be_read_the_entry_is_kept(buffer, step, server):
    capture(buffer, None, 1)
    server.answers = [failing(K.REJECTED, **UNEXPLAINED)]
    server.checks = [ServerFailure(K.REFUSED)]
    assert step() is Step.BLOCKED
    assert (buffer.count, buffer.aside) == (1, 0)
    assert step(AFTER_BREAK + 1) is Step.DONE


def test_each_session_id_has_its_own_tail(buffer, step, server):
    capture(buffer, None, 1)
    assert step() is Step.DONE
    assert buffer.tail("unknown") == Tail()
