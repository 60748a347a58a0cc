from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Act, StatusSegment
from cognee_hooks.services.answers import Health
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.session_state import SessionState
from tests.support.scripted import RECALL, ScriptedClient, fails, remembers, scripted_host

NOW = 1_750_000_000.0
CLOUD = "https://tenant-1.aws.cognee.ai"
BILLING = "https://platform.cognee.ai/billing"
LOCAL = "local · agent_sessions"
PROMPT = UserPromptSubmit(session_id="s", prompt="which port does billing use?")


@dataclass
class Machine:
    """What a status line is made of; the values are those of the reference's vectors."""

    home: Path
    monkeypatch: pytest.MonkeyPatch
    client: ScriptedClient = field(default_factory=ScriptedClient)

    def host(self, **state: Any) -> Host:
        environ = {"LLM_API_KEY": "set"} if state.get("llm", True) else {}
        if state.get("backend") == "cloud":
            environ |= {"COGNEE_BASE_URL": f"{CLOUD}/"}
        names = {"ds": "COGNEE_PLUGIN_DATASET", "bill": "COGNEE_BILLING_URL"}
        environ |= {variable: state[name] for name, variable in names.items() if name in state}
        if counts := next((each for each in ("off", "full") if state.get(each)), ""):
            environ["COGNEE_STATUSLINE_COUNTS"] = counts
        self._put_turns(state)
        if "cr" in state:
            self.put_credits(**state["cr"])
        made = scripted_host(self.home, self.client, **environ, **state.get("environ", {}))
        conn = state.get("conn", "ok")
        self.monkeypatch.setattr(type(made.services.health), "state", conn)
        self.monkeypatch.setattr(type(made), "waiting", state.get("pending", 0))
        context = made.registry.manager.get_plugin("statusline")._context
        object.__setattr__(context, "now", lambda: NOW)
        return made

    def put_refusal(self, op: str, age: float) -> None:
        """Note a 402 as who has no balance yet does."""
        path = self.home / ".cognee-plugin/claude-code/credits.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        note = {"base_url": CLOUD, "payment_required": {"op": op, "at": NOW - age}}
        path.write_text(json.dumps({f"url:{CLOUD}": note}))

    def put_credits(
        self, rem: Any, age: float, label: str = "", cost: Any = None, at: str = ""
    ) -> Path:
        path = self.home / (at or ".cognee-plugin/claude-code/credits.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        operation = {"last_op": {"label": label, "cost_usd": cost}} if label else {}
        entry = {"base_url": f"{CLOUD}/", "remaining_usd": rem, "checked_at": NOW - age}
        path.write_text(json.dumps({"tenant-1": entry | operation}))
        return path

    def _put_turns(self, state: dict[str, Any]) -> None:
        folder = Paths.of({"HOME": str(self.home)}, "claude-code").sessions_dir
        SessionState.of(folder, "claude_s1", "recall").write(
            {
                "total": state.get("turns", 0),
                "with_hits": state.get("hit", 0),
                "last_graph": state.get("g", state.get("hits", 0)),
                "last_code": state.get("c", 0),
            }
        )


@pytest.fixture
def machine(isolated_environment, monkeypatch):
    return Machine(isolated_environment, monkeypatch)


# -- the reference's vectors -------------------------------------------------------------------

VECTORS: dict[str, tuple[dict[str, Any], str]] = {
    "C1": ({}, f"● cognee: {LOCAL}"),
    "C2": ({"llm": False}, f"✕ cognee: llm key not set ({LOCAL})"),
    "C3": ({"llm": False, "backend": "cloud"}, "● cognee: cloud · agent_sessions"),
    "C4": ({"conn": "offline", "llm": False}, f"✕ cognee: offline ({LOCAL})"),
    "C5": ({"conn": "auth"}, f"✕ cognee: auth failed ({LOCAL})"),
    "C6": ({"conn": "server-error"}, f"✕ cognee: server error ({LOCAL})"),
    "C7": ({"conn": "unknown"}, f"cognee: {LOCAL}"),
    "C8": (
        {"turns": 2, "hits": 1, "hit": 1},
        f"● cognee: {LOCAL} · 1 memory hits · 1/2 turns had hits this session",
    ),
    "C9": (
        {"turns": 3, "hits": 0, "hit": 1},
        f"● cognee: {LOCAL} · 0 memory hits · 1/3 turns had hits this session",
    ),
    "C10": (
        {"turns": 1, "hits": 0, "hit": 0},
        f"● cognee: {LOCAL} · 0 memory hits · memory warming up (1 turns)",
    ),
    "C11": ({"turns": 1, "off": True}, f"● cognee: {LOCAL}"),
    "C12": ({"turns": 4, "full": True, "g": 3, "c": 2}, f"● cognee: {LOCAL} · recall 3g/2c"),
    "C13": ({"turns": 0, "full": True}, f"● cognee: {LOCAL}"),
    "C14": (
        {"pending": 3, "turns": 5, "hits": 3, "hit": 2},
        f"● cognee: {LOCAL} · 3 awaiting replay · 3 memory hits · 2/5 turns had hits this session",
    ),
    "C15": (
        {"backend": "cloud", "cr": {"rem": 12.34, "age": 0, "label": "remember", "cost": 0.02}},
        "● cognee: cloud · agent_sessions · credits: $12.34 · last remember ~$0.02",
    ),
    "C16": (
        {"backend": "cloud", "cr": {"rem": 12.34, "age": 7200}},
        "● cognee: cloud · agent_sessions · credits: $12.34 (2h ago)",
    ),
    "C17": (
        {"backend": "cloud", "cr": {"rem": 5, "age": 900}},
        "● cognee: cloud · agent_sessions · credits: $5.00",
    ),
    "C18": (
        {"backend": "cloud", "cr": {"rem": 5, "age": 901}},
        "● cognee: cloud · agent_sessions · credits: $5.00 (15m ago)",
    ),
    "C19": (
        {"backend": "cloud", "cr": {"rem": 1, "age": 0}},
        f"● cognee: cloud · agent_sessions · credits: $1.00 · top up: {BILLING}",
    ),
    "C20": (
        {"backend": "cloud", "cr": {"rem": 1.01, "age": 0}},
        "● cognee: cloud · agent_sessions · credits: $1.01",
    ),
    "C21": (
        {"backend": "cloud", "cr": {"rem": 0.125, "age": 0}},
        f"● cognee: cloud · agent_sessions · credits: $0.13 · top up: {BILLING}",
    ),
    "C22": (
        {
            "backend": "cloud",
            "cr": {"rem": 0.42, "age": 7200, "label": "remember", "cost": 0.02},
            "bill": "https://billing.example/topup",
        },
        (
            "● cognee: cloud · agent_sessions · credits: $0.42 · last remember ~$0.02 · top up: "
            "https://billing.example/topup"
        ),
    ),
    "C23": (
        {
            "backend": "cloud",
            "ds": "a-very-long-dataset-name-for-the-cap-test-1234567890",
            "pending": 1,
            "turns": 1,
            "hits": 1,
            "cr": {"rem": 0.5, "age": 10800, "label": "remember", "cost": 0.02},
            "hit": 1,
        },
        (
            "● cognee: cloud · a-very-long-dataset-name-for-the-cap-test-1234567890 · 1 awaiting "
            "replay · 1 memory hits"
        ),
    ),
    "C24": (
        {
            "backend": "cloud",
            "ds": "team-memory-2025",
            "pending": 4,
            "turns": 30,
            "hits": 5,
            "cr": {"rem": 7.5, "age": 1000, "label": "improve", "cost": 0.11},
            "hit": 21,
        },
        (
            "● cognee: cloud · team-memory-2025 · 4 awaiting replay · 5 memory hits · 21/30 turns "
            "had hits this session"
        ),
    ),
}


@pytest.mark.parametrize(("state", "line"), VECTORS.values(), ids=VECTORS)
async def test_the_line_is_that_of_the_reference(machine, state, line):
    assert await machine.host(**state).status_line() == line


async def test_what_waits_and_recall_by_source_stay_in_a_narrow_terminal(machine):
    made = machine.host(pending=3, turns=4, full=True, g=3, c=2, backend="cloud")
    assert await made.status_line(1000) == (
        "● cognee: cloud · agent_sessions · 3 awaiting replay · recall 3g/2c"
    )
    assert await made.status_line(60) == (
        "● cognee: cloud · agent_sessions · 3 awaiting replay · recal"
    )


# -- the head ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (FailureKind.REFUSED, "offline"),
        (FailureKind.UNREACHABLE, "offline"),
        (FailureKind.AUTH, "auth failed"),
        (FailureKind.SERVER_ERROR, "server error"),
    ],
)
async def test_w8_an_unreachable_server_is_offline_and_not_a_server_error(
    isolated_environment, kind, state
):
    made = scripted_host(isolated_environment, ScriptedClient())
    made.services.health.note(ServerFailure(kind))
    assert await made.status_line() == f"✕ cognee: {state} ({LOCAL})"


