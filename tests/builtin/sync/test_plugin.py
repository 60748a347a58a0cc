from __future__ import annotations

import os

import pytest

from builtin_plugins.sync import texts
from builtin_plugins.sync.aftercare import MOST_SWEPT
from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.improver import SyncTarget
from builtin_plugins.sync.plugin import MOST_RETRIES
from builtin_plugins.sync.record import SyncRecord, server_name
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import (
    DatasetChanged,
    PostToolUse,
    PostToolUseFailure,
    ServerStateChanged,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.results import Act, CheckStatus, Failure
from cognee_hooks.services.names import session_file_stem
from tests.support.scripted import fails
from tests.support.sync_session import HERE, IMPROVE, NEWEST
from tests.support.waiting import turns

K = FailureKind
SESSION = HERE.session_id
OWN = "0f8fad5b-d9cb-469f-a165-70867728950e"
RUNNING = {"status": "running", "stages": []}
NAMES = ("persist_session_qa", "persist_agent_traces")


def stages(status, reason=None):
    rows = [{"stage": name, "status": status, "reason": reason} for name in NAMES]
    return {"status": "completed", "stages": rows}


PROMOTED = stages("completed")
BUSY = stages("skipped", "lock_held")


def prompt(**fields):
    return UserPromptSubmit(session_id=SESSION, prompt="do it", **fields)


def stop(**fields):
    return Stop(session_id=SESSION, **fields)


def tool(**fields):
    return PostToolUse(session_id=SESSION, tool_name="Bash", **fields)


async def end(rig, plugin, seconds=9.0):
    await plugin.cognee_session_end(SessionEnd(session_id=SESSION), Deadline.after(seconds))


async def rest(rig, plugin, **fields):
    """End a turn and let all that follows happen, but the timer."""
    plugin.cognee_stop(stop(**fields))
    await rig.port.settle()


def triggers(rig):
    """How often the server was asked, and what for."""
    return len(rig.improves), rig.record.trigger or rig.record.failure_trigger


# -- at rest


async def test_a_session_at_rest_is_synced_after_the_threshold(rig):
    plugin = rig.plugin()
    rig.store(2)
    await rest(rig, plugin)
    assert rig.timer.seconds == 60.0
    assert rig.improves == []
    rig.answers(PROMOTED)
    await rig.timer.fire()
    assert triggers(rig) == (1, "idle")
    assert not rig.timer.armed


@pytest.mark.parametrize(
    "begin",
    [
        lambda plugin: plugin.cognee_user_prompt_submit(prompt()),
        lambda plugin: plugin.cognee_user_prompt_submit(prompt(machine_made=True)),
        lambda plugin: plugin.cognee_post_tool_use(tool()),
        lambda plugin: plugin.cognee_post_tool_use_failure(
            PostToolUseFailure(session_id=SESSION, tool_name="Bash")
        ),
    ],
    ids=["prompt", "machine made", "tool", "failed tool"],
)
async def test_w35_nothing_is_synced_in_the_middle_of_a_turn(rig, begin):
    plugin = rig.plugin()
    rig.store(2)
    begin(plugin)
    assert not rig.timer.armed
    await rest(rig, plugin)
    assert rig.timer.armed
    begin(plugin)
    assert not rig.timer.armed
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    assert not rig.timer.armed


async def test_w35_a_session_of_which_nothing_is_stored_is_not_synced(rig):
    plugin = rig.plugin()
    await rest(rig, plugin)
    await rig.timer.fire()
    await end(rig, plugin)
    assert rig.improves == []
    assert not rig.timer.armed


async def test_entries_that_are_still_on_their_way_when_the_time_is_up_are_waited_for(rig):
    plugin = rig.plugin()
    rig.port.waiting = 1
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.timer.seconds == 60.0
    rig.port.waiting = 0
    rig.store(1)
    rig.answers(PROMOTED)
    await rig.timer.fire()
    assert triggers(rig) == (1, "idle")


async def test_the_end_of_a_sub_agent_is_no_rest(rig):
    plugin = rig.plugin()
    await rest(rig, plugin, agent_id="sub")
    assert not rig.timer.armed


async def test_a_sub_agent_that_works_on_puts_the_sync_off_but_does_not_prevent_it(rig):
    plugin = rig.plugin()
    plugin.cognee_post_tool_use(tool(agent_id="sub"))
    assert not rig.timer.armed
    await rest(rig, plugin)
    rig.timer.seconds = None
    plugin.cognee_post_tool_use(tool(agent_id="sub"))
    plugin.cognee_user_prompt_submit(prompt(agent_id="sub"))
    assert rig.timer.seconds == 60.0


async def test_the_threshold_can_be_chosen_and_idle_syncs_switched_off(make):
    rig = make(COGNEE_IDLE_THRESHOLD_MS="5000")
    await rest(rig, rig.plugin())
    assert rig.timer.seconds == 5.0
    rig = make(COGNEE_IDLE_IMPROVE="false")
    await rest(rig, rig.plugin())
    assert not rig.timers[-1].armed


async def test_without_capture_only_commands_sync(make):
    rig = make(COGNEE_CAPTURE="false", COGNEE_AUTO_IMPROVE_EVERY="1")
    plugin = rig.plugin()
    rig.store(5)
    await rest(rig, plugin)
    await end(rig, plugin)
    assert not rig.timer.armed
    assert rig.improves == []
    rig.answers(PROMOTED)
    await plugin.cognee_register_commands().run("")
    assert len(rig.improves) == 1


async def test_without_a_session_nothing_is_synced(make):
    rig = make()
    plugin = rig.plugin()
    plugin._target = SyncTarget("", "agent_sessions")
    await rest(rig, plugin)
    assert not rig.timer.armed
    await end(rig, plugin)
    assert await plugin.cognee_register_commands().run("") == texts.NO_SESSION
    assert rig.improves == []


# -- W34: health


async def test_w34_while_the_server_is_away_nothing_is_tried_and_no_backoff_begins(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.client.scripts["/health"] = fails(K.REFUSED)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.improves == []
    assert rig.record.failures == 0

    del rig.client.scripts["/health"]
    rig.answers(PROMOTED)
    rig.context.services.health.note(None)
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    assert rig.timer.seconds == 60.0
    await rig.timer.fire()
    assert triggers(rig) == (1, "idle")


async def test_a_server_that_comes_back_does_not_put_off_a_sync_that_is_due(rig):
    plugin = rig.plugin()
    await rest(rig, plugin)
    rig.timer.seconds = 1.0
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    assert rig.timer.seconds == 1.0
    rig.timer.disarm()
    plugin.cognee_server_state_changed(ServerStateChanged(previous="ok", current="offline"))
    assert not rig.timer.armed


async def test_with_a_key_that_is_refused_nothing_is_tried(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.context.services.health.note(ServerFailure(K.AUTH))
    await rest(rig, plugin)
    await rig.timer.fire()
    await end(rig, plugin)
    assert rig.improves == []


# -- cooldown and backoff


async def test_during_the_cooldown_a_sync_waits_once_until_it_is_over(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(PROMOTED)
    await rest(rig, plugin)
    await rig.timer.fire()
    rig.store(1)
    rig.now += 600
    await rest(rig, plugin)
    await rig.timer.fire()
    assert len(rig.improves) == 1
    assert rig.timer.seconds == pytest.approx(1200.0)
    rig.now += 1199
    await rig.timer.fire()
    assert not rig.timer.armed
    assert len(rig.improves) == 1
    rig.now += 1
    await rest(rig, plugin)
    await rig.timer.fire()
    assert len(rig.improves) == 2


async def test_when_the_wait_is_over_what_is_new_is_synced(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(fails(K.UNAVAILABLE, status=503))
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.record.failure_reason == "HTTP 503"
    rig.context.services.health.note(None)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert len(rig.improves) == 1
    rig.now += rig.timer.seconds
    rig.answers(PROMOTED)
    await rig.timer.fire()
    assert len(rig.improves) == 2
    assert rig.record.failures == 0


async def test_the_cooldown_holds_for_the_next_process_too(make):
    rig = make()
    rig.store(2)
    rig.answers(PROMOTED)
    await rest(rig, rig.plugin())
    await rig.timers[-1].fire()
    rig.store(2)
    await rest(rig, rig.plugin())
    await rig.timers[-1].fire()
    assert len(rig.improves) == 1


# -- every so many entries


@pytest.mark.parametrize(("stored", "synced"), [(149, 0), (150, 1), (400, 1)])
async def test_many_new_entries_are_synced_at_the_end_of_a_turn(rig, stored, synced):
    plugin = rig.plugin()
    rig.answers(PROMOTED)
    rig.store(stored - 10)
    rig.store(10, Act.REPLAYED)
    await rest(rig, plugin)
    assert triggers(rig) == (synced, "auto" if synced else "")


async def test_the_next_one_is_so_many_entries_after_the_last_and_not_within_the_cooldown(make):
    rig = make(COGNEE_AUTO_IMPROVE_EVERY="10")
    plugin = rig.plugin()
    rig.answers(PROMOTED)
    rig.store(10)
    await rest(rig, plugin)
    rig.now += 1801
    rig.store(9)
    await rest(rig, plugin)
    assert len(rig.improves) == 1
    rig.store(1)
    await rest(rig, plugin)
    assert len(rig.improves) == 2
    rig.store(10)
    await rest(rig, plugin)
    assert len(rig.improves) == 2


async def test_the_end_of_a_session_does_not_wait_for_what_a_turn_set_off(make):
    rig = make(COGNEE_AUTO_IMPROVE_EVERY="1")
    rig.store(2)
    rig.answers(RUNNING)
    plugin = rig.plugin()
    plugin.cognee_stop(stop())
    assert rig.port.lasting == [True]
    await rig.port.settle()
    assert "has begun" in await by_hand(plugin, "command")
    assert rig.port.lasting == [True, True]
    await rig.port.settle()


async def test_zero_switches_it_off(make):
    rig = make(COGNEE_AUTO_IMPROVE_EVERY="0")
    rig.store(1000)
    await rest(rig, rig.plugin())
    assert rig.improves == []


# -- busy


async def test_a_busy_dataset_is_tried_again_with_growing_jittered_waits_and_not_for_ever(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(BUSY)
    await rest(rig, plugin)
    waits = []
    while rig.timer.armed:
        waits.append(rig.timer.seconds)
        await rig.timer.fire()
    assert len(rig.improves) == 1 + MOST_RETRIES
    for step, seconds in enumerate(waits[1:]):
        assert 30 * 2**step <= seconds <= 90 * 2**step
    assert len(set(waits)) == len(waits)
    assert (rig.record.improved_at, rig.record.failures) == (0.0, 0)


async def test_a_turn_puts_the_next_try_off_until_its_end(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(BUSY)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.timer.armed
    plugin.cognee_user_prompt_submit(prompt())
    assert not rig.timer.armed
    rig.answers(PROMOTED)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert triggers(rig) == (2, "idle")


# -- sessions that were left behind


def left_behind(rig, *sessions, stored=2, age=7200):
    """Sessions that ended without a sync some time ago."""
    for number, session in enumerate(sessions):
        rig.records.write(SyncRecord(session_id=session, dataset=f"{session}_data"))
        rig.store(stored, session_id=session)
        path = rig.folder / f"{session_file_stem(session)}.json"
        os.utime(path, (rig.now - age - number, rig.now - age - number))


def synced(rig):
    return [(*body["session_ids"], body["dataset_name"]) for body in rig.improves]


async def test_a_session_whose_end_could_not_be_synced_is_looked_after_by_the_next_one(rig):
    left_behind(rig, "claude_a", "claude_b")
    left_behind(rig, "claude_empty", stored=0)
    left_behind(rig, "claude_active", age=60)
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(PROMOTED)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert synced(rig) == [
        (SESSION, "agent_sessions"),
        ("claude_a", "claude_a_data"),
        ("claude_b", "claude_b_data"),
    ]
    assert rig.records.read("claude_a", "claude_a_data").trigger == "sweep"
    await rest(rig, plugin)
    await rig.timer.fire()
    assert len(rig.improves) == 3


@pytest.mark.parametrize("why", ["busy", "away", "failed"])
async def test_of_sessions_that_end_at_once_none_is_forgotten(make, why):
    rig = make("claude_other")
    rig.store(2)
    if why == "away":
        rig.client.scripts["/health"] = fails(K.REFUSED)
    rig.answers(fails(K.TIMED_OUT) if why == "failed" else BUSY)
    await end(rig, rig.plugin())

    later = make()
    later.now += 7200
    later.answers(PROMOTED)
    plugin = later.plugin()
    await rest(later, plugin)
    await later.timers[-1].fire()
    assert synced(later) == [("claude_other", "agent_sessions")]


async def test_looking_after_others_ends_with_the_rest(rig):
    left_behind(rig, "claude_a", "claude_b")
    plugin = rig.plugin()

    def answer(_):
        plugin.cognee_user_prompt_submit(prompt())
        return PROMOTED

    rig.answers(answer)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert [session for session, _ in synced(rig)] == ["claude_a"]


@pytest.mark.parametrize("answer", [fails(K.TIMED_OUT), lambda _: BUSY])
async def test_a_server_that_cannot_is_not_asked_for_all_of_them(rig, answer):
    left_behind(rig, "claude_a", "claude_b")
    rig.answers(answer)
    await rest(rig, rig.plugin())
    await rig.timer.fire()
    assert [session for session, _ in synced(rig)] == ["claude_a"]


async def test_what_was_left_behind_at_another_server_stays_there(rig):
    record = SyncRecord(session_id="claude_a", dataset="claude_a_data")
    path = rig.folder / f"{session_file_stem('claude_a')}.json"
    for server in ("another server", server_name(rig.context.services.mode.url)):
        SyncRecords(rig.folder, server, rig.context.log).write(record)
        os.utime(path, (rig.now - 7200, rig.now - 7200))
        rig.store(2, session_id="claude_a")
        rig.answers(PROMOTED)
        await rest(rig, rig.plugin())
        await rig.timers[-1].fire()
        assert len(rig.improves) == (server != "another server")


async def test_in_one_rest_only_a_few_are_looked_after(rig):
    left_behind(rig, *(f"claude_{number}" for number in range(MOST_SWEPT + 3)))
    rig.answers(PROMOTED)
    await rest(rig, rig.plugin())
    await rig.timer.fire()
    assert len(rig.improves) == MOST_SWEPT


async def test_while_the_server_is_away_nobody_is_looked_after(rig):
    left_behind(rig, "claude_a")
    rig.client.scripts["/health"] = fails(K.REFUSED)
    await rest(rig, rig.plugin())
    await rig.timer.fire()
    assert rig.improves == []


async def test_a_session_is_known_to_others_from_its_first_turn_on(rig):
    await rest(rig, rig.plugin())
    rig.now = 4e9
    (record,) = rig.records.left_behind("another", rig.now)
    assert (record.session_id, record.dataset) == (SESSION, "agent_sessions")


# -- how runs end


async def test_a_background_run_is_followed_and_confirmed(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    rig.runs("succeeded")
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.record.confirmed


async def test_a_background_run_that_fails_is_tried_again_after_the_backoff(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    rig.runs("failed")
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.record.failures == 1
    rig.now += 1801
    await rest(rig, plugin)
    await rig.timer.fire()
    assert len(rig.improves) == 2


# -- the end


async def test_what_is_new_is_synced_when_the_session_ends_and_not_waited_for(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    await rest(rig, plugin)
    await end(rig, plugin)
    assert triggers(rig) == (1, "final")
    assert rig.improves[0]["run_in_background"] is True
    assert NEWEST not in {each.path for each in rig.client.unsent}
    assert not rig.timer.armed


async def test_nothing_new_is_not_synced_again_at_the_end(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert not rig.record.confirmed
    await end(rig, plugin)
    assert len(rig.improves) == 1


async def test_the_end_does_not_wait_for_cooldown_or_backoff(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(fails(K.TIMED_OUT))
    await rest(rig, plugin)
    await rig.timer.fire()
    rig.answers(PROMOTED)
    rig.context.services.health.note(None)
    await end(rig, plugin)
    assert triggers(rig) == (2, "final")


async def test_the_end_takes_no_longer_than_its_share(make):
    rig = make()
    plugin = rig.plugin()
    rig.store(2)
    rig.client.delays[IMPROVE] = 30.0
    limit = Deadline.after(0.1)
    await plugin.cognee_session_end(SessionEnd(session_id=SESSION), limit)
    assert rig.record.failure_reason == "timeout"


async def test_a_session_that_ended_before_there_was_a_server_is_synced_when_its_entries_are_there(
    rig, monkeypatch
):
    monkeypatch.setattr("builtin_plugins.sync.aftercare.LATE_POLL_SECONDS", 0.0)
    plugin = rig.plugin()
    rig.port.waiting = 2
    await rest(rig, plugin)
    await end(rig, plugin)
    assert rig.improves == []
    rig.answers(RUNNING)
    rig.context.services.health.note(None)
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    await turns()
    assert rig.improves == []  # what it has kept is still on its way
    rig.store(2, Act.REPLAYED)
    rig.port.waiting = 0
    await rig.port.settle()
    assert triggers(rig) == (1, "final")


async def test_a_session_that_ended_before_there_was_a_server_waits_for_its_turn(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(fails(K.REFUSED))
    await end(rig, plugin)
    answers = iter([BUSY, BUSY, RUNNING])
    rig.answers(lambda _: next(answers))
    rig.context.services.health.note(None)
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    await rig.port.settle()
    assert rig.record.improved_at == rig.now
    assert next(answers, None) is None


async def test_a_session_that_goes_on_after_its_end_waits_for_its_next_one(rig):
    plugin = rig.plugin()
    await end(rig, plugin)
    plugin.cognee_user_prompt_submit(prompt())
    rig.store(2)
    plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    await rig.port.settle()
    assert rig.improves == []


async def test_the_final_sync_can_be_switched_off(make):
    rig = make(COGNEE_FINAL_SYNC="false")
    rig.store(2)
    await end(rig, rig.plugin())
    assert rig.improves == []


async def test_w34_at_the_end_an_absent_server_is_not_asked(rig):
    rig.store(2)
    rig.client.scripts["/health"] = fails(K.REFUSED)
    await end(rig, rig.plugin())
    assert rig.improves == []


async def test_what_needs_a_person_is_not_tried_by_itself(rig):
    plugin = rig.plugin()
    rig.store(2)

    def spent(_):
        raise ServerFailure(K.NEEDS_USER, "HTTP 402: budget", status=402)

    rig.answers(spent)
    await rest(rig, plugin)
    await rig.timer.fire()
    assert rig.port.said == [texts.BUDGET]
    rig.now += 3600
    rig.store(500)
    await rest(rig, plugin)
    await rig.timer.fire()
    await end(rig, plugin)
    assert len(rig.improves) == 1
    rig.now += 24 * 3600
    rig.answers(PROMOTED)
    await rest(rig, plugin)
    assert triggers(rig) == (2, "auto")


# -- another dataset


def change(session_id="claude_s1__2", previous="agent_sessions"):
    return DatasetChanged(previous=previous, current="other", session_id=session_id)


async def test_a_session_that_is_left_is_synced_into_its_own_dataset(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    plugin.cognee_dataset_changed(change())
    await rig.port.settle()
    (body,) = rig.improves
    assert (body["session_ids"], body["dataset_name"]) == ([SESSION], "agent_sessions")
    assert rig.record.trigger == "switch"
    rig.store(3, session_id="claude_s1__2")
    await end(rig, plugin)
    body = rig.improves[1]
    assert (body["session_ids"], body["dataset_name"]) == (["claude_s1__2"], "other")


@pytest.mark.parametrize("session_id", ["", SESSION])
async def test_a_session_is_never_synced_into_a_dataset_that_is_not_its_own(rig, session_id):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    plugin.cognee_dataset_changed(change(session_id))
    await rig.port.settle()
    assert rig.improves == []
    await end(rig, plugin)
    assert rig.improves[0]["dataset_name"] == "agent_sessions"


async def test_a_switch_from_a_dataset_that_is_not_the_sessions_syncs_nothing(rig):
    plugin = rig.plugin()
    rig.store(2)
    plugin.cognee_dataset_changed(change(previous="elsewhere"))
    await rig.port.settle()
    assert rig.improves == []


# -- by hand


def by_hand(plugin, which):
    if which == "tool":
        return plugin.cognee_register_tools().run({})
    return plugin.cognee_register_commands().run("now please")


@pytest.mark.parametrize("which", ["tool", "command"])
async def test_somebody_who_asks_hears_how_the_run_ended(rig, which):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    rig.runs("succeeded")
    told = await by_hand(plugin, which)
    assert told == "The session's entries are lasting memory of dataset 'agent_sessions' now."
    assert rig.record.trigger == "manual"
    assert rig.record.confirmed


async def test_a_run_that_takes_long_is_followed_further(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(RUNNING)
    assert "has begun" in await by_hand(plugin, "tool")
    rig.runs("succeeded")
    await rig.port.settle()
    assert rig.record.confirmed


async def test_who_asks_does_not_wait_for_cooldown_rest_or_health(rig):
    plugin = rig.plugin()
    rig.answers(PROMOTED)
    rig.context.services.health.note(ServerFailure(K.UNAVAILABLE))
    for _ in range(2):
        assert "are lasting memory" in await by_hand(plugin, "command")
    assert len(rig.improves) == 2


async def test_entries_that_wait_for_the_server_are_told_of(rig):
    rig.answers(PROMOTED)
    rig.port.waiting = 3
    told = await by_hand(rig.plugin(), "command")
    assert told.endswith("3 captured entries wait for the server and are not part of it yet.")


async def test_a_sync_that_is_busy_by_hand_in_a_turn_sets_no_timer(rig):
    rig.answers(BUSY)
    assert "busy" in await by_hand(rig.plugin(), "tool")
    assert not rig.timer.armed


async def test_a_sync_that_failed_is_told_as_a_failure(rig):
    rig.client.scripts[IMPROVE] = fails(K.SERVER_ERROR)
    told = await by_hand(rig.plugin(), "command")
    assert isinstance(told, Failure)
    assert told.startswith("The sync failed (")


@pytest.mark.parametrize("dataset", ["", "agent_sessions", " agent_sessions ", OWN, OWN.upper()])
async def test_the_model_may_name_the_sessions_own_dataset(rig, dataset):
    rig.client.scripts |= {
        "/api/v1/datasets": lambda _: [{"id": OWN, "name": "agent_sessions"}],
        "/api/v1/users/me": lambda _: {"id": OWN},
    }
    rig.answers(PROMOTED)
    told = await rig.plugin().cognee_register_tools().run({"dataset": dataset})
    assert "are lasting memory of dataset 'agent_sessions'" in told


@pytest.mark.parametrize("dataset", ["other", "1" + OWN[1:]])
async def test_a_session_is_synced_into_no_other_dataset(rig, dataset):
    rig.client.scripts["/api/v1/datasets"] = lambda _: [{"id": OWN, "name": "agent_sessions"}]
    told = await rig.plugin().cognee_register_tools().run({"dataset": dataset})
    assert isinstance(told, Failure)
    assert told.startswith("Nothing was synced: this session belongs to dataset 'agent_sessions'")
    assert told.endswith(f"cognee-datasets {dataset}")
    assert rig.improves == []


async def test_where_the_server_cannot_be_asked_what_a_uuid_means_nothing_is_synced(rig):
    rig.client.scripts["/api/v1/datasets"] = fails(K.REFUSED)
    told = await rig.plugin().cognee_register_tools().run({"dataset": OWN})
    assert told.startswith("Nothing was synced")


def test_the_row_of_the_status_page_says_when_and_how_it_went(make):
    rig = make()
    when = "every 150 entries, after 60 s of rest, at the end of a session"
    assert rig.plugin().cognee_status_rows().text == when
    rig.records.write(
        SyncRecord(session_id=SESSION, dataset="agent_sessions").failed(rig.now, "HTTP 500", "idle")
    )
    assert rig.plugin().cognee_status_rows().text.startswith(f"{when} · failed since (1 in a row")
    off = make(COGNEE_CAPTURE="false").plugin().cognee_status_rows()
    assert off.text == "only on demand, since capture is off"


def test_the_tool_says_when_to_use_it(rig):
    tool = rig.plugin().cognee_register_tools()
    assert tool.name == "cognee_sync"
    assert set(tool.parameters["properties"]) == {"dataset"}
    assert "only when the user asks" in tool.description
    assert rig.plugin().cognee_register_commands().name == "sync"


# -- the rest


@pytest.mark.parametrize(("source", "removed"), [("startup", True), ("compact", False)])
async def test_w36_a_start_removes_records_of_sessions_long_over(rig, source, removed):
    rig.records.write(SyncRecord(session_id="old"))
    (path,) = rig.folder.glob("*.json")
    rig.now = 4e9
    rig.plugin().cognee_session_start(SessionStart(session_id=SESSION, source=source))
    await rig.port.settle()
    assert path.exists() is not removed


def test_doctor_says_that_only_commands_sync_without_capture(make):
    row = make(COGNEE_CAPTURE="false").plugin().cognee_doctor_checks()
    assert row.status is CheckStatus.INFO
    assert "COGNEE_CAPTURE=true" in row.remedy


def test_doctor_says_when_sessions_are_synced(make):
    row = make().plugin().cognee_doctor_checks()
    assert row.status is CheckStatus.OK
    assert row.detail == (
        "every 150 entries, after 60 s of rest, at the end of a session; no sync yet"
    )
    off = {"COGNEE_AUTO_IMPROVE_EVERY": "0", "COGNEE_IDLE_IMPROVE": "0", "COGNEE_FINAL_SYNC": "0"}
    assert make(**off).plugin().cognee_doctor_checks().detail == "only on demand; no sync yet"


async def test_doctor_says_when_the_last_sync_was_and_what_the_next_waits_for(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(PROMOTED)
    await by_hand(plugin, "command")
    rig.now += 300
    row = plugin.cognee_doctor_checks()
    assert row.status is CheckStatus.OK
    assert "last sync 5 min ago (manual); the next one can come in 25 min" in row.detail


async def test_doctor_says_why_syncs_are_paused(rig):
    plugin = rig.plugin()
    rig.store(2)
    rig.answers(fails(K.UNAVAILABLE, status=503))
    await by_hand(plugin, "command")
    row = plugin.cognee_doctor_checks()
    assert row.status is CheckStatus.WARNING
    assert "failed since (1 in a row, last just now: HTTP 503)" in row.detail
    assert "tried again by itself" in row.remedy
    rig.answers(fails(K.NEEDS_USER, status=402))
    await by_hand(plugin, "command")
    row = plugin.cognee_doctor_checks()
    assert "paused until somebody mends it" in row.detail
    assert "budget" in row.remedy
