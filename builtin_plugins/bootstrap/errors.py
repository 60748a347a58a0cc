"""What stops a local server from coming up."""

from __future__ import annotations

from cognee_hooks.errors import CogneeHooksError


class BootFailed(CogneeHooksError):
    """The server did not come up; the message says why and what to do."""
