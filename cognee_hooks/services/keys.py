"""Which API key to use, and getting one from a server on this machine.

The order: the configured key; the owner key that some cognee plugin cached for exactly this URL; on
loopback, a key made for the default account (log in, take a key that the account has, else create
one) and cached. Every request runs inside the deadline of the call that needs the key.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.address import is_loopback
from cognee_hooks.services.answers import text_of
from cognee_hooks.services.retry import Backoff
from cognee_hooks.services.statefile import LockFile, read_object, write_json

CACHED = "cached owner key (~/.cognee-plugin/api_key.json)"
MINTED = "auto-minted owner key (~/.cognee-plugin/api_key.json)"
NOT_SET = "not set"
MINT_FAILED = "not set (local owner-key bootstrap failed — run /cognee-doctor)"

_KEY_LIMIT = 1024
_CACHE_BYTES = 64_000
_FIRST_RETRY = 2.0
_LONGEST_RETRY = 300.0
_JUST_MINTED = 60.0
"""Seconds. A key that is refused so soon after it was made would be refused again."""
_LOCK_SECONDS = 0.2
_OK = 200

_LOG = logging.getLogger("cognee_hooks.keys")
_looking: ContextVar[bool] = ContextVar("_looking", default=False)


@contextmanager
def only_looking() -> Iterator[None]:
    """Let no key be made, and none be forgotten, by what is done meanwhile in this context."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)


@dataclass(frozen=True, slots=True)
class Key:
    """An API key; its value appears in no representation.

    Attributes:
        value: The key.
        source: Where it comes from, for people.
    """

    value: str = field(repr=False)
    source: str = ""

    @property
    def sendable(self) -> bool:
        """Whether the value can stand in a header."""
        return _is_sendable(self.value)


class MintTransport(Protocol):
    """Sends a request that carries no API key."""

    async def __call__(
        self,
        method: str,
        path: str,
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        json: Mapping[str, str] | None = None,
    ) -> tuple[int, object]:
        """Return status and parsed body.

        Raises:
            ServerFailure: No answer came.
        """
        ...


