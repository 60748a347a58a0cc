"""The policy matrix, the wiring and its obstacles, vector by vector."""

from __future__ import annotations

import time

import pytest

from builtin_plugins.provisioning.checks import memory_text
from builtin_plugins.provisioning.grants import DENIED_SECONDS, choose_dataset, share
from builtin_plugins.provisioning.marker import Marker, MarkerFile
from builtin_plugins.provisioning.settings import IdentityPolicy, ProvisioningSettings
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import Dataset
from cognee_hooks.settings import Settings

AUTO, ENABLED, DISABLED = IdentityPolicy
PROVISION = "/api/v1/integrations/plugins/"
ROLES = "/api/v1/permissions/roles"
OWNER = "11111111-1111-4111-8111-111111111111"
ROLE = "22222222-2222-4222-8222-222222222222"
A, B, C = (f"{each}f8fad5b-d9cb-469f-a165-70867728950e" for each in "abc")
SOON = 5.0
REFUSED = (403, {"detail": "no [PermissionDeniedError]"})


def resolved(**environ):
    settings = Settings.load(environ)
    return settings.resolve("provisioning", ProvisioningSettings), settings


@pytest.mark.parametrize(
    ("word", "policy"),
    [
        ("", AUTO),
        (" Auto ", AUTO),
        ("ON", ENABLED),
        ("1", ENABLED),
        ("yes", ENABLED),
        ("0", DISABLED),
        ("Off", DISABLED),
        ("bogus", AUTO),
    ],
)
def test_vector_103_words_for_the_policy(word, policy):
    found, settings = resolved(COGNEE_PLUGIN_IDENTITY=word)
    assert found.identity is policy
    told = [each.message for each in settings.problems]
    assert bool(told) == (word == "bogus")
    if told:
        assert told[0].startswith("COGNEE_PLUGIN_IDENTITY must be auto, true, or false")


@pytest.mark.parametrize(("word", "on"), [("nope", True), ("Off", False), ("0", False), ("", True)])
def test_vector_103_words_for_sharing(word, on):
    assert resolved(COGNEE_SHARED_AGENT_MEMORY=word)[0].shared_memory is on


@pytest.mark.parametrize("without", ["create_only", "typed_ids"])
async def test_vector_104_a_server_that_announces_less_gets_no_request_that_changes_anything(
    agent, sharing, without
):
    setattr(sharing, without, False)
    pi = agent()
    await pi.start()
    assert sharing.changes() == []
    assert await pi.who() == sharing.owner.id
    assert pi.said == []


async def test_vector_105_without_sharing_nobody_is_provisioned(agent, sharing):
    pi = agent(COGNEE_SHARED_AGENT_MEMORY="off")
    await pi.start()
    assert sharing.changes() == []
    assert "GET /openapi.json" not in sharing.paths()


async def test_vector_106_opting_out_leaves_the_role_and_keeps_the_ids(agent, sharing):
    await agent("pi_s1").start()
    shared = agent().marker
    sharing.seen.clear()
    pi = agent("pi_s2", COGNEE_SHARED_AGENT_MEMORY="off")
    await pi.start()
    made = sharing.agents["pi"]
    assert sharing.changes() == [f"DELETE /api/v1/permissions/users/{made.id}/roles"]
    marker = pi.marker
    assert (marker["mode"], marker["reason"], marker["role_member"]) == (
        "separated",
        "opt_out",
        False,
    )
    kept = ("role_id", "tenant_id", "agent_id", "parent_user_id", "granted", "canonical")
    assert {name: marker[name] for name in kept} == {name: shared[name] for name in kept}
    assert await pi.who() == made.id
    assert not pi.host.services.client.shared_names
    assert sharing.rows(made) == []


async def test_vector_106_coming_back_joins_the_same_role_and_datasets(agent, sharing):
    await agent("pi_s1").start()
    before = agent().marker
    await agent("pi_s2", COGNEE_SHARED_AGENT_MEMORY="off").start()
    pi = agent("pi_s3")
    await pi.start()
    after = pi.marker
    assert after["mode"] == "shared"
    assert [after[name] for name in ("role_id", "canonical")] == [
        before[name] for name in ("role_id", "canonical")
    ]
    assert len(sharing.roles) == len(sharing.tenants) == 1
    assert await pi.who() == sharing.agents["pi"].id


async def test_vector_107_what_somebody_asked_for_and_cannot_have_is_said(agent, sharing):
    sharing.create_only = False
    pi = agent(COGNEE_PLUGIN_IDENTITY="true")
    await pi.start()
    assert any(each.startswith("Cognee plugin provisioning unsupported") for each in pi.said)
    assert await pi.who() == sharing.owner.id
    assert sharing.changes() == []


async def test_w4_and_vector_108_whoever_wants_no_account_gets_none(agent, sharing):
    pi = agent(COGNEE_PLUGIN_IDENTITY="false")
    await pi.start()
    assert sharing.changes() == []
    assert "GET /openapi.json" not in sharing.paths()
    assert await pi.who() == sharing.owner.id


