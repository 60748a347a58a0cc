"""The page's answers, behind its gate, to one browser."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from starlette.types import ASGIApp

from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.results import Act
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.view import app as module
from cognee_hooks.view.access import PageAccess, Redeemed
from cognee_hooks.view.app import create_app
from cognee_hooks.view.changes import MAX_LISTENERS, Changes
from cognee_hooks.view.gate import SECURITY_HEADERS
from tests.support.waiting import PATIENCE, until
from tests.unit.view.conftest import NOW

PORT = 4321
ADDRESS = f"http://127.0.0.1:{PORT}"


def client_of(app: ASGIApp, access: PageAccess, **options: object) -> httpx.AsyncClient:
    """A browser that asks for paths below the page's folder."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=f"{ADDRESS}{access.folder}", **options)


@pytest.fixture
def access() -> PageAccess:
    return PageAccess(PORT)


@pytest.fixture
def changes(sources) -> Changes:
    return Changes(sources.facts, every=0.001)


@pytest.fixture
def app(access, sources, changes) -> ASGIApp:
    return create_app(access, sources, changes, touched=lambda: None)


@pytest.fixture
async def stranger(app, access):
    """A browser that has not opened the address."""
    async with client_of(app, access) as client:
        yield client


@pytest.fixture
async def browser(stranger, access):
    """The browser that has opened the address."""
    await stranger.get(access.address)
    return stranger


# -- the address -------------------------------------------------------------------------------


async def test_the_address_gives_the_browser_its_cookie_and_leads_to_the_page(stranger, access):
    answer = await stranger.get(access.address, headers={"sec-fetch-site": "none"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{access.folder}/")
    path = f"path={access.folder.lower()}"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie == f"{access.cookie_name}={access.cookie}"
    assert {each.lower() for each in attributes} == {"httponly", "samesite=strict", path}
    assert (await stranger.get("/")).status_code == 200


async def test_where_another_page_leads_to_the_address_the_browser_goes_on_from_ours(
    stranger, access
):
    """Along a redirect it would not send a strict cookie."""
    headers = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    }
    answer = await stranger.get(access.address, headers=headers)
    assert (answer.status_code, access.cookie in answer.headers["set-cookie"]) == (200, True)
    assert f'<meta http-equiv="refresh" content="0; url={access.folder}/">' in answer.text


async def test_a_second_browser_is_told_that_the_address_was_used(browser, access, app):
    async with client_of(app, access) as second:
        answer = await second.get(access.address)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
        assert "used already" in answer.text
        assert "<code>cognee-hooks view</code>" in answer.text
        assert (await second.get("/")).status_code == 401


async def test_the_browser_that_opened_it_just_gets_to_the_page_again(browser, access):
    answer = await browser.get(access.address)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{access.folder}/")


@pytest.mark.parametrize("query", ["", "?token=", "?token=x", "?token=%00%ff", "?other=1"])
async def test_without_the_token_nothing_opens(stranger, access, query):
    answer = await stranger.get(f"/open{query}")
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert "This is not the address" in answer.text
    assert access.redeem(access.address.partition("=")[2]) is Redeemed.ACCEPTED


async def test_an_address_that_nobody_opened_in_time_says_so(sources, changes):
    moments = [0.0, 10_000.0]
    access = PageAccess(PORT, clock=lambda: moments.pop(0))
    app = create_app(access, sources, changes, touched=lambda: None)
    async with client_of(app, access) as client:
        answer = await client.get(access.address)
    assert answer.status_code == 403
    assert "within 5 minutes" in answer.text


# -- the page ----------------------------------------------------------------------------------


async def test_the_page_and_its_files_are_served(browser):
    page = await browser.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    script = await browser.get("/assets/view.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/../__init__.py",
        "/assets/..%2f__init__.py",
        "/assets/%2e%2e/access.py",
        "/assets//etc/passwd",
        "/assets/",
        "/assets",
        "/favicon.ico",
        "/index.html",
    ],
)
async def test_there_are_no_other_files(browser, path):
    answer = await browser.get(path)
    assert (answer.status_code, "Nothing here" in answer.text) == (404, True)


# -- what the page asks for --------------------------------------------------------------------


