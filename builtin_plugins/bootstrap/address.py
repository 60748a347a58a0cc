"""Where a server may be started: on the default address of this machine, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cognee_hooks.services.address import is_loopback

if TYPE_CHECKING:
    from cognee_hooks.core_settings import Mode

FIRST_PORT = 1024
"""Ports below it belong to the system."""
_FALLBACK_PORT = 8011


def port_of(url: str) -> int:
    """Return the port of an address; the default one's where it cannot be read."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return _FALLBACK_PORT
    if not parts.hostname:
        return _FALLBACK_PORT
    return port or (443 if parts.scheme == "https" else 80)


def why_not(mode: Mode) -> str:
    """Return why no server is started at an address, in one sentence; "" where one may be.

    An address that the person named has a server of theirs behind it, also while that is down:
    another server in its place would take the memory into a database that nobody reads.
    """
    if mode.missing_base_url or mode.backend != "local":
        return (
            f"Memory is kept by a server that you chose ({mode.reason}), so none is started here."
        )
    if mode.explicit_url:
        return (
            f"You named the server's address, {mode.url}, so the server there is yours and none is "
            "started in its place. Start yours, or unset COGNEE_LOCAL_API_URL."
        )
    if not is_loopback(mode.url):
        return f"{mode.url} is not on this machine, so no server is started."
    if urlsplit(mode.url).scheme != "http" or port_of(mode.url) < FIRST_PORT:
        return f"{mode.url} is no address for a local server: http and a port from 1024 on is."
    return ""
