"""Every call, against every way in which a server can fail."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time

import httpx
import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.client import CogneeClient
from tests.support import fake_server as fake
from tests.support.redacted import redacted
from tests.support.waiting import PATIENCE

K = FailureKind
BUDGET = 0.6
"""Seconds of a call that has to be given up; others have all the time that they need."""
HERE = DatasetRef("agent_sessions")
QA = {"type": "qa", "question": "q", "answer": "a", "context": ""}


def _soon(seconds=PATIENCE):
    return Deadline.after(seconds)


CALLS = {
    "health": lambda client, deadline: client.health(deadline),
    "recall": lambda client, deadline: client.recall(
        redacted("what"), dataset=HERE, deadline=deadline
    ),
    "store_entry": lambda client, deadline: client.store_entry(
        redacted(QA), session_id="s1", dataset=HERE, deadline=deadline
    ),
    "session": lambda client, deadline: client.session("s1", deadline),
    "datasets": lambda client, deadline: client.datasets(deadline),
    "ensure_dataset": lambda client, deadline: client.ensure_dataset("d", deadline),
    "whoami": lambda client, deadline: client.whoami(deadline),
}

FAILURES = {
    "stalls": (fake.stall, K.TIMED_OUT),
    "half a header": (fake.half_a_header, K.TIMED_OUT),
    "drips": (fake.drip, K.TIMED_OUT),
    "endless headers": (fake.endless_headers, K.LOST),
    "half a body": (fake.half_a_body, K.LOST),
    "closes": (fake.close_at_once, K.LOST),
    "resets": (fake.reset, K.LOST),
    "speaks no http": (fake.no_http, K.LOST),
    "too short a length": (fake.short_length, K.MISCONFIGURED),
    "200 MB": (fake.huge, K.MISCONFIGURED),
    "bomb": (fake.bomb(), K.MISCONFIGURED),
    "page": (fake.body(b"<html>Please log in</html>"), K.MISCONFIGURED),
    "page of another kind": (fake.body(b"hello", kind="text/plain"), K.MISCONFIGURED),
    "nothing": (fake.body(b"", code=204), K.MISCONFIGURED),
    "other json": (fake.status(200, "fine"), K.MISCONFIGURED),
    "depth bomb": (fake.body(b"[" * 100_000, kind="application/json"), K.MISCONFIGURED),
    "redirect": (fake.redirect("http://127.0.0.1:9/x"), K.MISCONFIGURED),
    "401": (fake.status(401, {"detail": "Unauthorized"}), K.AUTH),
    "403": (fake.status(403, {"detail": "no [PermissionDeniedError]"}), K.FORBIDDEN),
    "404": (fake.status(404, {"detail": "Not Found"}), K.NOT_FOUND),
    "429": (fake.status(429, {"detail": "slow down"}, retry_after="7"), K.RATE_LIMITED),
    "500": (fake.body(b"Internal Server Error", 500, "text/plain"), K.SERVER_ERROR),
    "502": (fake.body(b"<html>Bad Gateway</html>", 502), K.SERVER_ERROR),
    "503": (fake.body(b"<html>Unavailable</html>", 503), K.UNAVAILABLE),
    "504": (fake.body(b"", 504), K.SERVER_ERROR),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("call", CALLS)
async def test_every_call_ends_inside_its_deadline_and_says_what_happened(
    server, client, caplog, call, failure
):
    caplog.set_level(logging.DEBUG)
    behaviour, kind = FAILURES[failure]
    server.always(behaviour)
    began = time.monotonic()
    with pytest.raises(ServerFailure) as caught:
        await CALLS[call](client, _soon(BUDGET if kind is K.TIMED_OUT else PATIENCE))
    assert time.monotonic() - began < PATIENCE
    assert caught.value.kind is kind
    assert caught.value.retry_after == (7.0 if failure == "429" else None)
    assert "\n" not in str(caught.value)
    assert fake.KEY not in str(caught.value) + repr(caught.value) + caplog.text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    repeated = {"closes", "resets", "speaks no http", "endless headers", "half a body"}
    assert len(server.requests) == 1 or failure in repeated


@pytest.mark.parametrize("call", CALLS)
async def test_where_nothing_listens_nothing_was_sent(server, client_of, call):
    port = server.port
    await server.__aexit__(None, None, None)
    began = time.monotonic()
    with pytest.raises(ServerFailure) as caught:
        await CALLS[call](client_of(f"http://127.0.0.1:{port}"), _soon())
    assert caught.value.kind is K.REFUSED
    assert not caught.value.ambiguous
    assert time.monotonic() - began < PATIENCE
    await server.__aenter__()


@pytest.mark.parametrize("call", CALLS)
async def test_where_the_deadline_has_passed_nothing_is_sent(server, client, call):
    with pytest.raises(ServerFailure) as caught:
        await CALLS[call](client, Deadline.after(0.0))
    assert caught.value.kind is K.TIMED_OUT
    assert not caught.value.ambiguous
    assert not server.requests


async def test_a_host_that_nobody_knows_is_unreachable(client_of, monkeypatch):
    async def unknown(*args, **kwargs):
        raise __import__("socket").gaierror(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    with pytest.raises(ServerFailure, match="host name") as caught:
        await client_of("http://cognee.invalid").health(_soon())
    assert caught.value.kind is K.UNREACHABLE
    assert not caught.value.ambiguous


async def test_a_server_without_tls_is_unreachable_over_https(server, client_of):
    client = client_of(server.url.replace("http:", "https:"))
    with pytest.raises(ServerFailure, match="TLS") as caught:
        await client.health(_soon())
    assert caught.value.kind is K.UNREACHABLE
    assert not caught.value.ambiguous


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ConnectError("no route"), K.UNREACHABLE),
        (httpx.ConnectTimeout("slow"), K.UNREACHABLE),
        (httpx.PoolTimeout("full"), K.UNREACHABLE),
        (httpx.ReadError("broken"), K.LOST),
        (ssl.SSLError("bad record"), K.LOST),
        (httpx.DecodingError("odd"), K.MISCONFIGURED),
        (UnicodeError("label too long"), K.MISCONFIGURED),
    ],
)
async def test_every_error_of_the_http_library_has_a_meaning(client_of, error, kind):
    def broken(request):
        raise error

    client = client_of("http://localhost:1", transport=httpx.MockTransport(broken))
    with pytest.raises(ServerFailure) as caught:
        await client.whoami(_soon())
    assert caught.value.kind is kind
    assert not caught.value.ambiguous


async def test_a_refusal_is_found_among_the_attempts_at_several_addresses(client_of):
    def broken(request):
        refused = ConnectionRefusedError(111, "refused")
        refused.__context__ = refused.__cause__ = OSError("loop")
        refused.__cause__.__context__ = refused
        group = ExceptionGroup("all failed", [OSError("first"), refused])
        raise httpx.ConnectError("failed") from group

    client = client_of("http://localhost:1", transport=httpx.MockTransport(broken))
    with pytest.raises(ServerFailure) as caught:
        await client.whoami(_soon())
    assert caught.value.kind is K.REFUSED


async def test_a_host_name_that_cannot_be_is_explained(client_of):
    with pytest.raises(ServerFailure, match="host name") as caught:
        await client_of(f"http://{'a' * 70}.example").whoami(_soon())
    assert not caught.value.ambiguous


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8011",
        "ftp://localhost",
        "http://",
        "http://[::1",
        "http://localhost:99999",
        "http://localhost:0",
        "http://user:se" + "cret@localhost",
        "http://localhost?x=1",
        "http://localhost#x",
        "http://bücher.example",
        "http://local host",
    ],
)
async def test_an_address_that_cannot_be_used_is_explained(client_of, url):
    with pytest.raises(ServerFailure, match="the server URL") as caught:
        await client_of(url).health(_soon())
    assert caught.value.kind is K.MISCONFIGURED
    assert not caught.value.sent
    assert "se" + "cret" not in str(caught.value)


async def test_w10_a_key_never_follows_a_redirect(server, client):
    async with fake.FakeServer() as elsewhere:
        for code in (301, 302, 303, 307, 308):
            server.always(fake.redirect(f"{elsewhere.url}/steal?token=abc", code))
            for call in CALLS.values():
                with pytest.raises(ServerFailure, match="redirect to http://127") as caught:
                    await call(client, _soon())
                assert caught.value.kind is K.MISCONFIGURED
                assert "abc" not in str(caught.value)
        assert not elsewhere.requests


async def test_a_proxy_of_the_environment_does_not_get_the_key(server, client_of, monkeypatch):
    async with fake.FakeServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await client_of(server.url).whoami(_soon())
        assert not proxy.requests


async def test_a_key_that_the_server_repeats_is_hidden(server, client):
    server.always(fake.status(500, {"error": f"bad key {fake.KEY} [{fake.KEY}]"}))
    with pytest.raises(ServerFailure) as caught:
        await client.whoami(_soon())
    assert fake.KEY not in str(caught.value)
    assert fake.KEY not in caught.value.name


async def test_a_body_that_is_too_long_takes_its_connection_with_it(server, client):
    server.on("/api/v1/datasets", fake.huge)
    with pytest.raises(ServerFailure):
        await client.datasets(_soon())
    await client.whoami(_soon())
    assert server.requests[-1].connection == 2


async def test_a_cancelled_call_leaves_the_client_usable(server, client):
    server.on("/api/v1/datasets", fake.stall)
    for _ in range(30):
        task = asyncio.ensure_future(client.datasets(_soon()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await client.whoami(_soon())


# -- P04


@pytest.mark.parametrize("path", ["every route", "login only", "recall only"])
async def test_p04_w9_with_slow_routes_and_no_key_a_recall_stays_inside_its_budget(
    server, client_of, path
):
    client = client_of(server.url, None)
    if path == "every route":
        server.always(fake.slow(2 * PATIENCE))
    else:
        route = "/api/v1/auth/login" if path == "login only" else "/api/v1/recall"
        server.on(route, fake.slow(2 * PATIENCE))
    from cognee_hooks.services.health import HealthMonitor

    began = time.monotonic()
    deadline = _soon(1.0)
    monitor = HealthMonitor(client)
    await monitor.wait_ready(deadline.within(0.4))
    with pytest.raises(ServerFailure) as caught:
        await client.recall(redacted("what"), dataset=HERE, deadline=deadline)
    assert caught.value.kind is K.TIMED_OUT
    assert time.monotonic() - began < PATIENCE


async def test_a_key_source_that_ignores_its_deadline_does_not_hold_the_call(server):
    class Slow:
        async def key(self, deadline):
            await asyncio.sleep(60)

        async def rejected(self, key):
            raise AssertionError

    client = CogneeClient(server.url, Slow())
    began = time.monotonic()
    with pytest.raises(ServerFailure) as caught:
        await client.whoami(_soon(0.2))
    assert time.monotonic() - began < PATIENCE
    assert not caught.value.sent
    assert not server.requests