async def test_w4_an_account_that_is_there_is_not_used_where_it_is_not_wanted(agent, sharing):
    await agent("pi_s1").start()
    sharing.seen.clear()
    pi = agent("pi_s2", COGNEE_PLUGIN_IDENTITY="false")
    await pi.start()
    assert await pi.who() == sharing.owner.id
    assert sharing.changes() == []


@pytest.mark.parametrize(("version", "tries"), [("this", False), ("cognee-hooks 0.0.0", True)])
async def test_vector_109_a_reason_that_stays_is_tried_again_by_another_version_only(
    agent, sharing, version, tries
):
    sharing.refusals["POST", ROLES] = REFUSED
    await agent("pi_s1").start()
    marker = agent().account.markers
    assert marker.read().reason == "not_tenant_owner"
    if version != "this":
        path = marker.path
        path.write_text(path.read_text().replace(marker.version, version))
    sharing.refusals.clear()
    sharing.seen.clear()
    pi = agent("pi_s2")
    await pi.start()
    assert bool(sharing.changes()) == tries
    assert (await pi.who() != sharing.owner.id) == tries


async def test_vector_110_an_account_that_nobody_asked_for_is_given_back(agent, sharing):
    sharing.refusals["POST", ROLES] = REFUSED
    pi = agent()
    await pi.start()
    assert pi.marker["reason"] == "not_tenant_owner"
    assert sharing.changes()[:2] == [f"POST {PROVISION}pi/provision", f"DELETE {PROVISION}pi"]
    assert pi.key == {}
    assert await pi.who() == sharing.owner.id


async def test_vector_111_one_that_somebody_asked_for_stays_and_the_reason_is_said(agent, sharing):
    sharing.refusals["POST", ROLES] = REFUSED
    pi = agent(COGNEE_PLUGIN_IDENTITY="true")
    await pi.start()
    assert f"DELETE {PROVISION}pi" not in sharing.changes()
    assert pi.key["agent_id"] == sharing.agents["pi"].id
    assert await pi.who() == sharing.agents["pi"].id
    assert any("does not share your datasets (not tenant owner)" in each for each in pi.said)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "not_an_object"),
        ({"agentId": A, "created": True}, "incomplete"),
        ({"apiKey": "k" * 9, "agentId": A, "created": False}, "incomplete"),
        ({"api_key": "k" * 9, "created": True}, "missing_agent_id"),
        ({"apiKey": "own", "agent_id": A, "created": True}, "agent_key_equals_principal"),
    ],
)
async def test_vector_112_answers_to_provisioning_that_cannot_be_used(
    agent, sharing, caplog, body, reason
):
    if isinstance(body, dict) and body.get("apiKey") == "own":
        body = {**body, "apiKey": sharing.owner.key}
    sharing.refusals["POST", PROVISION] = (200, body)
    pi = agent()
    await pi.start()
    assert f"plugin_provision_bad_response {reason}" in caplog.text
    assert "plugin_provision_skipped failed" in caplog.text
    assert pi.key == {}
    assert await pi.who() == sharing.owner.id
    assert sharing.changes() == [f"POST {PROVISION}pi/provision"]
    for value in ("k" * 9, sharing.owner.key, A):
        assert value not in caplog.text


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, "plugin_provision_skipped unsupported"),
        (405, "plugin_provision_skipped unsupported"),
        (400, "plugin_provision_skipped failed"),
        (500, "plugin_provision_skipped failed"),
    ],
)
async def test_vector_113_how_a_refused_provisioning_is_taken(
    agent, sharing, caplog, status, outcome
):
    sharing.refusals["POST", PROVISION] = (status, {"detail": "no"})
    pi = agent()
    await pi.start()
    assert outcome in caplog.text
    assert pi.marker == pi.key == {}
    assert await pi.who() == sharing.owner.id


class Role:
    """The owner's routes for shares, answering as a test says."""

    def __init__(self, *denied: str, kind: FailureKind = FailureKind.FORBIDDEN) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self._denied = denied
        self._kind = kind

    async def grant(self, principal, permission, ids, deadline):
        assert principal == ROLE
        self.asked.append((permission, tuple(ids)))
        if set(ids) & set(self._denied):
            raise ServerFailure(self._kind, status=403)


def rows(*ids):
    return [Dataset(each, "d", OWNER) for each in ids]


async def shared(role, ids, memo, now=100_000.0):
    return await share(role, ROLE, rows(*ids), memo, now=now, deadline=Deadline.after(SOON))


@pytest.mark.parametrize(
    ("memo", "asked", "now_known"),
    [
        ({A: None}, [], {A: None}),
        ({A: 100_000.0 - 600}, [], {A: 99_400.0}),
        ({A: 100_000.0 - 7200}, [("read", (A,))], {A: 100_000.0}),
        ({A: 100_000.0 + 7200}, [("read", (A,))], {A: 100_000.0}),
        ({}, [("read", (A,))], {A: 100_000.0}),
    ],
)
async def test_vector_114_what_is_shared_or_was_denied_lately_costs_nothing(memo, asked, now_known):
    role = Role(A)
    assert await shared(role, [A], memo) == now_known
    assert role.asked == asked
    assert DENIED_SECONDS == 3600.0


