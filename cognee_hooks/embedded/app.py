"""The application: which route is answered by which handler, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cognee_hooks.embedded.call import Handler, RouteCall, read_form, read_json_body
from cognee_hooks.embedded.errors import ApiError, detail
from cognee_hooks.embedded.gate import Gate
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.openapi import openapi_document
from cognee_hooks.embedded.routes import auth, datasets, documents, recall, sessions

MAX_BODY = 25_000_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One route.

    Attributes:
        method: HTTP method.
        path: Path with parameters in braces.
        handler: What answers it, in a worker thread.
        reads: What the request carries.
        public: Whether it needs no credentials.
    """

    method: str
    path: str
    handler: Handler
    reads: Literal["nothing", "json", "form"] = "nothing"
    public: bool = False


_DATASET = "/api/v1/datasets/{dataset_id}"
_DOCUMENT = _DATASET + "/data/{data_id}"

ENDPOINTS: Sequence[Endpoint] = (
    Endpoint("GET", "/health", auth.health, public=True),
    Endpoint("POST", "/api/v1/auth/login", auth.login, "form", public=True),
    Endpoint("GET", "/api/v1/auth/me", auth.me),
    Endpoint("GET", "/api/v1/users/me", auth.user),
    Endpoint("GET", "/api/v1/auth/api-keys", auth.list_keys),
    Endpoint("POST", "/api/v1/auth/api-keys", auth.create_key, "json"),
    Endpoint("DELETE", "/api/v1/auth/api-keys/{key_id}", auth.delete_key),
    Endpoint("POST", "/api/v1/remember/entry", sessions.remember_entry, "json"),
    Endpoint("GET", "/api/v1/sessions", sessions.list_sessions),
    Endpoint("GET", "/api/v1/sessions/{session_id}", sessions.session_detail),
    Endpoint("POST", "/api/v1/improve", sessions.run_improve, "json"),
    Endpoint("GET", "/api/v1/activity/pipeline-runs", sessions.list_runs),
    Endpoint("POST", "/api/v1/recall", recall.recall, "json"),
    Endpoint("POST", "/api/v1/remember", documents.remember, "form"),
    Endpoint("PATCH", "/api/v1/update", documents.update, "form"),
    Endpoint("POST", "/api/v1/forget", documents.forget, "json"),
    Endpoint("POST", "/api/v1/cognify", documents.cognify, "json"),
    Endpoint("GET", "/api/v1/datasets", datasets.list_datasets),
    Endpoint("POST", "/api/v1/datasets", datasets.create_dataset, "json"),
    Endpoint("GET", "/api/v1/datasets/status", datasets.status),
    Endpoint("DELETE", _DATASET, datasets.delete_dataset),
    Endpoint("GET", _DATASET + "/data", datasets.list_documents),
    Endpoint("GET", _DATASET + "/data/count", datasets.count_documents),
    Endpoint("DELETE", _DOCUMENT, datasets.delete_document),
    Endpoint("GET", _DOCUMENT + "/raw", datasets.raw_document),
)


class _Endpoints:
    """Binds endpoints to one memory."""

    def __init__(self, memory: EmbeddedMemory, *, auth: bool, max_body: int) -> None:
        self._memory = memory
        self._auth = auth
        self._max_body = max_body

    def route(self, endpoint: Endpoint) -> Route:
        async def answer(request: Request) -> Response:
            try:
                if not endpoint.public:
                    await run_in_threadpool(self._authorise, request)
                call = await self._read(endpoint, request)
                result = await run_in_threadpool(endpoint.handler, self._memory, call)
            except ApiError as error:
                return JSONResponse(error.body, error.status)
            except RecursionError:
                nested = detail(400, "There was an error parsing the body")
                return JSONResponse(nested.body, nested.status)
            return result if isinstance(result, Response) else JSONResponse(result)

        return Route(endpoint.path, answer, methods=[endpoint.method])

    async def _read(self, endpoint: Endpoint, request: Request) -> RouteCall:
        parameters = (request.path_params, request.query_params)
        match endpoint.reads:
            case "json":
                return RouteCall(*parameters, body=await read_json_body(request))
            case "form":
                return RouteCall(*parameters, form=await read_form(request, self._max_body))
            case _:
                return RouteCall(*parameters)

    def _authorise(self, request: Request) -> None:
        """Any valid credential wins; without authentication a wrong one is accepted, too."""
        accounts = self._memory.accounts
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if not self._auth or (
            accounts.accepts_key(request.headers.get("x-api-key", ""))
            or (scheme.lower() == "bearer" and accounts.accepts_token(bearer))
            or accounts.accepts_token(request.cookies.get("auth_token", ""))
        ):
            return
        raise detail(
            401,
            "Authentication required (auth posture: one account). Send an API key in X-Api-Key, or "
            "log in at /api/v1/auth/login.",
        )


def create_app(
    memory: EmbeddedMemory, *, auth: bool = True, max_body: int = MAX_BODY, any_host: bool = False
) -> Starlette:
    """The memory server as an ASGI application.

    Args:
        memory: The opened stores.
        auth: Ask for credentials. Without, everybody is the account's owner, as with cognee's
            access control switched off.
        max_body: Most bytes of a request's body; a longer one is answered with 413.
        any_host: Accept requests for any host name, not only for this machine's loopback names.
    """
    endpoints = _Endpoints(memory, auth=auth, max_body=max_body)
    routes = [endpoints.route(endpoint) for endpoint in ENDPOINTS]
    described = openapi_document([(endpoint.method, endpoint.path) for endpoint in ENDPOINTS])

    async def openapi(_request: Request) -> Response:
        return JSONResponse(described)

    return Starlette(
        routes=[*routes, Route("/openapi.json", openapi)],
        middleware=[Middleware(Gate, max_body=max_body, any_host=any_host)],
        exception_handlers={HTTPException: _http_error},
    )


async def _http_error(_request: Request, error: Exception) -> Response:
    """Unknown routes and methods, in the JSON form of the contract."""
    status: Any = getattr(error, "status_code", 500)
    return JSONResponse({"detail": getattr(error, "detail", "")}, status)
