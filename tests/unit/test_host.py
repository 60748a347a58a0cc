"""A whole session in one host, with plugins of every kind."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks import Redactor, hookimpl, hookspecs
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import (
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    ServerStateChanged,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.host import Host
from cognee_hooks.leak import Leak
from cognee_hooks.registry import PluginState, declared_policies
from cognee_hooks.results import (
    Act,
    AdditionalContext,
    CheckStatus,
    Command,
    Identity,
    Lane,
    StatusSegment,
    StoreReceipt,
    StoreState,
)
from tests.support import faults
from tests.support.plugins import BLOCKED, HANG, HOSTILE, fresh, plugin
from tests.support.scripted import ENTRY, RECALL, ScriptedClient, fails, remembers
from tests.support.waiting import PATIENCE

FACT = "The staging database listens on port 6543."
SESSION = {"session_id": "claude_s1", "agent": "claude-code"}
UNBUFFERED = {"plugins": ["no:bridge"]}
"""Nobody keeps entries on disk."""
BUDGET = 0.75
"""Seconds that every hook has in these tests, where it is not less anyway."""
ANCHOR = "compaction anchor"
STORED = 4
"""Entries of the session that is played: two traces, a turn, and an anchor."""
CLOSED = "cognee_register_redactors"
HOOKS = [name for name in declared_policies() if name != CLOSED]


@pytest.fixture
def client() -> ScriptedClient:
    client = ScriptedClient()
    client.scripts[RECALL] = remembers(FACT)
    return client


@pytest.fixture
def make(tmp_path, client) -> Callable[..., Host]:
    def build(plugins: dict[str, object] | None = None, **options: Any) -> Host:
        return Host(
            "claude-code",
            environ={"HOME": str(tmp_path), **options.pop("environ", {})},
            session_id=options.pop("session_id", SESSION["session_id"]),
            client=options.pop("client", client),
            entry_points=(),
            plugins=plugins,
            **options,
        )

    return build


@pytest.fixture
def short_budgets(monkeypatch):
    policies = {
        name: dataclasses.replace(policy, budget=min(policy.budget, BUDGET))
        for name, policy in declared_policies().items()
    }
    monkeypatch.setattr("cognee_hooks.registry.declared_policies", lambda: policies)


async def play(host: Host, client: ScriptedClient) -> dict[str, Any]:
    """Play a session with every event; returns what agent, server and person saw of it."""
    seen: dict[str, Any] = {}
    await host.start()
    await host.session_start(SessionStart(**SESSION))
    prompt = UserPromptSubmit(**SESSION, prompt="On which port is the staging database?")
    seen["answer"] = await host.user_prompt_submit(prompt, Deadline.after(BUDGET * 2))
    await host.post_tool_use(PostToolUse(**SESSION, tool_name="Bash", tool_input={"command": "ls"}))
    await host.post_tool_use_failure(
        PostToolUseFailure(**SESSION, tool_name="Bash", tool_input={"command": "no"}, error="bad")
    )
    await host.stop(Stop(**SESSION, last_assistant_message="On port 6543."))
    await host.pre_compact(PreCompact(**SESSION))
    await host.switch_dataset("b", synced=True)
    host._server_state_changed(ServerStateChanged(previous="ok", current="ok"))
    # How much has been sent at this instant is a matter of luck.
    seen["status"] = re.sub(r" · \d+ awaiting replay", "", await host.status_line())
    key = await host.credentials.key(Deadline.after(BUDGET))
    seen["key"] = key.value if key else ""
    await host.dispatcher.call("cognee_status_rows", deadline=Deadline.after(BUDGET))
    leak = Leak("found-nowhere")
    await host.dispatcher.call(
        "cognee_scrub", leak=leak, dry_run=True, deadline=Deadline.after(BUDGET)
    )
    rows = await examine(host, Deadline.after(BUDGET))
    seen["checks"] = [row.name for row in rows if row.name in {"recall", "capture", "redaction"}]
    await host.session_end(SessionEnd(**SESSION), Deadline.after(BUDGET * 4))
    seen["lost"] = await host.close(Deadline.after(BUDGET * 4))
    # The anchor of the compaction is made beside what is captured, so its place is free.
    seen["entries"] = [each for each in client.entries if ANCHOR not in each.get("context", "")]
    return seen


def failures(host: Host) -> set[tuple[str, str]]:
    """Who failed where."""
    return {(row.plugin, row.hook) for row in faults.failures(host)}


# -- the session ---------------------------------------------------------------------------------


async def test_a_session_recalls_and_captures(make, client):
    host = make(environ={"COGNEE_API_KEY": "key"})
    seen = await play(host, client)
    assert FACT in seen["answer"].context
    assert seen["answer"].hits == 1
    assert [entry["type"] for entry in seen["entries"]] == ["trace", "trace", "qa"]
    assert seen["entries"][2]["answer"] == "On port 6543."
    assert seen["key"] == "key"
    assert seen["lost"] == 0
    assert failures(host) == set()


async def test_events_reach_their_method_by_type(make, client):
    host = make()
    answer = await host.dispatch(
        UserPromptSubmit(**SESSION, prompt="Where does staging listen?"), Deadline.after(PATIENCE)
    )
    assert answer is not None
    assert FACT in answer.context
    for event in (
        SessionStart(**SESSION),
        PostToolUse(**SESSION, tool_name="Bash"),
        PostToolUseFailure(**SESSION, tool_name="Bash"),
        Stop(**SESSION, last_assistant_message="There."),
        PreCompact(**SESSION),
        SessionEnd(**SESSION),
    ):
        assert await host.dispatch(event) is None
    await host.close(Deadline.after(PATIENCE))
    assert len(client.entries) == STORED


async def test_our_own_block_in_a_prompt_is_cut_out_before_anybody_sees_it(make, client):
    host = make()
    first = await host.user_prompt_submit(
        UserPromptSubmit(**SESSION, prompt="Where does staging listen?")
    )
    again = UserPromptSubmit(**SESSION, prompt=f"{first.context}\nAnd where does production?")
    await host.user_prompt_submit(again)
    await host.close(Deadline.after(PATIENCE))
    assert client.queries[-1] == "And where does production?"


# -- plugins that do not behave ------------------------------------------------------------------


@pytest.mark.expects_faults
@pytest.mark.parametrize("behaviour", HOSTILE)
@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hostile_plugin_in_any_hook_changes_nothing(
    make, client, short_budgets, tmp_path, hook, behaviour
):
    undisturbed = ScriptedClient()
    undisturbed.scripts[RECALL] = remembers(FACT)
    calm = make(client=undisturbed, environ={"HOME": str(tmp_path / "calm")})
    expected = await play(calm, undisturbed)
    started = time.monotonic()
    host = make({"bad": plugin(**{hook: fresh(behaviour)})})
    seen = await play(host, client)
    # One hook may use up its budget, and a stop that hangs its grace, but nothing adds up.
    assert time.monotonic() - started < BLOCKED
    assert seen == expected
    assert {plugin for plugin, _ in failures(host)} <= {"bad"}
    if behaviour == "raises":
        assert failures(host) == {("bad", hook)}


@pytest.mark.expects_faults
@pytest.mark.parametrize("behaviour", HOSTILE)
async def test_a_plugin_that_cannot_register_its_redactors_closes_everything(
    make, client, short_budgets, behaviour
):
    host = make({"bad": plugin(**{CLOSED: fresh(behaviour)})})
    seen = await play(host, client)
    assert client.entries == []
    assert client.queries == []
    assert FACT not in seen["answer"].context
    assert "Plugin bad could not register its redactors" in host.redaction.closed_because
    [row] = [
        row for row in await examine(host, Deadline.after(PATIENCE)) if row.name == "redaction"
    ]
    assert row.status is CheckStatus.FAILED
    assert "bad" in row.detail
    assert host.drops.as_dict()["redaction_failed"] >= 2


async def test_a_redactor_that_fails_lets_nothing_out(make, client):
    def broken(text: str) -> str:
        raise ValueError(text)

    registers = plugin(cognee_register_redactors=lambda: Redactor(name="ids", function=broken))
    seen = await play(make({"ids": registers}), client)
    assert client.entries == []
    assert client.queries == []
    assert seen["answer"].context.count("\n") == 0
    assert "recall skipped" in seen["answer"].context


async def test_a_required_redactor_that_is_missing_closes_everything(make, client, tmp_path):
    config = tmp_path / "config" / "cognee-hooks" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("plugins:\n  require_redactors: [employee-ids]\n", encoding="utf-8")
    host = make(environ={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    await play(host, client)
    assert client.entries == []
    assert "'employee-ids' is not in force" in host.redaction.closed_because


def test_a_plugin_that_is_not_installed_well_can_be_an_error_for_its_author(make):
    with pytest.raises(Exception, match="no hook implementations"):
        make({"bad": object()}, environ={"COGNEE_HOOKS_STRICT": "true"})


# -- plugins that take over ----------------------------------------------------------------------


async def test_a_plugin_replaces_recall(make, client):
    mine = plugin(
        cognee_user_prompt_submit=lambda: AdditionalContext(text="Mine.", priority=1, hits=2)
    )
    host = make({"mine": mine}, environ={"COGNEE_HOOKS_DISABLE": "recall"})
    seen = await play(host, client)
    assert (seen["answer"].context, seen["answer"].hits) == ("Mine.", 2)
    assert client.queries == []
    assert len(seen["entries"]) == 3


@pytest.mark.parametrize("blocked", ["recall", "capture", "recall,capture"])
async def test_a_session_works_without_built_ins(make, client, blocked):
    host = make(environ={"COGNEE_HOOKS_DISABLE": blocked})
    seen = await play(host, client)
    assert (FACT in seen["answer"].context) is ("recall" not in blocked)
    assert bool(client.entries) is ("capture" not in blocked)


async def test_a_plugin_takes_charge_of_entries(make, client):
    taken: list[Any] = []

    def store(request: Any) -> StoreReceipt:
        taken.append(request.entry.value)
        dropped = StoreState.DROPPED if len(taken) == 1 else StoreState.BUFFERED
        return StoreReceipt(state=dropped, reason="the disk is full")

    host = make({"keeps": plugin(cognee_store_entry=store)}, arguments=UNBUFFERED)
    await play(host, client)
    assert client.entries == []
    assert sorted(entry["type"] for entry in taken) == ["qa", "qa", "trace", "trace"]
    assert any("the disk is full" in notice.text for notice in host.notices.take())


async def test_only_redacted_entries_are_stored(make):
    host = make()
    with pytest.raises(TypeError, match="only redacted"):
        await host.store(SimpleNamespace(entry={"type": "qa"}))
    await host.close(Deadline.after(0))


async def test_a_plugin_says_who_we_are(make, client):
    mine = plugin(cognee_resolve_identity=lambda url: Identity(api_key="mine", source=url))
    assert (await play(make({"mine": mine}), client))["key"] == "mine"


async def test_the_status_line_is_made_by_plugins(make):
    segments = plugin(
        cognee_status_segments=hookimpl(_segments),
        cognee_render_status=hookimpl(_render),
    )
    host = make({"line": segments}, arguments={"plugins": ["no:statusline"]})
    assert await host.status_line(40) == "late 40 early"
    await host.close(Deadline.after(0))


async def _segments() -> list[StatusSegment]:
    return [StatusSegment(text="early"), StatusSegment(text="late", priority=9)]


async def _render(segments: list[StatusSegment], max_width: int) -> str:
    return f"\x1b[31m{segments[0].text}\n{max_width}\t{segments[1].text}\x07"


async def test_without_a_renderer_there_is_no_status_line(make):
    host = make(arguments={"plugins": ["no:statusline"]})
    assert await host.status_line() == ""
    await host.close(Deadline.after(0))


async def test_lanes_of_plugins_join_recall(make, client):
    async def search(query: str) -> list[str]:
        return ["Ask Ann about staging."]

    lane = plugin(cognee_register_lanes=lambda: [Lane(name="notes", search=search)])
    seen = await play(make({"notes": lane}), client)
    assert "Ask Ann about staging." in seen["answer"].context
    assert FACT in seen["answer"].context


async def test_work_started_on_a_plugins_own_thread_is_done(make, client):
    done: list[str] = []

    class Notes:
        def __init__(self, context: Any) -> None:
            self._context = context

        @hookimpl
        def cognee_stop(self, event: Stop) -> None:
            self._context.spawn(self._note(event.last_assistant_message))

        async def _note(self, text: str) -> None:
            done.append(text)

    await play(make({"notes": Notes}), client)
    assert done == ["On port 6543."]


# -- registration --------------------------------------------------------------------------------


def test_a_plugin_that_takes_a_taken_name_leaves_only_its_redactors(make):
    async def search(query: str) -> list[str]:
        return []

    async def run(text: str) -> str:
        return text

    first = plugin(cognee_register_commands=lambda: Command(name="note", help="", run=run))
    second = plugin(
        cognee_register_commands=lambda: [
            Command(name="other", help="", run=run),
            Command(name="note", help="", run=run),
            Command(name="third", help="", run=run),
        ],
        cognee_register_lanes=lambda: Lane(name="lane", search=search),
        cognee_register_redactors=lambda: Redactor(name="ids"),
    )
    # The one that is loaded last is asked first.
    host = make({"second": second, "first": first})
    assert host.registered.commands.keys() & {"note", "other", "third"} == {"note"}
    assert "lane" not in host.registered.lanes
    assert list(host.registered.redactors) == ["ids"]
    assert host.redaction.closed_because == ""
    [record] = [each for each in host.registry.records if each.name == "second"]
    assert record.state is PluginState.FAILED
    assert "already taken" in record.reason


@pytest.mark.parametrize("second", [Redactor(name="ids"), Redactor(name="")])
def test_a_redactor_that_finds_no_place_closes_everything(make, second):
    host = make(
        {
            "b": plugin(cognee_register_redactors=lambda: second),
            "a": plugin(cognee_register_redactors=lambda: Redactor(name="ids")),
        }
    )
    assert "Plugin b could not register its redactors" in host.redaction.closed_because


@pytest.mark.expects_faults
@pytest.mark.parametrize("text", [None, 3, b"bytes"])
async def test_a_value_with_a_field_of_a_wrong_type_is_a_fault_of_its_plugin(make, client, text):
    bad = plugin(cognee_user_prompt_submit=lambda: AdditionalContext(text=text))
    host = make({"bad": bad})
    seen = await play(host, client)
    assert FACT in seen["answer"].context
    assert [row.error_type for row in host.faults.rows("bad")] == ["TypeError"]


# -- the end -------------------------------------------------------------------------------------


async def test_what_could_not_be_sent_is_reported_and_counted(make, client):
    client.scripts[ENTRY] = fails(FailureKind.REFUSED)
    host = make(arguments=UNBUFFERED)
    seen = await play(host, client)
    assert seen["lost"] == STORED
    assert host.drops.as_dict() == {"server_down": STORED}


class Keeps:
    """A plugin that keeps entries and sends them one after the other, as long as it gets on."""

    def __init__(self, context: Any, stops_at: int = 0) -> None:
        self._context = context
        self._kept = 0
        self._stops_at = stops_at

    @hookimpl
    def cognee_store_entry(self, request: Any) -> StoreReceipt:
        self._kept += 1
        self._context.report_waiting(self._kept)
        self._context.spawn(self._send(), lasting=True)
        return StoreReceipt(state=StoreState.BUFFERED, reason="kept")

    async def _send(self) -> None:
        await asyncio.sleep(0.05)
        if self._kept > self._stops_at:
            self._kept -= 1
            self._context.report_waiting(self._kept)


async def test_what_a_plugin_keeps_is_waiting_and_not_lost(make, client):
    host = make({"keeps": partial(Keeps, stops_at=99)})
    seen = await play(host, client)
    assert (host.waiting, host.volatile, seen["lost"]) == (STORED, 0, 0)
    assert client.entries == []


async def test_work_that_outlasts_the_session_leaves_it_unfinished_and_is_not_waited_for(make):
    contexts: list[Any] = []
    host = make({"lingers": lambda context: contexts.append(context) or plugin()})
    await host.start()
    assert not host.unfinished
    contexts[0].outlast(asyncio.sleep(HANG))
    assert host.unfinished
    started = time.monotonic()
    await host.session_end(SessionEnd(**SESSION))
    assert await host.close(Deadline.after(30)) == 0
    assert time.monotonic() - started < 15
    assert not host.unfinished


async def test_what_a_plugin_could_not_write_yet_is_lost_with_the_process(make, client):
    host = make()
    await host.start()
    host.report_waiting("keeps", 5, volatile=2)
    assert (host.waiting, host.volatile) == (5, 2)
    host.services.health.note(ServerFailure(FailureKind.REFUSED))
    assert await host.close(Deadline.after(PATIENCE)) == 2


async def test_a_closing_host_waits_for_a_plugin_that_gets_on(make, client):
    host = make({"keeps": Keeps})
    await play(host, client)
    assert host.waiting == 0


async def test_a_closing_host_does_not_wait_where_the_server_takes_nothing(make, client):
    host = make({"keeps": partial(Keeps, stops_at=99)})
    await host.start()
    await host.stop(Stop(**SESSION))
    host.report_waiting("keeps", 1)
    host.services.health.note(ServerFailure(FailureKind.REFUSED))
    host.spawn("keeps", asyncio.sleep(HANG), lasting=True)
    started = time.monotonic()
    await host.close(Deadline.after(30))
    assert time.monotonic() - started < 15


async def test_the_ledger_says_what_became_of_everything(make, client):
    host = make()
    await play(host, client)
    totals = host.ledger.totals(SESSION["session_id"])
    assert totals == {
        Act.CAPTURED: STORED,
        Act.DELIVERED: STORED,
        Act.RECALLED: 1,
        Act.INJECTED: 1,
        Act.COMPACTED: 1,
    }
    text = next(host.paths.ledger_dir.iterdir()).read_text()
    assert FACT not in text
    assert "6543" not in text


async def test_after_a_switch_everything_follows_and_what_was_captured_stays_where_it_was(
    make, client, tmp_path
):
    host = make()
    await host.start()
    await host.stop(Stop(**SESSION))
    await host.user_prompt_submit(UserPromptSubmit(**SESSION, prompt="Which port is it?"))
    await host.post_tool_use(PostToolUse(**SESSION, tool_name="Bash", tool_input={"command": "ls"}))
    session = await host.switch_dataset("other", synced=True)
    assert (session.dataset, session.session_id) == ("other", "claude_s1__2")
    await host.stop(Stop(**SESSION, last_assistant_message="Port 6543."))
    await host.post_tool_use(PostToolUse(**SESSION, tool_name="Bash", tool_input={"command": "id"}))
    await host.user_prompt_submit(UserPromptSubmit(**SESSION, prompt="And the other port?"))
    assert await host.close(Deadline.after(PATIENCE)) == 0
    stored = [
        (body["session_id"], body["dataset_name"], body["entry"]["type"])
        for body in client.bodies(ENTRY)
    ]
    assert sorted(stored) == [
        ("claude_s1", "agent_sessions", "qa"),
        ("claude_s1", "agent_sessions", "trace"),
        ("claude_s1__2", "other", "trace"),
    ]
    recalls = client.bodies(RECALL)
    assert recalls[0]["datasets"] == ["agent_sessions"]
    # The other dataset is opened as well, so that its first prompt does not wait for that.
    assert {tuple(body["datasets"]) for body in recalls[1:]} == {("other",)}


async def test_a_switched_conversation_goes_on_where_it_was_and_new_ones_share_the_dataset_only(
    make,
):
    host = make()
    await host.switch_dataset("other", synced=True)
    await host.close(Deadline.after(PATIENCE))
    again, fresh_one = make(), make(session_id="claude_s9")
    assert (again.session.dataset, again.session.session_id) == ("other", "claude_s1__2")
    assert (fresh_one.session.dataset, fresh_one.session.session_id) == ("other", "claude_s9")
    chosen = make(session_id="claude_s8", arguments={"dataset": "mine"})
    assert chosen.session.dataset == "mine"


async def test_a_switch_away_from_the_choice_of_a_project_is_none_for_other_projects(
    make, tmp_path
):
    project = tmp_path / "project"
    project.mkdir()
    (project / ".cognee-hooks.yaml").write_text("dataset: ours\n", encoding="utf-8")
    host = make(cwd=str(project))
    assert host.session.dataset == "ours"
    await host.switch_dataset("other", synced=True)
    assert make(cwd=str(project)).session.dataset == "other"
    assert make(cwd=str(project), session_id="claude_s9").session.dataset == "ours"
    assert make(session_id="claude_s9").session.dataset == "agent_sessions"


async def test_vector_98_a_switch_that_cannot_be_kept_changes_nothing(make):
    told = []

    def listen(event: Any) -> None:
        told.append(event)

    host = make(plugins={"listener": plugin(cognee_dataset_changed=listen)})
    host.paths.active_dataset_file.mkdir(parents=True)
    before = host.session
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        await host.switch_dataset("other", synced=True)
    assert host.session == before
    assert told == []


async def test_what_is_dropped_is_in_the_ledger(make, client):
    client.scripts[ENTRY] = fails(FailureKind.REFUSED)
    host = make(arguments=UNBUFFERED)
    await play(host, client)
    assert host.ledger.totals(host.session.session_id)[Act.DROPPED] == STORED


async def test_a_prompt_that_is_done_again_puts_nothing_into_a_model(make, client):
    found = AdditionalContext(text="something")
    host = make({"finds": plugin(cognee_user_prompt_submit=lambda: found)})
    await host.start()
    await host.user_prompt_submit(UserPromptSubmit(**SESSION, prompt="Again?", replayed=True))
    assert Act.INJECTED not in host.ledger.totals(SESSION["session_id"])
    await host.user_prompt_submit(UserPromptSubmit(**SESSION, prompt="Once more?"))
    assert host.ledger.totals(SESSION["session_id"])[Act.INJECTED] == 2
    await host.close(Deadline.after(BUDGET))


async def test_work_that_hangs_does_not_keep_entries_of_others_from_being_sent(make, client):
    class Hangs:
        def __init__(self, context: Any) -> None:
            self._context = context

        @hookimpl
        async def cognee_stop(self, event: Stop) -> None:
            self._context.spawn(asyncio.sleep(HANG))

    host = make({"hangs": Hangs})
    started = time.monotonic()
    seen = await play(host, client)
    assert time.monotonic() - started < PATIENCE
    assert seen["lost"] == 0
    assert len(client.entries) == STORED


@pytest.mark.expects_faults
async def test_a_plugin_that_is_switched_off_is_announced_once(make):
    host = make({"bad": plugin(cognee_stop=fresh("raises"))})
    for _ in range(8):
        await host.stop(Stop(**SESSION))
    texts = [notice.text for notice in host.notices.take()]
    assert len([text for text in texts if "plugin bad failed five times" in text]) == 1
    await host.close(Deadline.after(0))


async def test_two_hosts_in_one_process_share_nothing(make, tmp_path):
    first_client, second_client = ScriptedClient(), ScriptedClient()
    first_client.scripts[RECALL] = remembers("First.")
    second_client.scripts[RECALL] = remembers("Second.")
    first = make(client=first_client, environ={"HOME": str(tmp_path / "one")})
    second = make(client=second_client, environ={"HOME": str(tmp_path / "two")})
    one, two = await asyncio.gather(play(first, first_client), play(second, second_client))
    assert "First." in one["answer"].context
    assert "Second." in two["answer"].context
    assert not set(map(id, first.registry.manager.get_plugins())) & set(
        map(id, second.registry.manager.get_plugins())
    )


# -- the house -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", declared_policies())
def test_every_hook_is_documented_for_plugin_authors(hook):
    function = getattr(hookspecs, hook)
    text = function.__doc__
    names = set(function.__code__.co_varnames[: function.__code__.co_argcount])
    assert re.match(r"[A-Z].*\.\n\n    Called ", text)
    for name in names:
        assert f"        {name}: " in text
    policy = declared_policies()[hook]
    assert policy.on_fault
    assert ("Returns:" in text) is (policy.kind != "notify")
    if "deadline" in names:
        assert re.search(r"deadline: .*(\d s|\d ms|budget)", text)


@pytest.mark.parametrize("module", ["httpx", "yaml", "cryptography", "asyncio", "rich", "re2"])
def test_importing_the_package_loads_nothing_dear(module):
    program = f"import sys, cognee_hooks; sys.exit({module!r} in sys.modules)"
    root = Path(hookspecs.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
