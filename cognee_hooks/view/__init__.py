"""The local page of ``cognee-hooks view``: what memory does, live, in the person's own browser.

It only shows. It is served on loopback to the browser that opened the printed address, and to
nobody else; everything on it comes from ledgers, buffers and the daemon's answers, made safe.

Needs the extra ``embedded``; importing this package without it raises
:class:`~cognee_hooks.errors.UsageError` that says what to install.
"""

from __future__ import annotations

from cognee_hooks.errors import UsageError

try:
    import starlette  # noqa: F401 - asked for here so that the message below can be given
    import uvicorn  # noqa: F401 - same
except ImportError as error:
    raise UsageError(
        f"The page needs packages that are not installed (missing: {error.name}). "
        "Install them with: pip install 'cognee-hooks[embedded]'"
    ) from error

from cognee_hooks.view.server import serve

__all__ = ["serve"]
