"""The server is told which agent a session belongs to, and when it has ended."""

from __future__ import annotations

from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionEnd

REGISTER = "/api/v1/agents/register"
UNREGISTER = "/api/v1/agents/unregister"
OK = (201, {"id": "x"})


def bodies(sharing, path):
    return [each.body for each in sharing.seen if each.path == path]


async def end(agent):
    session = agent.host.session.session_id
    await agent.host.session_end(SessionEnd(session_id=session, agent="pi"))


async def test_a_session_is_registered_and_unregistered_under_one_name(agent, sharing):
    sharing.refusals["POST", "/api/v1/agents"] = OK
    pi = agent()
    await pi.start()
    (opened,) = bodies(sharing, REGISTER)
    assert (opened["session_id"], opened["type"]) == ("pi_s1", "pi")
    assert opened["agent_session_name"].startswith("conn_")
    await end(pi)
    assert bodies(sharing, UNREGISTER) == [{"agent_session_name": opened["agent_session_name"]}]
    # The last request of all: a server may end with it.
    assert [each.path for each in sharing.seen][-1] == UNREGISTER


async def test_a_conversation_that_switched_is_known_by_its_new_session(agent, sharing):
    sharing.refusals["POST", "/api/v1/agents"] = OK
    pi = agent()
    await pi.start()
    await pi.host.switch_dataset("other", synced=True)
    assert await pi.host.background.settle(Deadline.after(5.0))
    first, second = bodies(sharing, REGISTER)
    assert second == {**first, "session_id": "pi_s1__2"}


async def test_a_server_without_such_a_list_is_asked_once(agent, sharing):
    pi = agent()
    await pi.start()
    await pi.plugin._connection.open()
    assert len(bodies(sharing, REGISTER)) == 1
    await end(pi)
    assert bodies(sharing, UNREGISTER) == []


async def test_it_can_be_switched_off(agent, sharing):
    sharing.refusals["POST", "/api/v1/agents"] = OK
    pi = agent(COGNEE_AGENT_REGISTRATION="false")
    await pi.start()
    await end(pi)
    assert bodies(sharing, REGISTER) == bodies(sharing, UNREGISTER) == []


async def test_the_end_waits_half_a_second_at_most(agent, sharing, monkeypatch):
    sharing.refusals["POST", "/api/v1/agents"] = OK
    pi = agent()
    await pi.start()
    client = pi.host.services.client
    told: list[float] = []

    async def unregister(name, deadline):
        told.append(deadline.remaining())

    monkeypatch.setattr(client.accounts, "unregister", unregister)
    await end(pi)
    assert told[0] <= 0.5