class KeyChain:
    """Finds the key for one server.

    Args:
        base_url: The server, without a trailing slash.
        configured: The key from the settings, or None.
        cache_path: The owner-key cache that all cognee plugins share.
        email: Account to log in to on loopback.
        password: Its password.
        agent: Names a key that is made, ``<agent>-owner-bootstrap``.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        base_url: str,
        configured: Key | None,
        *,
        cache_path: Path,
        email: str,
        password: str,
        agent: str,
        clock: Clock = time.monotonic,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._configured = configured
        self._cache_path = cache_path
        self._email = email
        self._password = password
        self._key_name = f"{agent}-owner-bootstrap"
        self._clock = clock
        self._send: MintTransport | None = None
        self._current: Key | None = None
        self._minted_at: float | None = None
        self._problem = ""
        self._retry = Backoff(_FIRST_RETRY, _LONGEST_RETRY, clock)
        self._minting = asyncio.Lock()

    def mint_with(self, send: MintTransport) -> None:
        """Allow keys to be made, with this transport."""
        self._send = send

    @property
    def source(self) -> str:
        """Where the key in use comes from, for people."""
        known = self._configured or self._current
        if known is not None:
            return known.source
        return MINT_FAILED if self._problem else NOT_SET

    def known(self) -> Key | None:
        """Return the key to use as far as it is known without asking anybody."""
        return self._configured or self._current or self._from_cache()

    @property
    def problem(self) -> str:
        """Why no key could be made, in a sentence for people, or ""."""
        return self._problem

    async def key(self, deadline: Deadline) -> Key | None:
        """Return the key to use, or None where there is none.

        Args:
            deadline: Limit of everything that is done to get one.
        """
        found = self.known()
        if found is not None or _looking.get():
            return found
        if self._send is None or not self._retry.ready or not is_loopback(self._base_url):
            return None
        try:
            async with asyncio.timeout(deadline.remaining()), self._minting:
                # Another call, or another process, may have got one meanwhile.
                found = self._current or self._from_cache()
                if found is None and self._retry.ready:
                    found = await self._try_to_mint(self._send, deadline)
        except TimeoutError:
            self._failed("the server did not answer in time")
        return found

    async def rejected(self, key: Key) -> None:
        """Learn that the server refused a key with 401.

        A key that we found or made is forgotten, here and in the cache, and the next call makes
        another one, once. A configured key is the person's, and stays.
        """
        current = self._current
        if current is None or key.value != current.value or _looking.get():
            return
        self._current = None
        self._forget_cached(current.value)
        if self._minted_at is not None and self._clock() - self._minted_at < _JUST_MINTED:
            self._failed("the server refused the key that it had just given out")

    def server_ready(self) -> None:
        """Learn that a health probe succeeded: a mint that failed may be tried again at once."""
        self._retry.hurry()

    # -- cache -------------------------------------------------------------------------------------

    def _from_cache(self) -> Key | None:
        content = read_object(self._cache_path, max_bytes=_CACHE_BYTES, private=True)
        url = text_of(content, "base_url").strip().rstrip("/")
        value = text_of(content, "api_key").strip()
        # A cache that names no server must not hand its key to whichever we talk to.
        if not url or url != self._base_url or not _is_sendable(value):
            return None
        self._current = Key(value, CACHED)
        return self._current

    def _to_cache(self, value: str) -> None:
        stamp = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        document = {"base_url": self._base_url, "api_key": value, "updated_at": stamp}
        try:
            write_json(self._cache_path, document, indent=2)
        except OSError as error:
            _LOG.debug("owner key not cached: %s", type(error).__name__)

    def _forget_cached(self, value: str) -> None:
        lock = LockFile(self._cache_path.with_name(f"{self._cache_path.name}.lock"))
        with suppress(OSError), lock.holding(Deadline.after(_LOCK_SECONDS)):
            # Another process may have replaced it by a good one.
            if text_of(read_object(self._cache_path), "api_key").strip() == value:
                self._cache_path.unlink()

    # -- minting -----------------------------------------------------------------------------------

    async def _try_to_mint(self, send: MintTransport, deadline: Deadline) -> Key | None:
        try:
            value = await self._mint(send, deadline)
        except ServerFailure as failure:
            self._failed(f"the server did not answer ({failure.kind.value})")
            return None
        except _MintRefused as refusal:
            self._failed(str(refusal))
            return None
        self._retry.reset()
        self._problem = ""
        self._minted_at = self._clock()
        self._current = Key(value, MINTED)
        self._to_cache(value)
        return self._current

    async def _mint(self, send: MintTransport, deadline: Deadline) -> str:
        status, document = await send(
            "POST",
            "/api/v1/auth/login",
            deadline=deadline,
            form={"username": self._email, "password": self._password},
        )
        token = _field(document, "access_token") if status == _OK else ""
        if not token:
            raise _MintRefused(
                f"the server did not let {self._email} log in (HTTP {status}); set COGNEE_API_KEY, "
                "or COGNEE_USER_EMAIL and COGNEE_USER_PASSWORD"
            )
        # Servers take either; older ones know the cookie only.
        proof = {"Authorization": f"Bearer {token}", "Cookie": f"auth_token={token}"}
        status, document = await send(
            "GET", "/api/v1/auth/api-keys", deadline=deadline, headers=proof
        )
        if status == _OK and isinstance(document, list):
            # A server that keeps only hashes lists asterisks in the place of keys.
            existing = (_field(each, "key") for each in document)
            usable = next((value for value in existing if value), "")
            if usable:
                return usable
        return await self._create(send, deadline, proof)

    async def _create(
        self, send: MintTransport, deadline: Deadline, proof: Mapping[str, str]
    ) -> str:
        status, document = await send(
            "POST",
            "/api/v1/auth/api-keys",
            deadline=deadline,
            headers=proof,
            json={"name": self._key_name},
        )
        value = _field(document, "key") if status == _OK else ""
        if value:
            return value
        error = document.get("error") if isinstance(document, Mapping) else None
        if "maximum number" in (text_of(error, "message") if isinstance(error, Mapping) else ""):
            raise _MintRefused(
                f"the account {self._email} already has as many API keys as the server allows, and "
                "the server does not show them; delete one, or set COGNEE_API_KEY"
            )
        raise _MintRefused(f"the server made no API key (HTTP {status}); set COGNEE_API_KEY")

    def _failed(self, problem: str) -> None:
        self._problem = problem
        self._retry.failed()
        _LOG.debug("no owner key: %s", problem)


class _MintRefused(Exception):
    """The server answered, and the answer is no; the message is for people."""


def _field(document: object, name: str) -> str:
    """Return a credential in an answer, "" where it is absent, masked or cannot be sent."""
    value = text_of(document, name).strip() if isinstance(document, Mapping) else ""
    return value if _is_sendable(value) and "*" not in value else ""


def _is_sendable(value: str) -> bool:
    return 0 < len(value) <= _KEY_LIMIT and all("!" <= each <= "~" for each in value)
