from __future__ import annotations

import asyncio
import random

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.services import health as module
from cognee_hooks.services.answers import Account, Health
from cognee_hooks.services.health import HealthMonitor
from tests.support.waiting import PATIENCE, until

K = FailureKind


class Client:
    """A server as the monitor sees it: each question takes the next answer, the last one stays."""

    def __init__(self):
        self.answers = [Health("1.6.5", ready=True)]
        self.account = Account("u", "e", "", "")
        self.single = False
        self.asked = 0
        self.delay = 0.0

    async def health(self, deadline):
        self.asked += 1
        await asyncio.sleep(self.delay)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return _give(answer)

    async def whoami(self, deadline):
        return _give(self.account)

    async def single_user(self, deadline):
        return _give(self.single)


def _give(answer):
    if isinstance(answer, FailureKind):
        raise ServerFailure(answer, "why")
    return answer


@pytest.fixture
def client():
    return Client()


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_INTERVAL", 0.02)
    monkeypatch.setattr(module, "_PAUSE_BETWEEN", 0.01)


@pytest.fixture
def monitor(client):
    return HealthMonitor(client, interval=0.05, source=random.Random(1))


def _soon(seconds=PATIENCE):
    return Deadline.after(seconds)


async def test_a_good_answer_makes_it_ok(monitor):
    assert monitor.state == "unknown"
    assert not monitor.healthy
    assert await monitor.probe(_soon()) == "ok"
    assert monitor.healthy
    assert (monitor.version, monitor.detail) == ("1.6.5", "")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (K.REFUSED, "offline"),
        (K.UNREACHABLE, "offline"),
        (K.TIMED_OUT, "offline"),
        (K.LOST, "offline"),
        (K.AUTH, "auth"),
        (K.SERVER_ERROR, "server-error"),
        (K.MISCONFIGURED, "server-error"),
        (K.NOT_FOUND, "server-error"),
        (Health("1", ready=False), "server-error"),
    ],
)
async def test_w46_anything_else_is_a_state_with_a_reason(client, monitor, answer, state):
    client.answers = [answer]
    assert await monitor.probe(_soon()) == state
    assert monitor.detail
    assert client.asked == 2


async def test_a_server_that_is_slow_once_is_not_called_down(client, monitor):
    client.answers = [K.TIMED_OUT, Health("1.6.5", ready=True)]
    changes = []
    monitor.subscribe(changes.append)
    assert await monitor.probe(_soon()) == "ok"
    assert [change.current for change in changes] == ["ok"]


async def test_probes_at_the_same_time_ask_once(client, monitor):
    client.delay = 0.02
    assert set(await asyncio.gather(*(monitor.probe(_soon()) for _ in range(5)))) == {"ok"}
    assert client.asked == 1


async def test_a_probe_ends_at_its_deadline(client, monitor):
    client.delay = 60
    loop = asyncio.get_running_loop()
    began = loop.time()
    first = asyncio.ensure_future(monitor.probe(_soon(1.0)))
    await asyncio.sleep(0)
    assert await monitor.probe(_soon(0.05)) == "unknown"
    assert await first == "offline"
    assert loop.time() - began < PATIENCE


# -- what recalls and writes tell (vectors F)


@pytest.mark.parametrize(
    ("kind", "healthy", "state"),
    [
        (K.AUTH, True, "auth"),
        (K.FORBIDDEN, True, "ok"),
        (K.SERVER_ERROR, False, "server-error"),
        (K.UNAVAILABLE, False, "server-error"),
        (K.MISCONFIGURED, False, "server-error"),
        (K.TIMED_OUT, True, "ok"),
        (K.LOST, True, "ok"),
        (K.UNREACHABLE, False, "offline"),
        (K.REFUSED, False, "offline"),
        (K.REJECTED, True, "ok"),
        (K.RATE_LIMITED, True, "ok"),
        (K.NOT_FOUND, True, "ok"),
        (K.NO_MEMORY, True, "ok"),
        (K.MODEL_DOWN, True, "ok"),
        (K.NEEDS_USER, True, "ok"),
    ],
)
def test_w7_w8_only_what_is_about_the_connection_changes_its_state(monitor, kind, healthy, state):
    monitor.note(None)
    monitor.note(ServerFailure(kind, "why"))
    assert (monitor.healthy, monitor.state) == (healthy, state)


def test_a_success_clears_a_refused_key(monitor):
    monitor.note(ServerFailure(K.AUTH))
    monitor.note(None)
    assert monitor.state == "ok"


def test_w7_a_server_that_asks_for_a_pause_gets_it(client):
    now = [0.0]
    monitor = HealthMonitor(client, clock=lambda: now[0])
    monitor.note(ServerFailure(K.RATE_LIMITED, retry_after=30))
    monitor.note(ServerFailure(K.RATE_LIMITED, retry_after=5))
    assert monitor.retry_in == 30
    now[0] = 31
    assert monitor.retry_in == 0


