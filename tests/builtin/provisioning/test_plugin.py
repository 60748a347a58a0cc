"""A session of an agent, from its start to what its owner sees."""

from __future__ import annotations

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.events import SessionStart, Stop, UserPromptSubmit
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.testing.loopback import LoopbackServer
from tests.support.redacted import redacted
from tests.support.waiting import until

SOON = 5.0


async def test_an_agent_gets_an_account_that_shares_its_owners_memory(agent, sharing):
    pi = agent()
    await pi.start()
    made = sharing.agents["pi"]
    assert await pi.who() == made.id
    assert pi.key["api_key"] == made.key
    assert pi.marker["mode"] == "shared"
    dataset = pi.marker["canonical"]["agent_sessions"]
    assert {row["id"]: row["ownerId"] for row in sharing.rows(made)} == {dataset: sharing.owner.id}


async def test_w5_every_lane_leads_to_the_owners_dataset_and_makes_no_copy(agent, sharing):
    pi = agent()
    await pi.start()
    client, soon = pi.host.services.client, Deadline.after(SOON)
    ref = DatasetRef("agent_sessions")
    entry = redacted({"type": "qa", "question": "q", "answer": "The books are in PapaStore."})
    await client.store_entry(entry, session_id="pi_s1", dataset=ref, deadline=soon)
    await client.improve(["pi_s1"], dataset=ref, deadline=soon)
    await client.documents.remember(
        redacted("Kept in PapaStore."), file_name=redacted("a.txt"), dataset=ref, deadline=soon
    )
    assert await client.recall(redacted("PapaStore"), dataset=ref, deadline=soon)
    made = await client.ensure_dataset("another", soon)
    assert sharing.inner_name(made.id) == "another"
    assert {row["ownerId"] for row in sharing.rows(sharing.owner)} == {sharing.owner.id}
    sent = [each for each in sharing.seen if each.who == "agent" and isinstance(each.body, dict)]
    assert sent
    assert not [each for each in sent if {"dataset_name", "datasets"} & each.body.keys()]


async def test_w5_a_dataset_that_is_only_read_is_not_made(agent, sharing):
    pi = agent()
    await pi.start()
    client, soon = pi.host.services.client, Deadline.after(SOON)
    for _ in range(2):
        with pytest.raises(ServerFailure, match="no_memory"):
            await client.recall(redacted("x"), dataset=DatasetRef("nothing"), deadline=soon)
    assert "nothing" not in {row["name"] for row in sharing.rows(sharing.owner)}
    assert sharing.paths("owner", "/api/v1/datasets").count("GET /api/v1/datasets") <= 3


async def test_what_an_agent_captures_its_siblings_and_its_owner_recall(agent, sharing):
    pi, codex = agent(), agent("codex_s1", "codex")
    await pi.start()
    await codex.start()
    here = {"session_id": "pi_s1", "agent": "pi"}
    await pi.host.user_prompt_submit(UserPromptSubmit(**here, prompt="Where are the books?"))
    await pi.host.stop(Stop(**here, last_assistant_message="They are kept in the PapaStore."))
    await until(lambda: not pi.host.waiting)
    answer = await codex.host.user_prompt_submit(
        UserPromptSubmit(session_id="codex_s1", agent="codex", prompt="What is in PapaStore?")
    )
    assert "PapaStore" in answer.context
    assert sharing.agents["pi"].id != sharing.agents["codex"].id


async def test_a_conversation_goes_on_as_the_account_that_it_began_with(agent, sharing):
    sharing.create_only = False
    pi = agent()
    await pi.start()
    here = {"session_id": "pi_s1", "agent": "pi"}
    await pi.host.user_prompt_submit(UserPromptSubmit(**here, prompt="Where are the books?"))
    await pi.host.stop(Stop(**here, last_assistant_message="In the PapaStore."))
    await until(lambda: not pi.host.waiting)
    assert await pi.who() == sharing.owner.id
    # The account has data now, and a tenant of its own making.
    sharing.create_only, sharing.owner.tenant = True, "11111111-1111-4111-8111-111111111111"
    again, fresh = agent("pi_s1"), agent("pi_s2")
    await again.start()
    await fresh.start()
    assert await again.who() == sharing.owner.id
    assert await fresh.who() == sharing.agents["pi"].id
    assert await agent("pi_s2").who() == sharing.agents["pi"].id


