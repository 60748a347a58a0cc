"""A small memory server on SQLite full-text search, for work without a model key.

It answers the part of the cognee 1.6 HTTP contract that this package uses, as version 1.6.5 does,
with the same shapes, errors and authentication, so that a client cannot tell the difference where
it matters. Contract tests run the same cases against it and against real servers.

Deliberate differences:

* It is **lexical**: recall finds shared words (stemmed, by prefix, inside CamelCase names), not
  meaning, and an unrelated query answers ``[]`` where cognee answers with its nearest passages.
* Stored session entries are found by graph recall at once, no improve needed.
* There is one account. No code graph, no tenants, no model calls.

Needs the extra ``embedded``; importing this package without it raises
:class:`~cognee_hooks.errors.UsageError` that says what to install.
"""

from __future__ import annotations

from cognee_hooks.errors import UsageError

try:
    import python_multipart  # noqa: F401 - starlette needs it only when a form arrives: too late
    import starlette  # noqa: F401 - asked for here so that the message below can be given
    import uvicorn  # noqa: F401 - same
except ImportError as error:
    raise UsageError(
        "The embedded memory server needs packages that are not installed "
        f"(missing: {error.name}). Install them with: pip install 'cognee-hooks[embedded]'"
    ) from error

from cognee_hooks.embedded.server import EmbeddedServer, serve

__all__ = ["EmbeddedServer", "serve"]
