"""What a server's address tells, without asking the server."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def problem_of(url: str) -> str:
    """Say why no server can be asked at an address, or "".

    The address is not repeated: it may hold a password.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isascii() or any(each <= " " for each in url):
        return "the server URL is not an http or https address; check COGNEE_BASE_URL"
    if "@" in parts.netloc:
        return "the server URL holds a user name or password; put a key in COGNEE_API_KEY instead"
    if parts.query or parts.fragment:
        return "the server URL must end before '?' and '#'; check COGNEE_BASE_URL"
    return ""


def is_loopback(url: str) -> bool:
    """Tell whether a URL leads to this machine: ``localhost``, ``127.0.0.0/8`` or ``[::1]``."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bare(url: str) -> str:
    """Return an address without what may be secret in it: user, password, query, fragment.

    What is no address of a server is ``?``.
    """
    # Settings are read with this module where nothing is printed, and it loads redaction.
    from cognee_hooks.printable import one_line

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        return "?"
    host = f"[{host}]" if ":" in host else host
    return one_line(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")
