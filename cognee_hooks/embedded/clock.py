"""Time stamps in the two forms of the cognee 1.6 HTTP contract."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Now, as rows carry it: UTC without saying so."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat()


def aware_now() -> str:
    """Now, as session entries carry it: with ``+00:00``."""
    return datetime.now(UTC).isoformat()
