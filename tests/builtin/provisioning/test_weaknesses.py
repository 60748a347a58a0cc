"""What goes wrong with accounts and sharing elsewhere, done right."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from builtin_plugins.provisioning.agent_key import AgentKeyFile, fingerprint
from builtin_plugins.provisioning.grants import share
from builtin_plugins.provisioning.provisioner import BUDGET
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.services.accounts import Provisioned
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.filelock import KernelLock
from tests.builtin.provisioning.test_vectors import (
    PROVISION,
    REFUSED,
    ROLE,
    ROLES,
    A,
    B,
    C,
    Role,
    rows,
    shared,
)
from tests.support.redacted import redacted

SOON = 5.0
TENANTS = "/api/v1/permissions/tenants"
URL = "http://localhost:8011"


async def remember(agent, dataset="agent_sessions"):
    client, soon = agent.host.services.client, Deadline.after(SOON)
    entry = redacted({"type": "qa", "question": "q", "answer": "a"})
    session = agent.host.session.session_id
    return await client.store_entry(
        entry, session_id=session, dataset=DatasetRef(dataset), deadline=soon
    )


# -- W3: what a refusal is


async def test_w3_something_forbidden_does_not_cost_the_account(agent, sharing):
    pi = agent()
    await pi.start()
    sharing.refusals["POST", "/api/v1/remember/entry"] = REFUSED
    for _ in range(3):
        with pytest.raises(ServerFailure, match="forbidden"):
            await remember(pi)
    assert "blocked" not in pi.key
    assert await pi.who() == sharing.agents["pi"].id


async def test_w3_a_key_that_the_server_takes_no_longer_is_blocked_and_the_owners_takes_over(
    agent, sharing, caplog
):
    pi = agent()
    await pi.start()
    sharing.agents["pi"].key = "revoked"
    assert (await remember(pi)).entry_id
    assert pi.key["blocked"] is True
    assert "plugin_identity_rejected_fallback" in caplog.text
    assert any("was rejected by the server; your own key is used" in each for each in pi.said)
    assert await pi.who() == sharing.owner.id
    # Nobody provisions past it: that would be the third account that nobody asked for.
    sharing.seen.clear()
    later = agent("pi_s2")
    await later.start()
    assert sharing.changes() == []
    assert await later.who() == sharing.owner.id


async def test_w3_one_route_that_answers_401_blocks_nothing(agent, sharing):
    pi = agent()
    await pi.start()
    sharing.refusals["POST", "/api/v1/remember/entry"] = (401, {"detail": "Unauthorized"})
    with pytest.raises(ServerFailure, match="auth"):
        await remember(pi)
    assert "blocked" not in pi.key


async def test_w3_only_the_key_that_was_refused_is_blocked(tmp_path):
    keys = AgentKeyFile(tmp_path / "agent-key.json", URL, "pi")
    keys.save(Provisioned(A, "new-key"), "owner")
    keys.block("old-key")
    assert not keys.read().blocked
    keys.block("new-key")
    assert keys.read().blocked


# -- W5 is in test_plugin.py, W4 in test_vectors.py


# -- W12: whose key it is


@pytest.mark.parametrize("url", ["", "http://localhost:8012"])
async def test_w12_a_key_file_that_names_another_server_or_none_is_not_used(
    agent, sharing, url, tmp_path
):
    pi = agent()
    path = pi.host.paths.state_dir / "agent-key.json"
    keys = AgentKeyFile(path, "http://x", "pi")
    keys.save(Provisioned(A, "foreign-key"), sharing.owner.key)
    path.write_text(path.read_text().replace("http://x", url))
    assert await pi.who() == sharing.owner.id


async def test_w12_the_key_for_another_server_is_not_overwritten(agent, sharing):
    pi = agent()
    path = pi.host.paths.state_dir / "agent-key.json"
    AgentKeyFile(path, URL, "pi").save(Provisioned(A, "foreign-key"), "owner")
    again = agent("pi_s2")
    await again.start()
    assert await again.who() == sharing.agents["pi"].id
    assert json.loads(path.read_text())["api_key"] == "foreign-key"
    assert await agent("pi_s3").who() == sharing.agents["pi"].id


async def test_an_account_of_another_principal_is_not_used_and_not_replaced(agent, sharing):
    await agent().start()
    path = agent().host.paths.state_dir / "agent-key.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "principal_fingerprint": fingerprint("another")}))
    path.chmod(0o600)
    sharing.seen.clear()
    pi = agent("pi_s2", COGNEE_PLUGIN_IDENTITY="true")
    await pi.start()
    assert await pi.who() == sharing.owner.id
    assert sharing.changes() == []
    assert any("another or unverified principal" in each for each in pi.said)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"base_url": 5}', "\x00", '"x"', "null"])
async def test_files_that_are_torn_or_alien_are_no_records(agent, sharing, content):
    pi = agent()
    folder = pi.host.paths.state_dir
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("agent-key.json", "shared-memory.json"):
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    await pi.start()
    assert await pi.who() == sharing.agents["pi"].id
    assert pi.marker["mode"] == "shared"


async def test_a_key_file_that_others_can_write_to_is_not_believed(agent, sharing):
    await agent().start()
    path = agent().host.paths.state_dir / "agent-key.json"
    path.chmod(0o666)
    assert await agent("pi_s2").who() == sharing.owner.id


async def test_a_key_file_of_another_user_is_not_believed(agent, sharing, monkeypatch):
    await agent().start()
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    assert await agent("pi_s2").who() == sharing.owner.id


# -- W28: nothing follows from no answer


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/openapi.json"),
        ("GET", "/api/v1/permissions/tenants/me"),
        ("GET", "/api/v1/users/me"),
        ("GET", "/api/v1/datasets"),
        ("POST", TENANTS),
        ("POST", ROLES),
        ("POST", "/api/v1/permissions/users"),
        ("POST", "/api/v1/permissions/datasets"),
    ],
)
async def test_w28_what_a_failing_server_might_have_said_is_not_written_down(
    agent, sharing, method, path
):
    sharing.refusals[method, path] = (503, {"detail": "busy"})
    pi = agent()
    assert not await pi.provision()
    assert pi.marker.get("reason", "") == ""
    if method == "GET":
        assert sharing.changes() == []
    sharing.refusals.clear()
    later = agent("pi_s2")
    await later.start()
    assert later.marker["mode"] == "shared"
    assert await later.who() == sharing.agents["pi"].id


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (TENANTS, "tenant_create_failed"),
        (ROLES, "role_create_failed"),
        ("/api/v1/permissions/users/*/tenants", "tenant_membership_failed"),
        (f"{TENANTS}/select", "agent_tenant_select_failed"),
        ("/api/v1/permissions/users/*/roles", "role_membership_failed"),
    ],
)
async def test_what_a_server_will_not_do_is_written_down_by_name(agent, sharing, path, reason):
    sharing.refusals["POST", path] = (400, {"detail": "no"})
    pi = agent()
    assert await pi.provision()
    assert (pi.marker["mode"], pi.marker["reason"]) == ("separated", reason)
    assert pi.key == {}
    assert await pi.who() == sharing.owner.id
    # It may be another time: only reasons that stay keep the next session from trying.
    sharing.refusals.clear()
    later = agent("pi_s2")
    await later.start()
    assert await later.who() == sharing.agents["pi"].id


@pytest.mark.parametrize(
    ("path", "reason"),
    [(TENANTS, "tenant_create_failed"), (ROLES, "role_create_failed")],
)
async def test_w28_answers_without_an_id_make_no_tenant_and_no_role(agent, sharing, path, reason):
    sharing.refusals["POST", path] = (200, {"message": "done", "tenant_id": "", "role_id": None})
    pi = agent()
    await pi.provision()
    assert pi.marker["reason"] == reason
    assert pi.marker["role_id"] == ""
    assert await pi.who() == sharing.owner.id


async def test_w28_nothing_makes_a_dataset_before_the_tenant_is_there(agent, sharing):
    pi = agent()
    await pi.start()
    asked = sharing.paths("owner")
    assert asked.index(f"POST {TENANTS}") < asked.index("POST /api/v1/datasets")


async def test_a_tenant_of_ours_that_was_left_is_entered_again_and_not_doubled(agent, sharing):
    sharing.tenants[ROLE] = f"cognee-{sharing.owner.id[:8]}"
    await agent().start()
    assert list(sharing.tenants) == [ROLE]
    assert sharing.owner.tenant == ROLE


async def test_a_role_that_another_agent_makes_meanwhile_is_shared(agent, sharing):
    pi, codex = agent(), agent("codex_s1", "codex")
    sharing.owner.tenant = ROLE
    await asyncio.gather(pi.provision(), codex.provision())
    assert len(sharing.roles) == 1
    assert pi.marker["role_id"] == codex.marker["role_id"]


# -- W29: one deadline, few requests


async def test_w29_many_datasets_are_shared_in_two_requests(sharing, agent):
    sharing.owner.tenant = ROLE
    for number in range(30):
        sharing.dataset(f"d{number}")
    pi = agent()
    await pi.start()
    shares = [each for each in sharing.changes() if "/permissions/datasets/" in each]
    # Two for those that are there, two for the one that had to be made.
    assert len(shares) == 4
    assert len(sharing.rows(sharing.agents["pi"])) == 31


async def test_w29_where_one_of_a_list_cannot_be_shared_the_others_are(sharing, agent):
    sharing.owner.tenant = ROLE
    good, bad = sharing.dataset("good"), sharing.dataset("bad")
    sharing.ungrantable.add(bad)
    pi = agent()
    await pi.start()
    assert pi.marker["granted"][good] == "ok"
    assert pi.marker["granted"][bad]["denied_at"] > 0
    assert await pi.who() == sharing.agents["pi"].id


async def test_w29_a_failure_is_not_taken_for_a_denial():
    role = Role(A, kind=FailureKind.UNAVAILABLE)
    assert await shared(role, [A, B], {}) == {}
    assert role.asked == [("read", (A, B))]


async def test_w29_no_time_left_ends_the_list_and_not_the_memo():
    role = Role(A)
    ended = Deadline.after(0.0)
    found = await share(role, ROLE, rows(A, B, C), {C: None}, now=1.0, deadline=ended)
    assert found == {C: None}


async def test_w29_all_of_it_ends_with_one_deadline(agent, sharing, monkeypatch):
    monkeypatch.setattr("builtin_plugins.provisioning.provisioner.BUDGET", 1.5)
    pi = agent()
    route = pi.account.owner.__class__.roles

    async def slow(self, *arguments):
        await asyncio.sleep(1.6)
        return await route(self, *arguments)

    monkeypatch.setattr(pi.account.owner.__class__, "roles", slow)
    limit = Deadline.after(5.0)
    assert not await pi.provision()
    assert not limit.expired
    assert BUDGET == 10.0


# -- W31: an account that sees nothing


async def test_w31_where_the_wiring_fails_the_owners_key_is_used(agent, sharing):
    sharing.refusals["POST", "/api/v1/permissions/users"] = (503, {"detail": "busy"})
    pi = agent()
    await pi.provision()
    assert pi.key["agent_id"] == sharing.agents["pi"].id
    assert await pi.who() == sharing.owner.id
    # The account is there and waits for its wiring; nobody provisions again.
    sharing.refusals.clear()
    later = agent("pi_s2")
    await later.start()
    assert sharing.changes().count(f"POST {PROVISION}pi/provision") == 1
    assert await later.who() == sharing.agents["pi"].id


async def test_w31_rights_that_were_taken_away_are_noticed_and_mended(agent, sharing, caplog):
    await agent().start()
    role = next(iter(sharing.roles.values()))
    role.members.clear()
    pi = agent("pi_s2")
    await pi.start()
    assert "shared_memory_lost" in caplog.text
    assert role.members == {sharing.agents["pi"].id}
    assert (await remember(pi)).dataset_id == pi.marker["canonical"]["agent_sessions"]


async def test_w31_rights_that_cannot_be_had_back_give_way_to_the_owners_key(agent, sharing):
    await agent().start()
    next(iter(sharing.roles.values())).members.clear()
    sharing.refusals["POST", "/api/v1/permissions/users"] = REFUSED
    pi = agent("pi_s2")
    await pi.start()
    assert pi.marker["reason"] == "not_tenant_owner"
    assert await pi.who() == sharing.owner.id
    assert f"DELETE {PROVISION}pi" not in sharing.changes()


# -- W33: what is gone


async def test_w33_a_dataset_that_was_forgotten_leaves_no_trace(agent, sharing):
    first = agent()
    await first.start()
    client = first.host.services.client
    other = (await client.ensure_dataset("other", Deadline.after(SOON))).id
    assert other in first.marker["granted"]
    await first.host.services.client.identities(first.host.services.keys).datasets(
        Deadline.after(SOON)
    )
    sharing.memory.datasets.delete(other)
    later = agent("pi_s2")
    await later.start()
    assert other not in later.marker["granted"]
    assert "other" not in later.marker["canonical"]


async def test_w33_the_sessions_dataset_that_was_forgotten_is_made_and_shared_again(agent, sharing):
    await agent().start()
    sharing.memory.datasets.delete(agent().marker["canonical"]["agent_sessions"])
    for held in sharing.grants.values():
        held.clear()
    pi = agent("pi_s2")
    await pi.start()
    assert (await remember(pi)).dataset_id == pi.marker["canonical"]["agent_sessions"]


# -- provisioning once


async def test_sessions_that_start_together_get_one_account(agent, sharing):
    sessions = [agent(f"pi_s{number}") for number in range(4)]
    await asyncio.gather(*(each.provision() for each in sessions))
    assert sharing.changes().count(f"POST {PROVISION}pi/provision") == 1
    assert {await each.who() for each in sessions} == {sharing.agents["pi"].id}


async def test_an_account_whose_key_another_machine_has_is_left_alone(agent, sharing, tmp_path):
    await agent().start()
    key = sharing.agents["pi"].key
    elsewhere = agent("pi_s2", HOME=str(tmp_path / "another machine"))
    await elsewhere.start()
    assert sharing.agents["pi"].key == key
    assert await elsewhere.who() == sharing.owner.id


async def test_a_key_that_cannot_be_revoked_is_not_thrown_away(agent, sharing):
    sharing.refusals["POST", ROLES] = REFUSED
    sharing.refusals["DELETE", PROVISION] = (503, {"detail": "busy"})
    pi = agent()
    await pi.start()
    assert pi.key["agent_id"] == sharing.agents["pi"].id
    assert await pi.who() == sharing.owner.id


async def test_an_agent_the_server_does_not_know_keeps_the_owners_key(agent, sharing):
    other = agent("x_s1", "unheard-of")
    await other.start()
    assert other.marker == other.key == {}
    assert await other.who() == sharing.owner.id


async def test_no_key_no_request(agent, sharing):
    pi = agent(COGNEE_API_KEY="", COGNEE_USER_PASSWORD="wrong")
    assert await pi.provision()
    assert sharing.changes() == []
    assert "GET /openapi.json" not in sharing.paths()


async def test_a_server_that_comes_later_is_provisioned_then(agent, sharing):
    pi = agent()
    sharing.refusals["GET", "/openapi.json"] = (503, {"detail": "starting"})
    await pi.start()
    assert await pi.who() == sharing.owner.id
    sharing.refusals.clear()
    pi.plugin.cognee_server_state_changed(ServerStateChanged(previous="offline", current="ok"))
    assert await pi.host.background.settle(Deadline.after(SOON))
    assert await pi.who() == sharing.agents["pi"].id


async def test_w3_a_key_that_was_revoked_between_sessions_is_noticed_at_the_start(agent, sharing):
    await agent().start()
    sharing.agents["pi"].key = "revoked"
    pi = agent("pi_s2")
    assert not await pi.provision()
    assert pi.key["blocked"] is True
    assert await pi.who() == sharing.owner.id


async def test_a_session_in_a_dataset_that_is_named_by_its_id_leads_to_it(agent, sharing):
    sharing.owner.tenant = ROLE
    notes = sharing.dataset("notes")
    pi = agent(COGNEE_PLUGIN_DATASET=notes)
    await pi.start()
    assert (await remember(pi, notes)).dataset_id == notes
    assert pi.marker["canonical"] == {}
    assert pi.marker["granted"] == {notes: "ok"}


async def test_while_another_process_provisions_nobody_else_does(agent, sharing, monkeypatch):
    monkeypatch.setattr("builtin_plugins.provisioning.provisioner.BUDGET", 0.5)
    pi = agent()
    lock = KernelLock(pi.account.keys.path.with_suffix(".lock"))
    assert lock.try_acquire()
    assert await pi.provision()
    assert sharing.changes() == []
    lock.release()


async def test_an_account_whose_key_cannot_be_kept_is_not_used(agent, sharing, caplog):
    pi = agent()
    pi.account.keys.path.mkdir(parents=True)
    assert await pi.provision()
    assert "plugin_identity_not_kept" in caplog.text
    assert sharing.changes() == [f"POST {PROVISION}pi/provision", f"DELETE {PROVISION}pi"]
    assert await pi.who() == sharing.owner.id
