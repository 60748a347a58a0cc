"""What datasets adds to the status page and to doctor, and what it says when a session begins."""

from __future__ import annotations

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.events import SessionStart
from cognee_hooks.host import Host
from cognee_hooks.overview import overview
from cognee_hooks.results import CheckStatus
from tests.support.asking import Asking
from tests.support.waiting import until

VARIABLE = "COGNEE_PLUGIN_READ_DATASET_IDS"
ID = "3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"


@pytest.fixture
async def start(tmp_path, embedded_server):
    hosts = []

    def build(session_id="pi_s1", **environ):
        host = Host(
            "pi",
            environ={
                "HOME": str(tmp_path),
                "COGNEE_BASE_URL": embedded_server.url,
                "COGNEE_API_KEY": embedded_server.key,
                **environ,
            },
            session_id=session_id,
            entry_points=(),
        )
        host.dialogs = Asking()
        hosts.append(host)
        return host

    yield build
    for host in hosts:
        await host.close(Deadline.after(1.0))


async def rows(host):
    seen = await overview(host, Deadline.after(5))
    return {row.label: row.text for row in seen.rows}


async def test_a_switch_shows_in_that_conversation_also_after_a_restart(start, tmp_path):
    name, host = tmp_path.name, start()
    assert "Switched" not in await rows(host)
    await host.registered.commands["datasets"].run(f"{name} --create")
    for each in (host, start()):
        found = await rows(each)
        assert found["Dataset"] == name
        assert found["Switched"].startswith("from agent_sessions at 2")
    other = await rows(start("pi_s2"))
    assert (other["Dataset"], "Switched" in other) == (name, False)


@pytest.mark.parametrize("at", [None, "x", 1e300, [1]])
async def test_a_damaged_record_of_a_switch_breaks_nothing(start, at):
    host = start()
    plugin = host.registry.manager.get_plugin("datasets")
    plugin._context.state.write({"from": ["x"], "to": host.session.dataset, "at": at})
    assert (await rows(host))["Switched"].startswith("from ['x'] at ")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[]", "must be a nonempty JSON list of UUIDs"),
        ("{}", "must be a nonempty JSON list of UUIDs"),
        ('["x"]', "must be a nonempty JSON list of UUIDs"),
        ("[", "is not valid JSON: "),
    ],
)
async def test_vector_100_a_bad_list_is_told_at_session_start_and_in_doctor(start, value, reason):
    host = start(**{VARIABLE: value})
    await host.start()
    await host.session_start(SessionStart(session_id="pi_s1", source="startup"))
    said = []
    await until(lambda: said.extend(host.notices.take()) or said)
    assert said[0].text.startswith(f"Cognee federation disabled: {VARIABLE} {reason}")
    assert said[0].text.endswith("Graph reads stay on agent_sessions.")
    (row,) = (each for each in await examine(host, Deadline.after(5)) if each.name == "federation")
    assert row.status is CheckStatus.WARNING
    assert row.detail.startswith(f"✕ {VARIABLE} {reason}")
    assert VARIABLE in row.remedy


async def test_a_good_list_is_told_with_its_source(start, tmp_path):
    file = tmp_path / ".cognee" / ".env"
    file.parent.mkdir()
    file.write_text(f"{VARIABLE}='[\"{ID}\"]'\n")
    host = start()
    (row,) = (each for each in await examine(host, Deadline.after(5)) if each.name == "federation")
    assert row.status is CheckStatus.INFO
    assert row.detail.startswith(f"1 read dataset(s) via {VARIABLE} (env file)")
    assert (await rows(host))["Federation"] == row.detail
