from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cognee_hooks.errors import FailureKind
from cognee_hooks.services import breaker as module
from cognee_hooks.services.breaker import CircuitBreaker
from cognee_hooks.services.statefile import LockFile, read_object, write_json

K = FailureKind
URL = "http://localhost:8011"
EPOCH = 1_800_000_000.0


class Time:
    """One clock for both the monotonic and the wall side; ``shift`` sets the wall clock."""

    def __init__(self):
        self.at = 0.0
        self.shift = 0.0

    def clock(self):
        return 1000.0 + self.at

    def now(self):
        return EPOCH + self.at + self.shift


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "breaker.json"


@pytest.fixture
def make(time, path):
    def build(**options):
        return CircuitBreaker(URL, path, clock=time.clock, now=time.now, **options)

    return build


def _shared(path):
    entry = read_object(path).get(URL, {})
    return entry.get("open_until"), entry.get("consecutive_failures")


def _ms(seconds):
    return round((EPOCH + seconds) * 1000)


def _fail(breaker, time, *moments, kind=K.UNREACHABLE):
    for moment in moments:
        time.at = moment
        breaker.failure(kind)


def test_b1_an_empty_memory_leaves_no_trace(make, path):
    make().failure(K.NO_MEMORY)
    make().failure(K.NOT_FOUND)
    assert not path.exists()


def test_b1_a_time_out_counts_since_a_dead_model_shows_itself_in_no_other_way(make, path):
    make().failure(K.TIMED_OUT)
    assert _shared(path) == (0, 1)


def test_b2_four_failures_are_counted_and_it_stays_closed(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 1, 2, 3)
    assert breaker.state == "closed"
    assert breaker.allow()
    assert _shared(path) == (0, 4)


def test_b3_the_fifth_failure_opens_it_for_the_cooldown(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 1, 2, 3)
    _fail(breaker, time, 4, kind=K.SERVER_ERROR)
    assert _shared(path) == (_ms(124), 0)
    time.at = 4.001
    assert breaker.state == "open"
    assert not breaker.allow()
    time.at = 123.9
    assert not breaker.allow()
    time.at = 124
    assert breaker.allow()


def test_b4_a_failure_that_is_older_than_the_window_no_longer_counts(make, time):
    breaker = make()
    _fail(breaker, time, 0, 60, 120, 180, 301, kind=K.SERVER_ERROR)
    assert breaker.state == "closed"


def test_b5_a_failure_as_old_as_the_window_still_counts(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 60, 120, 180, 300, kind=K.SERVER_ERROR)
    assert breaker.state == "open"
    assert _shared(path) == (_ms(420), 0)


def test_b6_w3_a_time_beyond_the_cooldown_is_ignored(make, path):
    write_json(path, {URL: {"open_until": _ms(600), "consecutive_failures": 0}})
    assert make().allow()


def test_another_processs_pause_is_adopted_as_long_as_it_lasts(make, time, path):
    write_json(path, {URL: {"open_until": _ms(100), "consecutive_failures": 0}})
    breaker = make()
    assert not breaker.allow()
    time.at = 99
    assert not breaker.allow()
    time.at = 100
    assert breaker.allow()


def test_b7_the_file_is_looked_at_every_five_seconds(make, time, path):
    breaker = make()
    assert breaker.allow()
    write_json(path, {URL: {"open_until": _ms(100)}})
    time.at = 3
    assert breaker.allow()
    time.at = 5
    assert not breaker.allow()


@pytest.mark.parametrize("until", ["abc", None, True, [], float("1e999"), 10**400, -5])
def test_b8_what_is_no_time_reads_as_none(make, path, until):
    text = json.dumps({URL: {"open_until": until, "consecutive_failures": 3}})
    path.write_text(text)
    breaker = make()
    assert breaker.allow()
    breaker.failure(K.SERVER_ERROR)
    assert _shared(path)[1] == 3


def test_b9_w3_a_trial_that_fails_opens_it_again(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 1, 2, 3, 4)
    time.at = 124
    assert breaker.allow()
    breaker.failure(K.SERVER_ERROR)
    assert breaker.state == "open"
    assert _shared(path) == (_ms(244), 0)


