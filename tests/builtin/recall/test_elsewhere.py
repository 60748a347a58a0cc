"""Where nothing is found time and again, the person learns once that memory lies elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from builtin_plugins.recall import elsewhere
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.scripted import RECALL, fails, remembers, scripted_host
from tests.support.waiting import PATIENCE, until

ME, OTHER = "aaaaaaaa-0000-0000-0000-000000000001", "aaaaaaaa-0000-0000-0000-000000000002"
ACTIVE, TEAM, CODE = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
DATASETS, ACCOUNT = "/api/v1/datasets", "/api/v1/users/me"


def dataset(identifier: str, name: str, owner: str = ME, created: str = "") -> dict[str, str]:
    return {"id": identifier, "name": name, "ownerId": owner, "createdAt": created}


class Memory:
    """A server on which some datasets hold memory."""

    def __init__(self, home: Any, client: Any) -> None:
        self._home = home
        self.client = client
        self.rows = [dataset(ACTIVE, "agent_sessions"), dataset(TEAM, "team")]
        self.full = {TEAM}
        client.scripts[DATASETS] = lambda _: self.rows
        client.scripts[ACCOUNT] = lambda _: {"id": ME, "email": "me@example.com"}
        client.scripts[RECALL] = self._recall

    def _recall(self, body: dict[str, Any]) -> Any:
        asked = set(body.get("dataset_ids", [])) | set(body.get("datasets", []))
        return (remembers("a fact") if asked & self.full else remembers())(body)

    def host(self, **environ: str) -> Host:
        return scripted_host(self._home, self.client, **environ)

    def looks(self) -> int:
        return sum(each.path == DATASETS for each in self.client.unsent)


@pytest.fixture
def memory(isolated_environment, client) -> Memory:
    return Memory(isolated_environment, client)


async def prompts(host: Host, count: int) -> list[str]:
    """Send prompts, wait for what they started, and return what the person is told."""
    for _ in range(count):
        event = UserPromptSubmit(session_id="claude_s1", prompt="where is the port set?")
        answer = await host.user_prompt_submit(event)
        assert "team" not in answer.context
    await until(lambda: not host.background._tasks, "the look")
    return [notice.text for notice in host.notices.take()]


async def test_after_five_prompts_without_memory_the_person_is_told_where_it_lies(memory):
    host = memory.host()
    assert await prompts(host, 4) == []
    (told,) = await prompts(host, 1)
    assert "nothing was found in dataset agent_sessions for 5 prompts in a row" in told
    assert "dataset team holds memory" in told
    assert "`cognee-datasets team`" in told


async def test_it_is_looked_once_a_session_also_by_the_next_process(memory):
    await prompts(memory.host(), 5)
    assert await prompts(memory.host(), 10) == []
    assert memory.looks() == 1


async def test_where_no_other_dataset_holds_memory_nothing_is_said(memory):
    memory.full = set()
    assert await prompts(memory.host(), 10) == []
    assert memory.looks() == 1


async def test_a_hit_in_between_begins_the_count_anew(memory):
    host = memory.host()
    await prompts(host, 4)
    memory.full.add("agent_sessions")
    await prompts(host, 1)
    memory.full.remove("agent_sessions")
    assert await prompts(host, 4) == []
    assert len(await prompts(host, 1)) == 1


async def test_a_server_that_is_away_is_no_empty_memory(memory):
    memory.client.scripts[RECALL] = fails(FailureKind.SERVER_ERROR)
    assert await prompts(memory.host(), 4) == []
    memory.client.scripts[RECALL] = memory._recall
    assert await prompts(memory.host(), 4) == []
    assert memory.looks() == 0


async def test_a_look_that_fails_is_repeated_after_as_many_prompts(memory):
    memory.client.scripts[DATASETS] = fails(FailureKind.SERVER_ERROR)
    host = memory.host()
    assert await prompts(host, 9) == []
    assert memory.looks() == 1
    memory.client.scripts[DATASETS] = lambda _: memory.rows
    assert len(await prompts(host, 1)) == 1


@pytest.mark.parametrize(
    "environ",
    [
        {"COGNEE_RECALL_DATASET_HINT": "off"},
        {"COGNEE_PLUGIN_READ_DATASET_IDS": f'["{ACTIVE}"]'},
    ],
    ids=["switched off", "datasets chosen"],
)
async def test_who_has_chosen_is_not_told(memory, environ):
    assert await prompts(memory.host(**environ), 6) == []
    assert memory.looks() == 0


async def test_a_server_whose_datasets_are_one_store_has_no_elsewhere(memory, monkeypatch):
    host = memory.host()
    monkeypatch.setattr(type(host.services.health), "single_user", True)
    told = await prompts(host, 6)
    assert not any("holds memory" in each for each in told)
    assert memory.looks() == 0


async def test_own_datasets_come_first_then_the_latest_and_only_a_few_are_opened(memory):
    memory.rows += [
        dataset(f"00000000-0000-0000-0001-{number:012}", f"d{number}", created=f"2026-01-{number}")
        for number in range(10, 20)
    ]
    memory.rows += [dataset(CODE, "codebase-x-12345678", created="2027-01-01")]
    memory.rows += [dataset("00000000-0000-0000-0002-000000000001", "theirs", OTHER, "2028-01-01")]
    await prompts(memory.host(), 5)
    asked = [
        body["dataset_ids"][0] for body in memory.client.bodies(RECALL) if "dataset_ids" in body
    ]
    assert [each[-2:] for each in asked] == ["19", "18", "17", "16"]
    assert len(asked) == elsewhere.MOST


async def test_a_dataset_that_its_name_does_not_lead_to_is_named_by_its_id(memory):
    memory.rows[1] = dataset(TEAM, "team", OTHER)
    (told,) = await prompts(memory.host(), 5)
    assert f"cognee-datasets {TEAM}" in told


async def test_a_switch_in_the_meantime_makes_the_hint_pointless(memory):
    host = memory.host()
    await prompts(host, 4)
    await host.switch_dataset("team", synced=True)
    assert await prompts(host, 4) == []
    await host.close(Deadline.after(PATIENCE))


def test_a_hostile_name_is_one_short_line():
    told = elsewhere.hint("a\x1b[2J\nb", "x" * 500)
    assert "\x1b" not in told
    assert "\n" not in told
    assert len(told) < 500
