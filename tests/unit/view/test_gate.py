"""Each request here fails for one reason only, beside one that is let through."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from cognee_hooks.view.access import PageAccess
from cognee_hooks.view.gate import SECURITY_HEADERS, PageGate

PORT = 4321
ADDRESS = f"http://127.0.0.1:{PORT}"


class Guarded:
    """A gate with an application behind it that answers everything."""

    def __init__(self) -> None:
        self.access = PageAccess(PORT)
        self.served: list[str] = []
        self.touches = 0
        self.gate = PageGate(self._answer, self.access, touched=self._touched)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.served.append(scope["path"])
        await PlainTextResponse("secret")(scope, receive, send)

    def _touched(self) -> None:
        self.touches += 1

    async def ask(
        self,
        path: str = "/api/summary",
        *,
        folder: str | None = None,
        method: str = "GET",
        cookie: bool = True,
        **headers: str,
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie:
            sent["cookie"] = f"{self.access.cookie_name}={self.access.cookie}"
        transport = httpx.ASGITransport(self.gate)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
            below = self.access.folder if folder is None else folder
            return await client.request(method, f"{below}{path}", headers=sent)


@pytest.fixture
def guarded() -> Guarded:
    return Guarded()


async def test_the_pages_own_request_is_let_through(guarded):
    answer = await guarded.ask(sec_fetch_site="same-origin", origin=ADDRESS)
    assert (answer.status_code, answer.text) == (200, "secret")
    assert (guarded.touches, guarded.served) == (1, ["/api/summary"])


@pytest.mark.parametrize("folder", ["", "/", "/x", "//", f"/{'A' * 22}", "/%00"])
@pytest.mark.parametrize("path", ["/", "/api/summary", "/open"])
async def test_nothing_is_served_elsewhere_than_below_the_folder(guarded, folder, path):
    """Whoever else got the cookie would still have to know where the page is."""
    assert (await guarded.ask(path, folder=folder)).status_code == 401
    assert (await guarded.ask(path, folder=f"{guarded.access.folder}x")).status_code == 401
    assert (await guarded.ask("", folder=guarded.access.folder)).status_code == 401
    assert (guarded.served, guarded.touches) == ([], 0)


@pytest.mark.parametrize("site", ["none", "same-origin"])
async def test_what_a_person_typed_and_what_the_page_asks_is_not_foreign(guarded, site):
    assert (await guarded.ask(sec_fetch_site=site)).status_code == 200


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LocalHost:{PORT}"])
async def test_it_is_served_under_the_names_of_this_machine(guarded, host):
    assert (await guarded.ask(host=host)).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{PORT + 1}",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost:{PORT}.evil.example",
        f"user@127.0.0.1:{PORT}",
        f"[::1]:{PORT}",
        f"127.0.0.1:{PORT}, evil.example",
        "[",
    ],
)
async def test_a_name_that_somebody_made_lead_here_is_refused(guarded, host):
    answer = await guarded.ask(host=host)
    assert answer.status_code == 403
    assert "another name" in answer.json()["error"]
    assert not guarded.served


@given(host=st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0")))
async def test_no_other_host_is_served_and_none_breaks_the_gate(host):
    guarded = Guarded()
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"{guarded.access.folder}/",
        "query_string": b"",
        "headers": [
            (b"host", host.encode("latin-1")),
            (b"cookie", f"{guarded.access.cookie_name}={guarded.access.cookie}".encode()),
        ],
    }
    statuses: list[int] = []

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await guarded.gate(scope, None, send)
    assert statuses == [200 if host.lower() in guarded.access.hosts else 403]


async def test_two_hosts_are_none(guarded):
    access = guarded.access
    headers = [
        ("host", f"127.0.0.1:{PORT}"),
        ("host", "evil.example"),
        ("cookie", f"{access.cookie_name}={access.cookie}"),
    ]
    transport = httpx.ASGITransport(guarded.gate)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
        assert (await client.get(f"{access.folder}/", headers=headers)).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"])
async def test_there_is_nothing_but_reading(guarded, method):
    answer = await guarded.ask(method=method)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert not guarded.served


@pytest.mark.parametrize("path", ["/", "/assets/view.js", "/api/summary", "/api/events", "/open"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin"])
async def test_another_sites_requests_are_refused_even_with_the_cookie(guarded, path, site):
    """Other ports of this machine are the same site, and get the cookie sent along."""
    answer = await guarded.ask(path, sec_fetch_site=site, sec_fetch_mode="no-cors")
    assert answer.status_code == 403
    assert not guarded.served


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:80", ""],
)
async def test_another_origin_is_refused_where_the_browser_tells_no_site(guarded, origin):
    assert (await guarded.ask(origin=origin)).status_code == 403
    assert (await guarded.ask("/open", origin=origin)).status_code == 403
    assert not guarded.served


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_page_may_lead_to_the_address_but_not_load_it(guarded, site):
    leads = {"sec_fetch_site": site, "sec_fetch_mode": "navigate"}
    assert (await guarded.ask("/open", sec_fetch_dest="document", **leads)).status_code == 200
    assert (await guarded.ask("/open", sec_fetch_dest="iframe", **leads)).status_code == 403
    assert (await guarded.ask("/", sec_fetch_dest="document", **leads)).status_code == 403


@pytest.mark.parametrize("path", ["/api/summary", "/api/sessions/x", "/api/events", "/api/none"])
async def test_without_the_cookie_a_program_gets_nothing(guarded, path):
    answer = await guarded.ask(path, cookie=False)
    assert answer.status_code == 401
    assert "cognee-hooks view" in answer.json()["error"]
    assert (guarded.served, guarded.touches) == ([], 0)


@pytest.mark.parametrize("path", ["/", "/assets/view.js", "/elsewhere"])
async def test_without_the_cookie_a_person_is_told_what_to_do(guarded, path):
    answer = await guarded.ask(path, cookie=False)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<code>cognee-hooks view</code>" in answer.text
    assert not guarded.served


async def test_the_cookie_of_another_run_is_none(guarded):
    guarded.access = PageAccess(PORT)
    assert (await guarded.ask()).status_code == 401


async def test_the_address_needs_no_cookie(guarded):
    assert (await guarded.ask("/open", cookie=False)).status_code == 200


@pytest.mark.parametrize("refused", [False, True])
async def test_every_answer_is_protected(guarded, refused):
    answer = await guarded.ask(cookie=not refused)
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert (
        SECURITY_HEADERS.items()
        >= {
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }.items()
    )
    assert "camera=()" in answer.headers["permissions-policy"]


@pytest.mark.parametrize("path", ["", "*", "x", "http://evil.example/"])
async def test_a_path_of_another_form_is_nowhere(guarded, path):
    statuses: list[int] = []

    async def send(message: dict[str, object]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    headers = [(b"host", f"127.0.0.1:{PORT}".encode())]
    await guarded.gate(
        {"type": "http", "method": "GET", "path": path, "headers": headers}, None, send
    )
    assert statuses == [401]


async def test_what_is_no_http_request_gets_no_answer(guarded):
    async def never(*_: object) -> None:
        pytest.fail("it was answered")

    await guarded.gate({"type": "websocket", "path": "/"}, never, never)
    assert not guarded.served
