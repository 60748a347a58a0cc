"""The cognee server, over HTTP: connections, keys, limits and failures.

The only module that imports httpx, and only when a request is made. What holds for every call:

* One absolute deadline bounds all of it: finding a key, connecting, and the last byte of the body.
* Redirects are not followed and proxies from the environment are not used, since the key would go
  along. Cookies are not kept, since a login would stand in for a key that is no longer good.
* Bodies are read up to a limit, counted after decompression.
* Every failure is a `ServerFailure`; nothing in it, and nothing in a log, holds a key or a payload.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.address import problem_of
from cognee_hooks.services.answers import DatasetRef, Health
from cognee_hooks.services.api import ServerApi
from cognee_hooks.services.failures import failure_of
from cognee_hooks.services.identities import IdentityRoutes
from cognee_hooks.services.keys import Key, KeyChain
from cognee_hooks.services.keysource import KeySource, SharingKeySource, key_of
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name
from cognee_hooks.services.wire import SMALL_BODY, BodyReader, ServerAnswer, ServerCall, encoded

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 3.0
"""Servers close idle connections after 5 s; ours are given up before, so that they do not race."""

_MAX_CONNECTIONS = 20
_FIXED_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "cognee-hooks",
}
_SENDING = ".send_request_headers.started"
_CONNECTING = "connection.connect_tcp.started"

_LOG = logging.getLogger("cognee_hooks.client")
_logging_in: ContextVar[bool] = ContextVar("_logging_in", default=False)


class _NoLoginCookie(logging.Filter):
    """Keeps the answer to our login out of the connection pool's own debug log.

    The pool logs the headers of every answer, and this one's set a cookie that is a credential.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record may be logged."""
        return not (_logging_in.get() and "receive_response_headers" in record.getMessage())


@dataclass(slots=True)
class _RequestProgress:
    """How far a request got, told by the connection pool."""

    connected: bool = False
    sent: bool = False

    async def __call__(self, event: str, _info: Mapping[str, Any]) -> None:
        """Take note of one step."""
        self.connected = self.connected or event == _CONNECTING
        self.sent = self.sent or event.endswith(_SENDING)

    @property
    def reused(self) -> bool:
        """Whether the request went out on a connection that was there before."""
        return self.sent and not self.connected