def test_subscribers_hear_of_changes_only(monitor):
    changes = []
    monitor.subscribe(changes.append)
    monitor.note(ServerFailure(K.REFUSED, "nothing listens"))
    monitor.note(ServerFailure(K.REFUSED, "nothing listens"))
    monitor.note(None)
    assert changes == [
        ServerStateChanged(previous="unknown", current="offline", detail="nothing listens"),
        ServerStateChanged(previous="offline", current="ok"),
    ]


def test_who_has_heard_enough_hears_nothing_more(monitor):
    changes = []
    monitor.subscribe(changes.append)
    monitor.unsubscribe(changes.append)
    monitor.unsubscribe(changes.append)
    monitor.note(None)
    assert changes == []


async def test_a_probe_alone_does_not_make_a_refused_key_good(client, monitor):
    monitor.note(ServerFailure(K.AUTH))
    client.account = K.AUTH
    assert await monitor.probe(_soon()) == "auth"
    client.account = Account("u", "e", "", "")
    assert await monitor.probe(_soon()) == "ok"


# -- waiting


async def test_w6_a_prompt_before_the_first_probe_waits_for_it(client, monitor):
    client.delay = 0.05
    loop = asyncio.ensure_future(monitor.run())
    await asyncio.sleep(0)
    assert await monitor.wait_ready(_soon())
    assert client.asked == 1
    monitor.stop()
    await loop


async def test_w6_it_waits_no_longer_than_it_was_told(client, monitor):
    client.delay = 60
    loop = asyncio.ensure_future(monitor.run())
    await asyncio.sleep(0)
    assert not await monitor.wait_ready(_soon(0.05))
    assert monitor.state == "unknown"
    monitor.stop()
    await loop


async def test_w6_without_a_loop_it_asks_itself(client, monitor):
    assert await monitor.wait_ready(_soon())
    assert await monitor.wait_ready(_soon())
    assert client.asked == 1


# -- the loop


async def test_w2_the_loop_probes_again_after_a_later_outage(client, monitor):
    changes = []
    monitor.subscribe(lambda change: changes.append(change.current))
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.state == "ok")
    asked = client.asked
    await asyncio.sleep(0.2)
    assert client.asked == asked
    for _ in range(2):
        client.answers = [K.REFUSED]
        monitor.note(ServerFailure(K.REFUSED))
        asked = client.asked
        await until(lambda asked=asked: client.asked > asked + 3)
        client.answers = [Health("1.6.5", ready=True)]
        await until(lambda: monitor.state == "ok")
    monitor.stop()
    await loop
    assert changes == ["ok", "offline", "ok", "offline", "ok"]


async def test_w2_the_loop_probes_while_something_waits_and_says_when_it_may_go(client, monitor):
    waiting = [True]
    ready = []

    def go():
        ready.append(1)
        waiting[0] = len(ready) < 3

    loop = asyncio.ensure_future(monitor.run(pending=lambda: waiting[0], ready=go))
    await until(lambda: len(ready) == 3)
    asked = client.asked
    await asyncio.sleep(0.15)
    assert client.asked == asked
    monitor.stop()
    await loop


async def test_a_suspicious_failure_is_looked_into_at_once(client, monitor):
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.state == "ok")
    client.answers = [K.REFUSED]
    monitor.note(ServerFailure(K.LOST))
    await until(lambda: monitor.state == "offline")
    monitor.stop()
    await loop


async def test_a_pause_that_the_server_asked_for_holds_the_loop(client, monitor):
    client.answers = [K.SERVER_ERROR]
    monitor.note(ServerFailure(K.UNAVAILABLE, retry_after=60))
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: client.asked == 2)
    await asyncio.sleep(0.2)
    assert client.asked == 2
    monitor.stop()
    await loop


@pytest.mark.parametrize("delay", [0.0, 60.0], ids=["at rest", "in a probe"])
async def test_the_loop_ends_at_once_when_stopped(client, monitor, delay):
    client.delay = delay
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: client.asked if delay else monitor.healthy)
    monitor.stop()
    async with asyncio.timeout(PATIENCE):
        await loop


async def test_the_loop_can_be_cancelled_and_run_again(client, monitor):
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.state == "ok")
    loop.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loop
    monitor.note(ServerFailure(K.REFUSED))
    again = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.state == "ok")
    monitor.stop()
    await again


async def test_the_loop_finds_out_once_whether_access_control_is_off(client, monitor):
    client.single = True
    assert monitor.single_user is None
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.single_user is True)
    monitor.stop()
    await loop
    client.single = K.LOST
    assert await monitor.detect_single_user(_soon()) is True


async def test_where_access_control_cannot_be_told_it_stays_unknown(client, monitor):
    client.single = K.LOST
    assert await monitor.detect_single_user(_soon()) is None


async def test_somebody_who_would_like_to_use_the_server_gets_a_probe_soon(client, monitor):
    loop = asyncio.ensure_future(monitor.run())
    await until(lambda: monitor.state == "ok")
    asked = client.asked
    monitor.probe_soon()
    await until(lambda: client.asked > asked)
    monitor.stop()
    await loop