async def test_the_summary_is_told(browser, record, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    daemon.serves("pi_1")
    answer = await browser.get("/api/summary")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    document = answer.json()
    assert (document["version"], document["totals"]["sessions"]) == (VERSION, 2)


async def test_a_session_is_told_by_its_key(browser, record):
    record("claude_1", Act.CAPTURED, at=NOW)
    answer = await browser.get(f"/api/sessions/{session_file_stem('claude_1')}")
    assert answer.json()["session"]["session_id"] == "claude_1"
    assert {"session", "prompts", "acts", "redactions"} == set(answer.json())


@pytest.mark.parametrize("key", ["claude_1", "x" * 40, "%2e%2e%2fledger", "%00", "a%2fb"])
async def test_a_key_that_is_none_finds_nothing(browser, record, key):
    record("claude_1", Act.CAPTURED, at=NOW)
    answer = await browser.get(f"/api/sessions/{key}")
    assert answer.status_code == 404
    assert answer.json()["error"]


async def test_a_fault_of_ours_shows_nothing_and_is_protected(browser, sources, monkeypatch):
    def fail() -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(sources, "everything", fail)
    answer = await browser.get("/api/summary")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert answer.headers.items() >= SECURITY_HEADERS.items()


# -- events ------------------------------------------------------------------------------------


class Stream:
    """A page that listens; it reads as the browser does, and goes when it is told to."""

    def __init__(self, app: ASGIApp, access: PageAccess) -> None:
        self.status = 0
        self.text = ""
        self.headers: dict[bytes, bytes] = {}
        self._gone = asyncio.Event()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "GET",
            "path": f"{access.folder}/api/events",
            "raw_path": f"{access.folder}/api/events".encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [
                (b"host", f"127.0.0.1:{PORT}".encode()),
                (b"cookie", f"{access.cookie_name}={access.cookie}".encode()),
            ],
        }
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, object]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.text += message.get("body", b"").decode()

    @property
    def revisions(self) -> list[int]:
        lines = self.text.splitlines()
        return [json.loads(each[6:])["revision"] for each in lines if each.startswith("data: ")]

    async def leave(self) -> None:
        self._gone.set()
        await asyncio.wait_for(self.task, PATIENCE)


async def test_a_page_that_listens_is_told_where_it_stands_and_of_every_change(
    app, access, daemon, changes
):
    page = Stream(app, access)
    await until(lambda: page.revisions == [0])
    assert page.headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert page.text.startswith("retry: 2000\n\nevent: changed\ndata: ")
    asked = len(daemon.asked)
    await until(lambda: len(daemon.asked) > asked + 4)
    daemon.serves("pi_1")
    await until(lambda: page.revisions == [0, 1])
    await page.leave()
    assert not changes.full


async def test_a_silent_stream_says_that_it_still_stands(app, access, monkeypatch):
    monkeypatch.setattr(module, "COMMENT_SECONDS", 0.001)
    page = Stream(app, access)
    await until(lambda: "\n: still here\n\n" in page.text)
    await page.leave()


async def test_streams_end_when_the_server_does(app, access, changes):
    page = Stream(app, access)
    await until(lambda: page.revisions == [0])
    changes.close()
    await asyncio.wait_for(page.task, PATIENCE)


async def test_one_stream_too_many_is_refused_until_another_one_ends(app, access):
    pages = [Stream(app, access) for _ in range(MAX_LISTENERS)]
    await until(lambda: all(each.revisions for each in pages))
    late = Stream(app, access)
    await asyncio.wait_for(late.task, PATIENCE)
    assert (late.status, "Too many pages" in json.loads(late.text)["error"]) == (503, True)
    await pages.pop().leave()
    later = Stream(app, access)
    await until(lambda: later.revisions == [0])
    for each in (*pages, later):
        await each.leave()


async def test_the_daemon_is_left_alone_when_nobody_listens(app, access, daemon):
    page = Stream(app, access)
    await until(lambda: daemon.asked)
    await page.leave()
    asked = len(daemon.asked)
    await asyncio.sleep(0.1)
    assert len(daemon.asked) <= asked + 1  # the look that was under way
