"""How memory is at a glance."""

from __future__ import annotations

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.core_commands import as_text
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.faults import DropReason
from cognee_hooks.host import Host
from cognee_hooks.overview import MAX_ROW, look_at_server, overview
from cognee_hooks.results import Act, Identity, StatusRow
from tests.support.scripted import ScriptedClient, fails

URL = "http://127.0.0.1:9"
HEALTH = "/health"
IDS = '["3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"]'


@pytest.fixture
def client():
    return ScriptedClient()


@pytest.fixture
def build(tmp_path, client):
    def make(*plugins, **environ):
        return Host(
            "pi",
            environ={"HOME": str(tmp_path), "COGNEE_BASE_URL": URL, **environ},
            session_id="pi_s1",
            client=client,
            entry_points=(),
            plugins={f"test{number}": each for number, each in enumerate(plugins)},
        )

    return make


def soon():
    return Deadline.after(5)


async def seen(host, **options):
    found = await overview(host, soon(), **options)
    return {row.label: row.text for row in found.rows}


# -- the core's rows -------------------------------------------------------------------------------


async def test_the_rows_are_those_of_the_reference_and_each_has_a_label(build):
    rows = list(await seen(build()))
    assert rows == [
        "Mode",
        "Server",
        "API key",
        "Dataset",
        "Federation",
        "Session",
        "Capture",
        "Queue",
        "Breaker",
        "Sync",
        "Recall",
        "Code graph",
    ]


async def test_a_server_that_is_well_is_told_with_version_and_time(build):
    found = await seen(build())
    assert found["Mode"] == "own server (COGNEE_BASE_URL is set)"
    assert found["Server"].startswith(f"{URL} — reachable in ")
    assert found["Session"] == "pi_s1"
    assert found["Queue"] == "0 waiting · 0 stored this session"
    assert found["Breaker"] == "closed"


async def test_a_pin_is_named(build):
    found = await seen(build(COGNEE_PI_BACKEND="cloud"))
    assert found["Mode"] == "own server (COGNEE_PI_BACKEND is cloud)"


async def test_a_server_that_is_away_is_told_with_the_reason(build, client):
    client.scripts[HEALTH] = fails(FailureKind.REFUSED)
    found = await overview(build(), soon())
    assert found.server.state == "offline"
    assert "— ✕ unreachable" in next(row.text for row in found.rows if row.label == "Server")
    assert as_text(found).startswith("⚠ Cognee Memory — offline\n")
    assert as_text(found).endswith("/cognee-doctor says what to do.")


async def test_a_cloud_without_an_address_asks_nobody(build, client):
    found = await overview(build(COGNEE_BACKEND="cloud", COGNEE_BASE_URL=""), soon())
    assert (found.server.state, found.server.milliseconds) == ("no address", None)
    assert found.rows[1].text == "✕ no address: COGNEE_BASE_URL is not set"
    assert client.unsent == []


async def test_what_was_done_in_the_session_is_counted_and_what_a_rule_leaves_out_is_no_loss(build):
    host = build()
    for act in (Act.CAPTURED, Act.CAPTURED, Act.DELIVERED, Act.REPLAYED, Act.DEDUPLICATED):
        host.ledger.record("pi_s1", act, "x")
    host.drop(DropReason.SERVER_DOWN)
    host.drop(DropReason.OWN_TOOL)
    host.report_waiting("x", 3, volatile=1)
    found = await seen(host)
    assert found["Capture"] == "on · 2 captured this session"
    assert found["Queue"] == (
        "3 waiting · 1 of them in memory only · 3 stored this session · 1 dropped · 1 deduped"
    )


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"COGNEE_CAPTURE": "false"}, "off, and recall with it (COGNEE_CAPTURE=false)"),
        ({"COGNEE_HOOKS_DISABLE": "capture"}, "off (the plugin capture is not in force)"),
    ],
)
async def test_capture_that_is_off_says_why(build, environ, text):
    assert (await seen(build(**environ)))["Capture"] == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "off (set COGNEE_PLUGIN_READ_DATASET_IDS"),
        (IDS, "1 read dataset(s) via COGNEE_PLUGIN_READ_DATASET_IDS (shell env)"),
        ("[]", "✕ COGNEE_PLUGIN_READ_DATASET_IDS must be a nonempty JSON list of UUIDs"),
        ("{", "✕ COGNEE_PLUGIN_READ_DATASET_IDS is not valid JSON: "),
    ],
)
async def test_vector_100_federation_is_told_in_all_its_states(build, value, text):
    host = build(COGNEE_PLUGIN_READ_DATASET_IDS=value)
    assert (await seen(host))["Federation"].startswith(text)


