"""Listing datasets and switching between them."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.errors import FailureKind, RedactionFailed
from cognee_hooks.events import PostToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.asking import Asking
from tests.support.scripted import ENTRY, RECALL, ScriptedClient, fails
from tests.support.waiting import until

K = FailureKind
FIRST = "0f8fad5b-d9cb-469f-a165-70867728950e"
SECOND = "1f8fad5b-d9cb-469f-a165-70867728950e"
THIRD = "2f8fad5b-d9cb-469f-a165-70867728950e"
ACCOUNT = "11111111-1111-4111-8111-111111111111"
IMPROVE = "/api/v1/improve"
RUNNING = {"status": "running", "stages": []}
HERE = {"session_id": "pi_s1", "agent": "pi"}


def rows(*named):
    return [{"id": each, "name": name, "ownerId": owner} for each, name, owner in named]


@pytest.fixture
def client():
    client = ScriptedClient()
    client.scripts |= {
        "/api/v1/users/me": lambda _: {"id": ACCOUNT},
        "/api/v1/datasets": lambda _: rows(
            (FIRST, "agent_sessions", ACCOUNT), (SECOND, "other", ACCOUNT)
        ),
        IMPROVE: lambda _: RUNNING,
    }
    return client


@pytest.fixture
async def start(tmp_path, client):
    hosts = []

    def build(session_id="pi_s1", **environ):
        host = Host(
            "pi",
            environ={"HOME": str(tmp_path), **environ},
            session_id=session_id,
            client=client,
            entry_points=(),
        )
        host.dialogs = Asking()
        hosts.append(host)
        return host

    yield build
    for host in hosts:
        await host.close(Deadline.after(1.0))


async def run(host, text=""):
    return await host.registered.commands["datasets"].run(text)


async def play(host):
    """A turn, so that there is something to sync."""
    await host.user_prompt_submit(UserPromptSubmit(**HERE, prompt="Which port is it?"))
    await host.post_tool_use(PostToolUse(**HERE, tool_name="bash", tool_input={"command": "ls"}))
    await host.stop(Stop(**HERE, last_assistant_message="Port 6543."))


def record(host):
    path = host.paths.active_dataset_file
    return json.loads(path.read_text()) if path.exists() else None


# -- lists


async def test_the_list_marks_the_dataset_in_use_and_tells_whose_the_others_are(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: rows(
        (SECOND, "a-team", "somebody"), (FIRST, "agent_sessions", ACCOUNT)
    )
    lines = (await run(start())).splitlines()
    assert lines[:3] == [
        "Current dataset: agent_sessions (session pi_s1)",
        f" * agent_sessions ({FIRST[:8]}…)",
        f"   a-team ({SECOND[:8]}…) · shared with this account",
    ]
    assert lines[-1].startswith("Switch with: cognee-datasets <name or id>.")


async def test_a_hostile_name_cannot_write_to_the_terminal(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: rows((SECOND, "a\x1b[31m\nb", ACCOUNT))
    told = await run(start())
    assert "\x1b" not in told
    assert "a b" in told


async def test_a_long_list_is_cut(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: rows(
        *((str(uuid.uuid4()), f"n{number:03}", ACCOUNT) for number in range(60))
    )
    lines = (await run(start())).splitlines()
    assert "   and 10 more" in lines
    assert len(lines) == 54


async def test_no_datasets_and_no_server_are_told_apart(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: []
    assert "(no readable datasets)" in await run(start())
    client.scripts["/api/v1/datasets"] = fails(K.REFUSED)
    assert (await run(start())).startswith("⚠ Datasets failed: refused")


# -- targets


async def test_the_dataset_in_use_is_not_switched_to(start, client):
    host = start()
    for target in ("agent_sessions", FIRST, FIRST.upper()):
        told = await run(host, target)
        assert told == "Already active: 'agent_sessions' (session pi_s1)."
    assert host.session.session_id == "pi_s1"


async def test_the_dataset_in_use_is_active_although_it_is_not_there_yet(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: []
    assert (await run(start(), "agent_sessions")).startswith("Already active")


async def test_vector_92_a_name_that_two_datasets_have_is_ambiguous(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: rows(
        (SECOND, "dup", ACCOUNT), (THIRD, "dup", "somebody")
    )
    host = start()
    told = await run(host, "dup")
    assert f"matches 2 datasets (dup {SECOND}; dup {THIRD}) — select its UUID." in told
    assert record(host) is None


@pytest.mark.parametrize(
    ("owner", "name", "address"),
    [(ACCOUNT, "other", "other"), ("somebody", "other", SECOND), (ACCOUNT, "with.dot", SECOND)],
)
async def test_vector_93_and_w14_a_dataset_is_kept_by_what_leads_to_it(
    start, client, owner, name, address
):
    client.scripts["/api/v1/datasets"] = lambda _: rows((SECOND, name, owner))
    for number, target in enumerate((SECOND.upper(), name)):
        host = start(f"pi_{number}")
        await run(host, target)
        assert host.session.dataset == address
        assert record(host)["dataset"] == address


@pytest.mark.parametrize("target", ["othr", THIRD])
async def test_w14_and_vector_95_a_typing_error_makes_nothing(start, client, target):
    host = start()
    told = await run(host, target)
    assert f"Dataset '{target}' not found. Available: agent_sessions, other." in told
    assert ("--create" in told) == (target == "othr")
    made = [each for each in client.unsent if each.method == "POST"]
    assert made == []
    assert (record(host), host.session.dataset) == (None, "agent_sessions")


@pytest.mark.parametrize("asked", [True, False])
async def test_w14_a_dataset_is_made_when_that_is_wanted(start, client, asked):
    client.scripts["/api/v1/datasets"] = lambda body: (
        {"id": THIRD, "name": body["name"], "ownerId": ACCOUNT} if body else []
    )
    host = start()
    host.dialogs.says = asked
    told = await run(host, "my team" if asked else "my team --create")
    assert told.startswith("Switched to dataset 'my team' (session pi_s1__2).")
    assert host.session.dataset == "my-team"
    assert bool(host.dialogs.asked) == asked


async def test_a_dataset_whose_name_is_a_secret_is_not_made(start, client, monkeypatch):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    host = start()
    assert "looks like a secret" in await run(host, f"{token} --create")

    async def fails(*_, **__):
        raise RedactionFailed("custom", "ValueError")

    monkeypatch.setattr(host, "redact", fails)
    assert "could not be made safe" in await run(host, "new --create")
    assert [each for each in client.unsent if each.method == "POST"] == []
    assert token not in str(client.unsent)


@pytest.mark.parametrize("text", ["--force", "--create", "other --nonsense"])
async def test_what_cannot_be_understood_is_answered_with_the_usage(start, client, text):
    assert (await run(start(), text)).startswith("Usage: cognee-datasets")
    assert client.unsent == []


# -- the session that is left


async def test_the_session_is_synced_into_its_own_dataset_before_it_is_left(start, client):
    host = start()
    await host.start()
    await play(host)
    told = await run(host, "other")
    assert "Previous session pi_s1 synced into 'agent_sessions'." in told
    first = client.bodies(IMPROVE)[0]
    assert (first["session_ids"], first["dataset_name"]) == (["pi_s1"], "agent_sessions")
    paths = [each.path for each in client.unsent]
    assert paths.index(IMPROVE) > max(at for at, path in enumerate(paths) if path == ENTRY)
    assert record(host)["previous"] == {
        "dataset": "agent_sessions",
        "session_id": "pi_s1",
        "synced": True,
    }
    assert "New conversations begin in the new one, too." in told


async def test_a_session_of_which_nothing_is_stored_is_not_synced(start, client):
    told = await run(start(), "other")
    assert "Nothing of the previous session pi_s1 had to be synced." in told
    assert client.bodies(IMPROVE) == []


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (fails(K.TIMED_OUT), "timed_out"),
        (lambda _: {"status": "errored", "error": "boom"}, "boom"),
        (lambda _: {}, "busy with another session"),
    ],
    ids=["no answer", "errored", "busy"],
)
async def test_vector_96_what_cannot_be_synced_is_left_only_by_force(start, client, answer, cause):
    host = start()
    await host.start()
    await play(host)
    client.scripts[IMPROVE] = answer
    told = await run(host, "other")
    assert told.startswith("⚠ Switch aborted: syncing the current session into 'agent_sessions'")
    assert cause in told
    assert (record(host), host.session.dataset) == (None, "agent_sessions")
    told = await run(host, "other --force")
    assert told.startswith("Switched to dataset 'other' (session pi_s1__2).")
    assert "pi_s1 NOT synced (--force)" in told
    assert record(host)["previous"]["synced"] is False


async def test_whoever_blocks_sync_is_told_that_nothing_is_synced(start, client):
    host = start(COGNEE_HOOKS_DISABLE="sync")
    await host.start()
    await play(host)
    assert "the plugin sync is switched off" in await run(host, "other")
    assert "Switched" in await run(host, "other --force")
    assert client.bodies(IMPROVE) == []


async def test_entries_that_wait_stay_with_the_dataset_that_they_were_captured_for(start, client):
    host = start()
    await host.start()
    client.scripts[ENTRY] = fails(K.REFUSED, sent=False)
    await play(host)
    told = await run(host, "other")
    assert "2 captured entries still wait to be sent to 'agent_sessions'." in told
    del client.scripts[ENTRY]
    before = len(client.bodies(ENTRY))
    again = start("pi_s1")
    await again.start()
    await again.session_start(SessionStart(**HERE))
    await until(lambda: len({str(each["entry"]) for each in client.bodies(ENTRY)[before:]}) == 2)
    sent = client.bodies(ENTRY)[before:]
    assert {(each["session_id"], each["dataset_name"]) for each in sent} == {
        ("pi_s1", "agent_sessions")
    }
    assert (again.session.dataset, again.session.session_id) == ("other", "pi_s1__2")


# -- the switch


async def test_w15_every_switch_takes_another_session_and_none_is_used_for_two_datasets(start):
    host = start("x" * 120)
    seen = [host.session.session_id]
    for target in ("other", "agent_sessions", "other"):
        await run(host, target)
        seen.append(host.session.session_id)
    assert len(set(seen)) == 4
    assert all(len(each) <= 120 for each in seen)
    assert seen[-1].endswith("__4")


async def test_w15_another_conversation_begins_in_the_dataset_with_a_session_of_its_own(start):
    await run(start(), "other")
    session = start("pi_s2").session
    assert (session.dataset, session.session_id) == ("other", "pi_s2")


async def test_a_second_switch_has_to_wait(start, client):
    host = start()
    client.delays["/api/v1/datasets"] = 0.2
    first = asyncio.create_task(run(host, "other"))
    await asyncio.sleep(0.05)
    assert (await run(host, "other")).startswith("A dataset switch is already in progress")
    assert (await first).startswith("Switched")


async def test_vector_98_a_switch_that_cannot_be_kept_is_none(start):
    host = start()
    host.paths.active_dataset_file.mkdir(parents=True)
    told = await run(host, "other")
    assert told.startswith("⚠ Switch was not persisted")
    assert host.session.dataset == "agent_sessions"


async def test_recall_and_capture_follow_a_switch(start, client):
    host = start()
    await host.start()
    await run(host, "other")
    await play(host)
    await host.session_end(SessionEnd(**HERE))
    where = {body["query"]: body["datasets"] for body in client.bodies(RECALL)}
    assert where == {"session start": ["other"], "Which port is it?": ["other"]}
    assert {(body["session_id"], body["dataset_name"]) for body in client.bodies(ENTRY)} == {
        ("pi_s1__2", "other")
    }
    assert client.bodies(IMPROVE)[-1]["session_ids"] == ["pi_s1__2"]
    assert "other" in await host.status_line()


# -- doctor


async def test_doctor_tells_the_dataset_and_what_is_read_instead(start):
    host = start()

    async def details():
        found = await examine(host, Deadline.after(2.0))
        return {row.name: row.detail for row in found if row.name in {"dataset", "federation"}}

    assert (await details())["dataset"] == "agent_sessions — the default"
    await run(host, "other")
    told = await details()
    assert told["dataset"].startswith("other — switched to; kept in ")
    assert told["federation"].startswith("off (set COGNEE_PLUGIN_READ_DATASET_IDS")
    federated = start(COGNEE_PLUGIN_READ_DATASET_IDS=f'["{FIRST}"]')
    host = federated
    assert (await details())["federation"].startswith("1 read dataset(s) via COGNEE_PLUGIN_READ")


# -- a server


async def test_a_whole_switch_at_a_server(tmp_path, servers):
    server = servers.get("embedded")
    one, two = (f"t_{uuid.uuid4().hex[:12]}" for _ in range(2))
    environ = {"HOME": str(tmp_path), "COGNEE_BASE_URL": server.url, "COGNEE_API_KEY": server.key}
    host = Host(
        "pi", environ=environ | {"COGNEE_PLUGIN_DATASET": one}, session_id=one, entry_points=()
    )
    await host.start()
    await play(host)
    told = await run(host, f"{two} --create")
    assert f"Previous session {one} synced into '{one}'." in told
    await play(host)
    await host.flush(Deadline.after(5.0))
    client, soon = host.services.client, Deadline.after(10.0)
    datasets = {row.name: row.id for row in await client.datasets(soon)}
    for session, dataset in ((one, one), (f"{one}__2", two)):
        detail = await client.session(session, soon)
        assert detail.dataset_id == datasets[dataset]
        assert (detail.msg_count, detail.tool_calls) == (1, 1)
    assert await host.close(Deadline.after(5.0)) == 0


# -- rights


WRITABLE = f"/api/v1/permissions/principals/{ACCOUNT}/datasets"


async def test_vector_94_a_dataset_that_can_only_be_read_is_neither_listed_nor_switched_to(
    start, client
):
    client.scripts["/api/v1/datasets"] = lambda _: rows(
        (FIRST, "agent_sessions", ACCOUNT), (SECOND, "theirs", "somebody"), (THIRD, "ours", "other")
    )
    client.scripts[WRITABLE] = lambda _: rows((THIRD, "ours", "other"))
    host = start()
    told = await run(host)
    assert "theirs" not in told
    assert "ours (" in told
    assert "   1 more can only be read: cognee-search --dataset <name>" in told
    for target in ("theirs", SECOND):
        assert "can only be read by this account" in await run(host, target)
    assert record(host) is None
    assert (await run(host, "ours")).startswith("Switched to dataset 'ours'")


@pytest.mark.parametrize("answer", [fails(K.NOT_FOUND), lambda _: {"not": "a list"}])
async def test_vector_118_a_server_that_cannot_tell_rights_has_nothing_hidden(
    start, client, answer
):
    client.scripts["/api/v1/datasets"] = lambda _: rows(
        (FIRST, "agent_sessions", ACCOUNT), (SECOND, "theirs", "somebody")
    )
    client.scripts[WRITABLE] = answer
    host = start()
    assert "theirs" in await run(host)
    assert (await run(host, "theirs")).startswith("Switched")