def test_vector_115_the_owners_own_dataset_is_the_one():
    found = [
        Dataset(A, "d", OWNER, "2026-05-01T00:00:00"),
        Dataset(B, "d", "somebody", "2026-01-01T00:00:00"),
    ]
    assert choose_dataset("d", found, OWNER, {A: None, B: None}) == A
    assert choose_dataset("d", found, OWNER, {B: None}) == A


def test_vector_116_of_others_datasets_the_oldest_is_the_one():
    found = [
        Dataset(A, "d", "x", "2026-02-01T00:00:00"),
        Dataset(B, "d", "y", "2026-01-01T00:00:00Z"),
        Dataset(C, "d", "z", ""),
    ]
    everything = dict.fromkeys((A, B, C))
    assert choose_dataset("d", found, OWNER, everything) == B
    assert choose_dataset("d", found[2:], OWNER, everything) == C
    assert choose_dataset("d", found, OWNER, {A: None, B: 5.0}) == A
    assert choose_dataset("d", found, OWNER, {}) == ""
    assert choose_dataset("e", found, OWNER, everything) == ""


async def test_vector_117_an_account_with_data_and_no_tenant_stays_as_it_is(agent, sharing):
    sharing.dataset("notes")
    pi = agent()
    await pi.start()
    assert pi.marker["reason"] == "tenantless_with_data"
    assert sharing.changes() == []
    assert await pi.who() == sharing.owner.id


@pytest.mark.parametrize(
    ("sharing_on", "active", "marker", "text"),
    [
        (False, True, Marker(shared=True), "separated (opt-out)"),
        (True, True, Marker(shared=True), "shared (role: cognee-agent)"),
        (True, True, Marker(), "separated (not wired yet)"),
        (True, True, Marker(reason="opt_out"), "separated (opt out)"),
        (
            True,
            False,
            Marker(reason="not_tenant_owner"),
            "principal (shared memory unavailable: not tenant owner)",
        ),
        (True, False, Marker(), "principal (no agent identity)"),
    ],
)
def test_vector_119_whose_memory_it_is(sharing_on, active, marker, text):
    settings = ProvisioningSettings(shared_memory=sharing_on)
    assert memory_text(settings, marker, active=active) == text


def test_w12_a_marker_that_names_no_server_counts_for_none(tmp_path):
    file = MarkerFile(tmp_path / "shared-memory.json", "http://localhost:8011", time.time)
    file.save(Marker(shared=True, role_id=ROLE, parent_id=OWNER, agent_id=A, granted={B: 5.0}))
    assert file.read().wired_for(A)
    assert file.read().granted == {B: 5.0}
    text = file.path.read_text()
    for other in ("", "http://localhost:8012"):
        file.path.write_text(text.replace("http://localhost:8011", other))
        assert file.read() == Marker()


@pytest.mark.parametrize(("status", "left"), [(404, True), (503, False), (403, False)])
async def test_vector_106_only_a_role_that_is_gone_counts_as_left(agent, sharing, status, left):
    await agent().start()
    sharing.refusals["DELETE", "/api/v1/permissions/users"] = (status, {"detail": "no"})
    pi = agent("pi_s2", COGNEE_SHARED_AGENT_MEMORY="off")
    await pi.start()
    assert (pi.marker["reason"] == "opt_out") == left
    assert pi.marker["role_id"]


async def test_an_account_that_somebody_asked_for_can_stay_on_its_own(agent, sharing):
    """The matrix: enabled, sharing off."""
    sharing.dataset("notes")
    pi = agent(COGNEE_PLUGIN_IDENTITY="true", COGNEE_SHARED_AGENT_MEMORY="off")
    await pi.start()
    assert sharing.changes() == [f"POST {PROVISION}pi/provision"]
    assert await pi.who() == sharing.agents["pi"].id
    assert pi.said == []
    names = {row["name"] for row in sharing.rows(sharing.agents["pi"])}
    assert "notes" not in names


async def test_where_sharing_cannot_be_had_whoever_asked_for_an_account_gets_one(agent, sharing):
    """The matrix: enabled, sharing on, with an obstacle that is known before anything is made."""
    sharing.dataset("notes")
    pi = agent(COGNEE_PLUGIN_IDENTITY="true")
    await pi.start()
    assert sharing.changes() == [f"POST {PROVISION}pi/provision"]
    assert await pi.who() == sharing.agents["pi"].id
    assert any("(tenantless with data)" in each for each in pi.said)


async def test_an_owner_whose_key_is_an_agents_is_left_alone(agent, sharing):
    await agent().start()
    other = agent("codex_s1", "codex", COGNEE_API_KEY=sharing.agents["pi"].key)
    sharing.seen.clear()
    await other.start()
    assert sharing.changes() == []
    assert other.marker["reason"] == "principal_is_an_agent"
    assert await other.who() == sharing.agents["pi"].id