@pytest.mark.parametrize(
    ("environ", "source"), [({}, "not set"), ({"COGNEE_API_KEY": "a" * 20}, "shell env")]
)
async def test_the_key_is_told_by_its_source_alone(build, environ, source):
    rows = await seen(build(**environ))
    assert rows["API key"] == source
    assert "a" * 20 not in str(rows)


async def test_the_key_of_another_account_is_told_by_its_source(build):
    class Account:
        @hookimpl
        async def cognee_resolve_identity(self) -> Identity:
            return Identity(api_key="b" * 20, source="plugin identity")

    host = build(Account)
    await host.credentials.key(soon())
    assert (await seen(host))["API key"] == "plugin identity"


async def test_without_a_conversation_nothing_is_said_of_one(build):
    rows = await seen(build(), live=False)
    assert not {"Session", "Queue"} & set(rows)
    assert rows["Capture"] == "on"


# -- looking changes nothing -----------------------------------------------------------------------


async def test_looking_makes_no_key_and_no_dataset_and_changes_no_state(build, client):
    host = build()
    changes = []
    host.services.health.subscribe(changes.append)
    client.scripts[HEALTH] = fails(FailureKind.REFUSED)
    await overview(host, soon())
    assert changes == []
    assert host.services.health.state == "unknown"
    assert {call.path for call in client.unsent} == {HEALTH}


async def test_a_session_that_is_wrong_about_the_server_is_asked_to_look_for_itself(build):
    host = build()
    host.services.health.note(ServerFailure(FailureKind.REFUSED, "away"))
    host.services.health._woken.clear()
    assert (await look_at_server(host, soon())).connected
    assert host.services.health.state == "offline"
    assert host.services.health._woken.is_set()


async def test_a_key_that_is_refused_shows_although_the_health_route_needs_none(build):
    host = build()
    host.services.health.note(ServerFailure(FailureKind.AUTH, "wrong key"))
    found = await overview(host, soon())
    assert found.server.state == "auth"
    assert as_text(found).startswith("⚠ Cognee Memory — auth failed\n")


# -- plugins ---------------------------------------------------------------------------------------


class Rows:
    """Has rows, some of them bad."""

    @hookimpl
    async def cognee_status_rows(self) -> list[StatusRow]:
        return [
            StatusRow(label="Mine", text="a\x1b[31m\nb" + "x" * 2 * MAX_ROW),
            StatusRow(label="Second", text="row"),
        ]


class Broken:
    """Fails."""

    @hookimpl
    async def cognee_status_rows(self) -> StatusRow:
        raise LookupError


@pytest.mark.expects_faults
async def test_a_plugin_adds_rows_and_one_that_fails_takes_none_away(build):
    rows = await seen(build(Broken, Rows))
    assert rows["Mine"].startswith("a bx")
    assert len(rows["Mine"]) <= MAX_ROW
    assert rows["Second"] == "row"


async def test_a_blocked_plugin_has_no_row(build):
    rows = await seen(build(COGNEE_HOOKS_DISABLE="recall,sync,code_lane,datasets"))
    assert not {"Recall", "Sync", "Code graph", "Switched"} & set(rows)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9", "own server"),
        ("http://localhost:8000/", "own server"),
        ("https://tenant.cognee.example", "cloud"),
    ],
)
async def test_a_server_of_ones_own_on_this_machine_is_not_called_a_cloud(build, url, words):
    host = build(COGNEE_BASE_URL=url)
    assert (await seen(host))["Mode"].startswith(f"{words} (")
    assert (await look_at_server(host, soon())).mode == "cloud"