@pytest.mark.parametrize(
    "environ", [{"COGNEE_LOCAL_API_URL": "http://localhost:8011"}, {"COGNEE_BASE_URL": CLOUD}]
)
async def test_the_model_key_of_a_server_that_the_person_chose_is_the_servers_own_matter(
    machine, environ
):
    line = await machine.host(llm=False, environ=environ).status_line()
    assert line.startswith("● cognee: ")


async def test_the_embedded_server_needs_no_model_key(machine, monkeypatch):
    async def health(_: object) -> Health:
        return Health("1.6.5", ready=True, embedded=True)

    made = machine.host(llm=False)
    assert await made.status_line() == f"✕ cognee: llm key not set ({LOCAL})"
    monkeypatch.setattr(machine.client, "health", health)
    assert await made.services.health._ask(None) is None
    assert await made.status_line() == f"● cognee: {LOCAL}"


async def test_a_model_key_in_the_shared_settings_file_is_seen(machine):
    file = machine.home / ".cognee" / ".env"
    file.parent.mkdir()
    file.write_text("LLM_API_KEY=from-the-file\n")
    assert await machine.host(llm=False).status_line() == f"● cognee: {LOCAL}"


async def test_the_model_key_is_never_shown(machine):
    made = machine.host()
    (row,) = (each for each in made.settings.rows() if each.env == "LLM_API_KEY")
    assert row.value == "********"