async def test_the_agent_never_waits_for_a_server_that_does_not_answer(agent, sharing):
    """The start of a session returns at once, whatever the server does."""
    pi = agent(COGNEE_BASE_URL="http://127.0.0.1:9")
    started = Deadline.after(1.0)
    await pi.host.start()
    await pi.host.session_start(SessionStart(session_id="pi_s1", agent="pi"))
    assert not started.expired
    await until(lambda: pi.host.services.health.state == "offline")
    assert await pi.host.background.settle(Deadline.after(SOON))


async def test_no_key_is_in_any_log_notice_row_or_file_but_its_own(agent, sharing, caplog):
    for policy in ("auto", "true"):
        pi = agent(f"pi_{policy}", COGNEE_PLUGIN_IDENTITY=policy)
        await pi.start()
        secrets = {sharing.owner.key, sharing.agents["pi"].key}
        rows = await pi.plugin.cognee_doctor_checks(Deadline.after(SOON))
        identity = await pi.account.resolve(pi.account.keys.base_url, Deadline.after(SOON))
        shown = [caplog.text, repr(rows), repr(identity), repr(pi.account.keys.read()), *pi.said]
        shown += [repr(pi.account.speaking(pi.account.keys.read())), repr(vars(pi.account))]
        for path in pi.host.paths.home.rglob("*"):
            if path.is_file() and path.name != "agent-key.json":
                shown.append(path.read_bytes().decode(errors="replace"))
        assert not [each for each in shown if any(key in each for key in secrets)]
        assert (pi.host.paths.state_dir / "agent-key.json").stat().st_mode & 0o777 == 0o600


async def test_blocked_it_leaves_the_cores_keys_at_work(agent, sharing):
    await agent().start()
    sharing.seen.clear()
    for blocked in ("provisioning", "provisioning,sync", "provisioning,bridge"):
        pi = agent(f"pi_{len(blocked)}", COGNEE_HOOKS_DISABLE=blocked)
        assert pi.plugin is None
        await pi.start()
        assert await pi.who() == sharing.owner.id
    assert sharing.changes() == []


async def test_doctor_says_whose_memory_it_is_and_what_the_server_offers(agent, sharing):
    async def rows(pi):
        found = await pi.plugin.cognee_doctor_checks(Deadline.after(SOON))
        return {each.name: each.detail for each in found}

    pi = agent()
    assert await rows(pi) == {
        "agent memory": "principal (no agent identity)",
        "provisioning": "supported (create_only advertised)",
    }
    await pi.start()
    assert (await rows(pi))["agent memory"] == "shared (role: cognee-agent)"
    off = agent("pi_s2", COGNEE_PLUGIN_IDENTITY="false")
    assert (await rows(off))["provisioning"] == "disabled (COGNEE_PLUGIN_IDENTITY=false)"
    sharing.create_only = False
    assert (await rows(pi))["provisioning"] == "server does not support provisioning"
    sharing.refusals["GET", "/openapi.json"] = (404, {"detail": "Not Found"})
    assert (await rows(pi))["provisioning"] == "server does not support provisioning"
    sharing.refusals["GET", "/openapi.json"] = (503, {"detail": "busy"})
    assert (await rows(pi))["provisioning"] == "not probed (server unreachable)"
    away = agent("pi_s3", COGNEE_BASE_URL="http://127.0.0.1:9")
    assert (await rows(away))["provisioning"] == "not probed (server unreachable)"
    pi.account.keys.block(sharing.agents["pi"].key)
    assert "was rejected by the server" in (await rows(agent("pi_s4")))["agent account"]


async def test_doctor_has_its_rows_in_time_for_a_server_that_does_not_answer(agent, sharing):
    with LoopbackServer("slow") as server:
        limit = Deadline.after(1.0)
        rows = await agent(COGNEE_BASE_URL=server.url).plugin.cognee_doctor_checks(limit)
        assert not limit.expired
    assert rows[1].detail == "not probed (server unreachable)"