def test_b10_w1_only_a_recall_that_works_closes_it(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 1, 2, 3, 4)
    time.at = 124
    assert breaker.state == "half-open"
    breaker.success()
    assert breaker.state == "closed"
    assert _shared(path) == (0, 0)
    assert breaker.describe() == "closed"


def test_w1_failures_between_good_probes_still_open_it(make, time):
    breaker = make()
    _fail(breaker, time, *range(0, 50, 10), kind=K.SERVER_ERROR)
    assert breaker.state == "open"


def test_b11_a_success_with_nothing_open_writes_nothing(make, path):
    make().success()
    assert not path.exists()
    write_json(path, {URL: {"open_until": 0, "consecutive_failures": 0}})
    before = path.stat().st_mtime_ns
    make().success()
    assert path.stat().st_mtime_ns == before


def test_a_success_clears_what_is_on_record(make, time, path):
    breaker = make()
    _fail(breaker, time, 0, 1)
    assert breaker.describe() == "2 consecutive failure(s) on record"
    breaker.success()
    assert _shared(path) == (0, 0)
    _fail(breaker, time, 2, 3, 4, 5)
    assert breaker.state == "closed"


@pytest.mark.parametrize(
    "kind",
    [K.AUTH, K.FORBIDDEN, K.RATE_LIMITED, K.NOT_FOUND, K.REJECTED, K.NEEDS_USER, K.MISCONFIGURED],
)
def test_what_the_server_refuses_does_not_count(make, path, kind):
    breaker = make(threshold=1)
    breaker.failure(kind)
    assert breaker.state == "closed"
    assert not path.exists()


@pytest.mark.parametrize(
    "kind",
    [K.REFUSED, K.UNREACHABLE, K.TIMED_OUT, K.LOST, K.UNAVAILABLE, K.SERVER_ERROR, K.MODEL_DOWN],
)
def test_failures_that_are_outages_count(make, kind):
    breaker = make(threshold=1)
    breaker.failure(kind)
    assert breaker.state == "open"


# -- half-open


def test_w3_after_the_cooldown_one_recall_is_tried_at_a_time_over_all_processes(make, time):
    mine, other = make(threshold=1), make(threshold=1)
    mine.failure(K.LOST)
    time.at = 6
    assert other.state == "open"
    time.at = 126
    assert mine.allow()
    assert not mine.allow()
    assert not other.allow()
    assert other.state == "half-open"


def test_an_abandoned_trial_expires(make, time):
    mine, other = make(threshold=1), make(threshold=1)
    mine.failure(K.LOST)
    time.at = 120
    assert mine.allow()
    time.at = 120 + module.TRIAL_SECONDS - 1
    assert not other.allow()
    time.at = 120 + module.TRIAL_SECONDS
    assert other.allow()


def test_a_trial_that_proved_nothing_lets_the_next_one_try(make, time):
    mine, other = make(threshold=1), make(threshold=1)
    mine.failure(K.LOST)
    time.at = 120
    assert mine.allow()
    mine.failure(K.AUTH)
    assert mine.state == "half-open"
    assert other.allow()


def test_a_trial_that_another_process_won_closes_ours(make, time):
    mine, other = make(threshold=1), make(threshold=1)
    mine.failure(K.LOST)
    time.at = 120
    assert other.allow()
    other.success()
    time.at = 126
    assert mine.state == "closed"


def test_a_trial_that_found_no_memory_worked(make, time):
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    time.at = 120
    assert breaker.allow()
    breaker.failure(K.NO_MEMORY)
    assert breaker.state == "closed"


def test_a_trial_mark_from_a_wrong_clock_is_ignored(make, time, path):
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    time.at = 120
    document = read_object(path)
    document[URL]["trial_until"] = _ms(9000)
    write_json(path, document)
    assert breaker.allow()


# -- clocks and files


@pytest.mark.parametrize("shift", [-86_400.0, 86_400.0])
def test_setting_the_wall_clock_neither_opens_nor_prolongs_a_pause(make, time, shift):
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    time.shift = shift
    time.at = 119
    assert breaker.state == "open"
    time.at = 120
    assert breaker.state == "half-open"
    assert make().allow()