# -- recall ------------------------------------------------------------------------------------


async def test_recall_tells_how_it_went(machine):
    machine.client.scripts[RECALL] = remembers("a fact")
    made = machine.host()
    await made.user_prompt_submit(PROMPT)
    line = await made.status_line()
    assert " · 1 memory hits · 1/1 turns had hits this session · " in line
    assert (await made.status_line(60)).endswith("1 memory hits")


async def test_a_recall_that_failed_counts_as_a_turn_and_keeps_the_hits_before(machine):
    made = machine.host()
    for script in (remembers("one", "two"), fails(FailureKind.SERVER_ERROR)):
        machine.client.scripts[RECALL] = script
        await made.user_prompt_submit(PROMPT)
    line = await made.status_line()
    assert " · 2 memory hits · 1/2 turns had hits this session · " in line
    machine.client.scripts[RECALL] = remembers()
    await made.user_prompt_submit(PROMPT)
    line = await made.status_line()
    assert " · 0 memory hits · 1/3 turns had hits this session · " in line


# -- credits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["false", "0", "no", "OFF"])
async def test_credits_can_be_switched_off(machine, word):
    machine.put_credits(5, 0)
    made = machine.host(backend="cloud", environ={"COGNEE_STATUSLINE_CREDITS": word})
    assert await made.status_line() == "● cognee: cloud · agent_sessions"


async def test_a_local_server_has_no_credits(machine):
    machine.put_credits(5, 0)
    assert await machine.host().status_line() == f"● cognee: {LOCAL}"


@pytest.mark.parametrize("value", ["~/elsewhere.json", "elsewhere.json"])
async def test_credits_are_read_where_the_person_says(machine, value):
    machine.put_credits(5, 0, at="elsewhere.json")
    made = machine.host(backend="cloud", environ={"COGNEE_CREDITS_FILE": value})
    assert (await made.status_line()).endswith(" · credits: $5.00")


async def test_a_balance_that_changes_shows_in_the_next_line(machine):
    made = machine.host(backend="cloud", cr={"rem": 5, "age": 0})
    assert (await made.status_line()).endswith("$5.00")
    machine.put_credits(4.25, 0)
    assert (await made.status_line()).endswith("$4.25")


async def test_what_other_programs_write_cannot_reach_the_terminal_as_a_command(machine):
    label = "a\x1b]0;title\x07\nb\x1b[31mc"
    made = machine.host(backend="cloud", cr={"rem": 5, "age": 0, "label": label, "cost": 1})
    assert (
        (await made.status_line(colour=True))
        .removesuffix("\x1b[0m")
        .endswith("credits: $5.00 · last a bc ~$1.00")
    )