class CogneeClient(ServerApi):
    """Talks to one server.

    Connections are made when they are needed and kept for three seconds. Entries are written on a
    connection of their own: on a kept one the server's closing could cross the request, and nobody
    would know whether the entry was stored.

    Args:
        base_url: The server, ``http`` or ``https``; a path in it is kept.
        keys: Where the API key comes from. A `KeyChain` also gets the means to make one.
        transport: Replaces the network, for tests and dry runs.
    """

    def __init__(
        self,
        base_url: str,
        keys: KeySource,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__()
        self.base_url = base_url.rstrip("/")
        self._url_problem = problem_of(self.base_url)
        self._keys = keys
        self._chain = keys if isinstance(keys, KeyChain) else None
        self._sharing: SharingKeySource | None = None
        self._transport = transport
        self._login_filter = _NoLoginCookie()
        self._kept: httpx.AsyncClient | None = None
        self._single: httpx.AsyncClient | None = None
        if self._chain is not None:
            self._chain.mint_with(self._without_key)

    def use_credentials(self, keys: SharingKeySource) -> None:
        """Ask somebody else for the key, and for what names mean with it, from now on."""
        self._keys = self._sharing = keys

    def identities(self, keys: KeySource) -> IdentityRoutes:
        """Return the routes about accounts and rights, with keys of the caller's choice.

        Args:
            keys: Says which account speaks.
        """
        return IdentityRoutes(partial(self._ask_as, keys))

    @property
    def shared_names(self) -> Mapping[str, str]:
        """See `ServerApi.shared_names`."""
        return self._sharing.shared_names if self._sharing is not None else {}

    @property
    def shared_ids(self) -> Collection[str]:
        """See `ServerApi.shared_ids`."""
        return self._sharing.shared_ids if self._sharing is not None else ()

    async def aclose(self) -> None:
        """Close all connections; a later call opens new ones."""
        logging.getLogger("httpcore.http11").removeFilter(self._login_filter)
        clients = (self._kept, self._single)
        self._kept = self._single = None
        for client in clients:
            if client is not None:
                await client.aclose()

    async def health(self, deadline: Deadline) -> Health:
        """See `ServerApi.health`; a server that is ready also gets another try at making a key."""
        found = await super().health(deadline)
        if found.ready and self._chain is not None:
            self._chain.server_ready()
        return found

    async def look_up(
        self, path: str, deadline: Deadline, *, accept: str, max_bytes: int
    ) -> ServerAnswer:
        """Read something that needs no key, such as a page of a package index.

        Args:
            path: Path below the base URL, already quoted.
            deadline: When to give up.
            accept: Media type to ask for.
            max_bytes: Bytes of body that are read.

        Returns:
            Whatever is answered.

        Raises:
            ServerFailure: No complete answer came.
        """
        headers = {"Accept": accept}
        call = ServerCall(method="GET", path=path, headers=headers, limit=max_bytes)
        return await self._exchange(call, deadline)

    # -- keys --------------------------------------------------------------------------------------

    async def _addressed(
        self, dataset: DatasetRef, deadline: Deadline, *, write: bool
    ) -> DatasetRef:
        if self._sharing is None or dataset.id or canonical_uuid(dataset.name):
            return dataset
        name = safe_dataset_name(dataset.name)
        found = await self._sharing.address(name, deadline, write=write)
        return DatasetRef(id=found) if found else dataset

    async def _ask(self, call: ServerCall, deadline: Deadline) -> ServerAnswer:
        return await self._ask_as(self._keys, call, deadline)

    async def _ask_as(self, keys: KeySource, call: ServerCall, deadline: Deadline) -> ServerAnswer:
        key = await key_of(keys, deadline)
        answer = await self._exchange(call, deadline, key)
        if answer.status == 401 and key is not None:  # noqa: PLR2004
            await keys.rejected(key)
            # Nothing was done yet, so the request may go out again, if there is another key.
            other = await key_of(keys, deadline)
            if other is not None and other.value != key.value:
                key = other
                answer = await self._exchange(call, deadline, key)
        if answer.ok:
            return answer
        raise failure_of(
            answer.status,
            answer.document,
            headers=answer.headers,
            empty_is_404=call.empty_is_404,
            hide=key.value if key else "",
        )

    async def _without_key(
        self,
        method: str,
        path: str,
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        json: Mapping[str, str] | None = None,
    ) -> tuple[int, object]:
        call = ServerCall(
            method=method,
            path=path,
            headers=headers or {},
            form=form,
            json=json,
            repeatable=method == "GET",
            limit=SMALL_BODY,
        )
        marked = _logging_in.set(True)
        try:
            answer = await self._exchange(call, deadline)
        finally:
            _logging_in.reset(marked)
        return answer.status, answer.document

    # -- the wire ----------------------------------------------------------------------------------

    async def _exchange(
        self, call: ServerCall, deadline: Deadline, key: Key | None = None
    ) -> ServerAnswer:
        """Send a request and return whatever is answered.

        Raises:
            ServerFailure: No complete answer came, or none that we read.
        """
        if self._url_problem:
            raise ServerFailure(FailureKind.MISCONFIGURED, self._url_problem, sent=False)
        content, headers = encoded(call)
        if key is not None:
            headers["X-Api-Key"] = key.value
        started = time.monotonic()
        progress = _RequestProgress()
        outcome = await self._attempt(call, content, headers, deadline, progress)
        if isinstance(outcome, ServerFailure) and call.repeatable and _was_stale(outcome, progress):
            outcome = await self._attempt(call, content, headers, deadline, _RequestProgress())
        spent = (time.monotonic() - started) * 1000
        told = outcome.kind.value if isinstance(outcome, ServerFailure) else outcome.status
        _LOG.debug("%s %s: %s in %.0f ms", call.method, call.path.split("?")[0], told, spent)
        if isinstance(outcome, ServerFailure):
            raise outcome
        return outcome

    async def _attempt(
        self,
        call: ServerCall,
        content: bytes | None,
        headers: Mapping[str, str],
        deadline: Deadline,
        progress: _RequestProgress,
    ) -> ServerAnswer | ServerFailure:
        """Send once. Failures are returned, so that they carry no frame and no request along."""
        import httpx

        left = deadline.remaining()
        if not left:
            return ServerFailure(FailureKind.TIMED_OUT, "no time was left to ask", sent=False)
        try:
            client = self._client(repeatable=call.repeatable)
            request = client.build_request(
                call.method,
                self.base_url + call.path,
                content=content,
                headers=headers,
                timeout=httpx.Timeout(None, connect=min(CONNECT_SECONDS, left)),
                extensions={"trace": progress},
            )
            async with asyncio.timeout(left):
                return await _receive(client, request, call.limit)
        except TimeoutError:
            detail = "no complete answer in time"
            return ServerFailure(FailureKind.TIMED_OUT, detail, sent=progress.sent)
        except ServerFailure as failure:
            return failure
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
            return _transport_failure(error, sent=progress.sent)

    def _client(self, *, repeatable: bool) -> httpx.AsyncClient:
        if repeatable:
            self._kept = self._kept or self._new_client(_MAX_CONNECTIONS)
            return self._kept
        self._single = self._single or self._new_client(0)
        return self._single

    def _new_client(self, kept: int) -> httpx.AsyncClient:
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx

        transport = self._transport
        if transport is None:
            logging.getLogger("httpcore.http11").addFilter(self._login_filter)
            transport = httpx.AsyncHTTPTransport(
                # Loading the certificates takes longer than most requests on loopback.
                verify=_tls() if self.base_url.startswith("https:") else False,
                trust_env=False,
                limits=httpx.Limits(
                    max_connections=_MAX_CONNECTIONS,
                    max_keepalive_connections=kept,
                    keepalive_expiry=KEEP_ALIVE_SECONDS,
                ),
            )
        return httpx.AsyncClient(
            transport=transport,
            headers=_FIXED_HEADERS,
            trust_env=False,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )


async def _receive(client: httpx.AsyncClient, request: httpx.Request, limit: int) -> ServerAnswer:
    response = await client.send(request, stream=True)
    try:
        headers = {name.lower(): value for name, value in response.headers.items()}
        body = BodyReader(headers, limit)
        if response.is_stream_consumed:  # a substitute for the network may give it whole
            body.feed(response.content)
        else:
            async for chunk in response.aiter_raw():
                body.feed(chunk)
    finally:
        # A body that was not read to its end takes its connection with it.
        await response.aclose()
    return ServerAnswer(response.status_code, headers, body.document(headers), body.content)


def _was_stale(failure: ServerFailure, progress: _RequestProgress) -> bool:
    """Whether the server closed a kept connection just when we used it."""
    return failure.kind is FailureKind.LOST and progress.reused


def _tls() -> ssl.SSLContext:
    import httpx

    context = httpx.create_ssl_context()
    # Companies add their own authorities to the system's store; the bundled list lacks them.
    context.load_default_certs()
    return context


def _transport_failure(error: Exception, *, sent: bool) -> ServerFailure:
    """Return what an exception of the HTTP library means; its text is not repeated."""
    import httpx

    causes = list(_causes(error))
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
        kind, detail = FailureKind.UNREACHABLE, "no connection could be made"
        if any(isinstance(each, ConnectionRefusedError) for each in causes):
            kind, detail = FailureKind.REFUSED, "nothing listens at the server's address"
        elif any(isinstance(each, socket.gaierror) for each in causes):
            detail = "the server's host name is not known"
        elif any(isinstance(each, ssl.SSLError) for each in causes):
            detail = "the server's certificate or TLS handshake is not acceptable"
        return ServerFailure(kind, detail, sent=False)
    # Of TLS errors in the middle of an answer the library lets the original through.
    if isinstance(error, (httpx.TransportError, OSError)):
        return ServerFailure(FailureKind.LOST, "the connection broke", sent=sent)
    detail = f"the request could not be made ({type(error).__name__}); check the server URL"
    return ServerFailure(FailureKind.MISCONFIGURED, detail, sent=sent)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Go through an exception, its causes, and the members of groups among them."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
