"""The key of the agent's own account, on disk.

``agent-key.json`` has the form that pi-cognee reads and writes: ``{base_url, api_key, agent_id,
plugin_key, principal_fingerprint, updated_at, blocked?}``, readable by its owner only. It counts
for the server that it names and for the account whose key made it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cognee_hooks.services.answers import text_of
from cognee_hooks.services.keys import Key
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.statefile import read_object, update_json, write_json

if TYPE_CHECKING:
    from cognee_hooks.services.accounts import Provisioned

_MAX_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class AgentKey:
    """An account of the agent's own.

    Attributes:
        agent_id: Its UUID.
        api_key: Its key.
        fingerprint: Digest of the key of the account that it was made for.
        blocked: The server refused its key.
    """

    agent_id: str
    api_key: str = field(repr=False)
    fingerprint: str
    blocked: bool = False

    def made_by(self, principal: str) -> bool:
        """Tell whether it was made with this key."""
        return bool(self.fingerprint) and self.fingerprint == fingerprint(principal)


@dataclass(frozen=True, slots=True)
class AgentKeyFile:
    """Reads and writes it.

    Attributes:
        path: The file.
        base_url: The server.
        plugin: Key of the plugin at the server.
    """

    path: Path
    base_url: str
    plugin: str

    @classmethod
    def of(cls, folder: Path, base_url: str, plugin: str) -> Self:
        """Return the file for a server, in the folder with an agent's state.

        The account at one server must not be overwritten by that at another: its key is shown once.
        """
        path = folder / "agent-key.json"
        named = text_of(read_object(path, max_bytes=_MAX_BYTES, private=True), "base_url")
        if named and named.rstrip("/") != base_url:
            path = folder / f"agent-key-{hashlib.sha256(base_url.encode()).hexdigest()[:12]}.json"
        return cls(path, base_url, plugin)

    def read(self) -> AgentKey | None:
        """Return the account for this server; None where there is none that can be used."""
        record = read_object(self.path, max_bytes=_MAX_BYTES, private=True)
        key = Key(text_of(record, "api_key").strip())
        agent_id = canonical_uuid(text_of(record, "agent_id"))
        # A file that names no server must not hand its key to whichever we talk to.
        if text_of(record, "base_url").rstrip("/") != self.base_url or not self.base_url:
            return None
        if not (key.sendable and agent_id):
            return None
        made_by = text_of(record, "principal_fingerprint")
        return AgentKey(agent_id, key.value, made_by, bool(record.get("blocked")))

    def save(self, made: Provisioned, principal: str) -> AgentKey:
        """Keep an account that was just made.

        Raises:
            OSError: It cannot be written.
        """
        record = {
            "base_url": self.base_url,
            "api_key": made.api_key,
            "agent_id": made.agent_id,
            "plugin_key": self.plugin,
            "principal_fingerprint": fingerprint(principal),
            "updated_at": _stamp(),
        }
        write_json(self.path, record, indent=2)
        return AgentKey(made.agent_id, made.api_key, fingerprint(principal))

    def block(self, api_key: str) -> None:
        """Note that the server refused a key, if it is still the one in the file.

        Raises:
            OSError: It cannot be written.
            TimeoutError: Another process writes.
        """

        def blocked(record: dict[str, Any]) -> Mapping[str, Any] | None:
            if record.get("api_key") != api_key:
                return None
            return {**record, "blocked": True, "updated_at": _stamp()}

        update_json(self.path, blocked)

    def remove(self) -> None:
        """Forget the account.

        Raises:
            OSError: The file cannot be removed.
        """
        self.path.unlink(missing_ok=True)


def fingerprint(principal: str) -> str:
    """Return the digest that an account's key leaves; "" for no key."""
    return hashlib.sha256(principal.encode()).hexdigest() if principal else ""


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