async def test_an_operation_that_was_refused_for_want_of_credits_is_told(machine):
    machine.put_refusal("recall", 120)
    made = machine.host(backend="cloud")
    head = "● cognee: cloud · agent_sessions · out of credits"
    assert await made.status_line() == f"{head}: recall refused (2m ago) · top up: {BILLING}"
    assert await made.status_line(100) == f"{head}: recall refused (2m ago)"
    assert await made.status_line(60) == head


async def test_a_refusal_is_kept_in_a_narrow_terminal_when_the_balance_goes(machine):
    machine.put_refusal("improve", 0)
    path = machine.home / ".cognee-plugin/claude-code/credits.json"
    entries = json.loads(path.read_text())
    balance = {"base_url": CLOUD, "remaining_usd": 0, "checked_at": NOW - 5}
    path.write_text(json.dumps({**entries, "tenant-1": balance}))
    made = machine.host(backend="cloud")
    assert "credits: $0.00" in await made.status_line(300)
    assert await made.status_line(50) == "● cognee: cloud · agent_sessions · out of credits"


async def test_what_memory_puts_into_the_context_is_told_in_tokens(machine):
    made = machine.host(turns=1, hits=1, hit=1)
    line = await made.status_line(300)
    for size, text in ((4, "~1 tokens"), (3995, "~1.0k tokens"), (496_000, "~125k tokens")):
        made.ledger.record(made.session.session_id, Act.INJECTED, "recall", content="x" * size)
        assert await made.status_line(300) == f"{line} · {text} of memory"
    assert (await made.status_line(len(line) + 15)).endswith(" · ~125k tokens")
    assert await made.status_line(len(line)) == line


async def test_the_cost_can_be_switched_off(machine):
    made = machine.host(environ={"COGNEE_STATUSLINE_COST": "off"})
    made.ledger.record(made.session.session_id, Act.INJECTED, "recall", content="x" * 4000)
    assert await made.status_line() == f"● cognee: {LOCAL}"


# -- colours and faults ------------------------------------------------------------------------


async def test_colours_come_where_they_are_wanted(machine):
    made = machine.host(turns=1, hits=1, hit=1)
    line = await made.status_line(colour=True)
    assert line.startswith("\x1b[32m●\x1b[0m cognee: local · agent_sessions\x1b[2m · 1 memory")
    assert line.endswith("\x1b[0m")
    assert "\x1b" not in await made.status_line()


async def test_a_plugins_segment_joins_by_its_priority(machine):
    class Tickets:
        @hookimpl
        async def cognee_status_segments(self) -> StatusSegment:
            return StatusSegment(text="7 tickets open", priority=60, shorter=("7 tickets",))

    made = Host(
        "claude-code",
        environ={"HOME": str(machine.home)},
        client=machine.client,
        plugins={"tickets": Tickets()},
        entry_points=(),
    )
    assert await made.status_line() == f"cognee: {LOCAL} · 7 tickets open"
    assert await made.status_line(45) == f"cognee: {LOCAL} · 7 tickets"


@pytest.mark.expects_faults
async def test_a_fault_in_our_own_part_leaves_the_plain_head(machine, monkeypatch):
    made = machine.host(turns=1, hits=1, hit=1)
    plugin = made.registry.manager.get_plugin("statusline")
    monkeypatch.setattr(plugin, "_credits", None)
    monkeypatch.setattr(type(made.services.health), "state", "no such state")
    line = f"cognee: {LOCAL} · 1 memory hits · 1/1 turns had hits this session"
    assert await made.status_line() == line


async def test_a_rendering_asks_the_server_nothing(machine):
    made = machine.host(backend="cloud", turns=3, hits=1, hit=1, cr={"rem": 5, "age": 0})
    for _ in range(10):
        await made.status_line(colour=True)
    assert machine.client.unsent == []


async def test_a_plugin_that_knows_more_about_the_connection_takes_the_place_of_our_head(machine):
    class Starting:
        @hookimpl
        def cognee_status_segments(self) -> StatusSegment:
            return StatusSegment(text="◐ cognee: starting", priority=110)

    made = machine.host(conn="offline", pending=2)
    made.registry.manager.register(Starting(), "starting")
    assert await made.status_line() == "◐ cognee: starting · 2 awaiting replay"
