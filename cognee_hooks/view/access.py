"""Who may see the page: one browser, after its person opened the address that was printed.

The address holds a token that works once and for minutes; in its place the browser gets a cookie.
Cookies know no ports: a browser sends them to whatever else listens on this machine, which may be
another user's. But it does so below their path only, and ours nobody can guess.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from enum import Enum, auto

TOKEN_SECONDS = 300.0
"""How long the printed address works."""
OPEN_PATH = "/open"
"""Path of the printed address, below the folder."""

_FOLDER_BYTES = 16


class Redeemed(Enum):
    """What became of a token that somebody came with."""

    ACCEPTED = auto()
    USED = auto()
    EXPIRED = auto()
    UNKNOWN = auto()


class PageAccess:
    """Holds token and cookie of one run.

    Args:
        port: The port that the page is served on.
        clock: Seconds, from any beginning.

    Attributes:
        hosts: What a request's ``Host`` may be; any other is a name that somebody else made lead
            here (DNS rebinding).
        origins: What its ``Origin`` may be.
        folder: Path below which everything is served, without a slash at its end.
        address: What to open, with the token.
        cookie_name: Name of the cookie; no other page's, so that two do not take each other's.
        cookie: Its value.
    """

    def __init__(self, port: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        self.folder = f"/{secrets.token_urlsafe(_FOLDER_BYTES)}"
        self.cookie_name = f"cognee-hooks-view-{port}"
        self.cookie = secrets.token_urlsafe()
        self._token = secrets.token_urlsafe()
        self.address = f"http://127.0.0.1:{port}{self.folder}{OPEN_PATH}?token={self._token}"
        self._used = False
        self._clock = clock
        self._until = clock() + TOKEN_SECONDS

    def redeem(self, token: str) -> Redeemed:
        """Take a token; it is used up by the first who comes with it in time."""
        if not _same(token, self._token):
            return Redeemed.UNKNOWN
        if self._used:
            return Redeemed.USED
        if self._clock() >= self._until:
            return Redeemed.EXPIRED
        self._used = True
        return Redeemed.ACCEPTED

    def inside(self, path: str) -> str | None:
        """Return a path as it is below the folder; None for one that is elsewhere."""
        folder, inside = path[: len(self.folder)], path[len(self.folder) :]
        return inside if inside.startswith("/") and _same(folder, self.folder) else None

    def admits(self, cookies: Mapping[str, str]) -> bool:
        """Tell whether a request comes from the browser that opened the address."""
        return _same(cookies.get(self.cookie_name, ""), self.cookie)


def _same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
