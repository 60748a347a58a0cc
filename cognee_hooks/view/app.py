"""The application: the page's files, what its program asks for, and word of changes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.view import snapshot
from cognee_hooks.view.access import OPEN_PATH, TOKEN_SECONDS, PageAccess, Redeemed
from cognee_hooks.view.assets import PAGE, Asset, load_assets
from cognee_hooks.view.changes import Changes
from cognee_hooks.view.gate import PageGate
from cognee_hooks.view.pages import page, refusal
from cognee_hooks.view.sources import Sources

COMMENT_SECONDS = 15.0
"""How often a silent stream says that it still stands."""
RETRY_MS = 2000
"""How long a page waits before it listens again."""

_USED = (
    "It works once, so that nobody else can open the page with it later. If that was you, go back "
    "to the browser that you opened it in; otherwise somebody else on this machine did: end the "
    "program. To open the page here, start `cognee-hooks view` again."
)
_EXPIRED = (
    f"It was to be opened within {TOKEN_SECONDS / 60:.0f} minutes. Start `cognee-hooks view` again."
)
_UNKNOWN = "Open the whole address that `cognee-hooks view` printed last, or start it again."
_NOT_ACCEPTED = {
    Redeemed.USED: ("This address was used already", _USED),
    Redeemed.EXPIRED: ("This address works no more", _EXPIRED),
    Redeemed.UNKNOWN: ("This is not the address", _UNKNOWN),
}


def create_app(
    access: PageAccess, sources: Sources, changes: Changes, *, touched: Callable[[], None]
) -> ASGIApp:
    """The page as an ASGI application.

    Args:
        access: Who may see it.
        sources: Reads what it shows.
        changes: Tells when something has changed.
        touched: Called with each request that is let through.
    """
    answers = _Answers(access, sources, changes)
    app = Starlette(
        routes=[
            Route(OPEN_PATH, answers.opened),
            Route("/", answers.index),
            Route("/assets/{name}", answers.asset),
            Route("/api/summary", answers.summary),
            Route("/api/sessions/{key}", answers.session),
            Route("/api/events", answers.events),
        ],
        exception_handlers={HTTPException: _http_error},
    )
    return PageGate(app, access, touched=touched)


class _Answers:
    """Answers requests that have passed the gate."""

    def __init__(self, access: PageAccess, sources: Sources, changes: Changes) -> None:
        self._access = access
        self._sources = sources
        self._changes = changes
        self._assets = load_assets()

    async def opened(self, request: Request) -> Response:
        if self._access.admits(request.cookies):
            return RedirectResponse(_index(self._access), 303)
        redeemed = self._access.redeem(request.query_params.get("token", ""))
        if redeemed is not Redeemed.ACCEPTED:
            return refusal(request.scope["path"], 403, *_NOT_ACCEPTED[redeemed])
        return _welcome(request, self._access)

    async def index(self, _request: Request) -> Response:
        return _file(self._assets[PAGE])

    async def asset(self, request: Request) -> Response:
        found = self._assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return _file(found)

    async def summary(self, _request: Request) -> Response:
        seen = await run_in_threadpool(self._sources.everything)
        return JSONResponse(snapshot.summary(seen, VERSION))

    async def session(self, request: Request) -> Response:
        key = request.path_params["key"]
        seen = await run_in_threadpool(
            self._sources.conversation, lambda each: snapshot.key_of(each) == key
        )
        if seen is None:
            return JSONResponse({"error": "There is no such session, or no longer."}, 404)
        return JSONResponse(snapshot.detail(seen))

    async def events(self, _request: Request) -> Response:
        if self._changes.full:
            return JSONResponse({"error": "Too many pages listen at once; close some."}, 503)
        return _EventStream(self._changes)


class _EventStream(StreamingResponse):
    """Server-sent events for one page."""

    def __init__(self, changes: Changes) -> None:
        super().__init__(_events(changes), media_type="text/event-stream")
        self._changes = changes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._changes.listening():
            await super().__call__(scope, receive, send)


async def _events(changes: Changes) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MS}\n\n"
    async for revision in changes.revisions(COMMENT_SECONDS):
        if revision is None:
            yield ": still here\n\n"
        else:
            yield f"event: changed\ndata: {json.dumps({'revision': revision})}\n\n"


def _welcome(request: Request, access: PageAccess) -> Response:
    """Give the browser its cookie, and lead it to the page."""
    response: Response
    if request.headers.get("sec-fetch-site", "none") == "none":
        response = RedirectResponse(_index(access), 303)
    else:
        # Along a redirect, a request still counts as the other site's, and gets no strict cookie.
        response = HTMLResponse(page("Opening", "The page opens.", forward=_index(access)))
    response.set_cookie(
        access.cookie_name, access.cookie, path=access.folder, httponly=True, samesite="strict"
    )
    return response


def _index(access: PageAccess) -> str:
    return f"{access.folder}/"


def _file(asset: Asset) -> Response:
    return Response(asset.content, headers={"content-type": asset.media_type})


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return refusal(request.scope["path"], status, "Nothing here", "There is no such page.")