def test_entries_of_other_servers_and_other_fields_are_kept(make, path):
    write_json(path, {"http://other": {"open_until": 5}, "note": "x"})
    make().failure(K.LOST)
    document = read_object(path)
    assert document["http://other"] == {"open_until": 5}
    assert document["note"] == "x"
    shared = {"open_until", "consecutive_failures", "updated_at", "failed_at"}
    assert set(document[URL]) == shared


def test_processes_that_live_for_one_event_open_it_together(make, time):
    for moment in range(4):
        _fail(make(), time, moment)
        assert make().allow()
    _fail(make(), time, 4)
    assert not make().allow()


def test_failures_of_another_process_count_only_within_the_window(make, time):
    for moment in (0, 60, 120, 180):
        _fail(make(), time, moment)
    _fail(make(), time, 301)
    assert make().allow()


def test_a_success_forgets_the_failures_of_all_processes(make, time):
    for moment in range(4):
        _fail(make(), time, moment)
    make().success()
    _fail(make(), time, 5)
    assert make().allow()


@pytest.mark.parametrize("noted", ["x", 3, {"a": 1}, ["a", None, -1, 1e308, True], [[]] * 50])
def test_times_that_cannot_be_believed_do_not_count(make, path, noted):
    write_json(path, {URL: {"failed_at": noted}})
    make().failure(K.LOST)
    assert make().allow()
    assert _shared(path) == (0, 1)


@pytest.mark.parametrize("content", [b"{torn", b"[]", b"", b'{"http://localhost:8011": 3}'])
def test_a_damaged_file_is_replaced(make, path, content):
    path.write_bytes(content)
    breaker = make()
    assert breaker.allow()
    breaker.failure(K.LOST)
    assert _shared(path) == (0, 1)


def test_without_a_file_it_works_alone(time):
    breaker = CircuitBreaker(URL, None, threshold=1, clock=time.clock, now=time.now)
    breaker.failure(K.LOST)
    time.at = 120
    assert breaker.allow()
    assert not breaker.allow()
    breaker.failure(K.LOST)
    time.at = 240
    assert breaker.allow()
    breaker.success()
    assert breaker.state == "closed"


def test_where_the_file_cannot_be_written_it_works_alone(time, tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "breaker.json"
    breaker = CircuitBreaker(URL, path, threshold=1, clock=time.clock, now=time.now)
    breaker.failure(K.LOST)
    time.at = 119
    assert not breaker.allow()
    time.at = 130
    assert breaker.state == "half-open"
    assert breaker.allow()
    assert not breaker.allow()


def test_a_lock_that_stays_taken_costs_a_moment_and_no_more(make, time, path):
    lock = LockFile(path.with_name("breaker.json.lock"))
    assert lock.try_acquire()
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    assert breaker.state == "open"
    lock.release()


def test_it_says_until_when_recall_is_paused(make, time):
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    assert breaker.describe().startswith("open until ")
    assert breaker.describe().endswith(" (recall paused)")
    time.at = 120
    assert "trial" in breaker.describe()


_TRY = """
import sys, time
from pathlib import Path
from cognee_hooks.services.breaker import CircuitBreaker
gate = Path(sys.argv[2])
while not gate.exists():
    time.sleep(0.001)
print(CircuitBreaker(sys.argv[3], Path(sys.argv[1])).allow())
"""


def test_of_several_processes_one_gets_the_trial(path, tmp_path):
    write_json(path, {URL: {"open_until": 1_700_000_000_000}})
    gate = tmp_path / "gate"
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", _TRY, str(path), str(gate), URL],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    gate.touch()
    answers = [rival.communicate(timeout=120)[0].strip() for rival in rivals]
    assert sorted(answers) == ["False"] * 4 + ["True"]


def test_no_trial_is_granted_while_another_process_holds_the_file(make, time, path):
    breaker = make(threshold=1)
    breaker.failure(K.LOST)
    time.at = 120
    lock = LockFile(path.with_name("breaker.json.lock"))
    assert lock.try_acquire()
    assert not breaker.allow()
    lock.release()
    assert breaker.allow()
