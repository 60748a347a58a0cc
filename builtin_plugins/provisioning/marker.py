"""How far the sharing of memory has got with a server, on disk.

``shared-memory.json`` has the form that pi-cognee reads and writes: ``{base_url, mode, reason,
tenant_id, role_id, parent_user_id, agent_id, role_member?, granted, canonical, updated_at,
plugin_version}``. It holds ids only, no key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import cognee_hooks
from cognee_hooks.services.answers import text_of
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.statefile import finite, read_object, write_json

OPT_OUT = "opt_out"
STRUCTURAL = frozenset(
    {"unsupported", "typed_dataset_unsupported", "not_tenant_owner", "tenantless_with_data"}
)
"""Reasons that stay as they are until somebody does something, or another version tries."""

_MAX_BYTES = 4_000_000
_MAX_REASON = 60
_OK = "ok"

Memo = Mapping[str, float | None]
"""What became of each dataset that was to be shared: None where it is, else when it was denied, in
epoch seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Where the sharing stands.

    Attributes:
        shared: Whether the agent's account shares its owner's datasets.
        reason: Why not, in a word, or "".
        tenant_id: Tenant of both accounts.
        role_id: Role through which the agent's account has its rights.
        parent_id: The owner's account.
        agent_id: The agent's account.
        granted: See `Memo`.
        canonical: UUIDs of the shared datasets, by name.
        version: Who wrote it.
    """

    shared: bool = False
    reason: str = ""
    tenant_id: str = ""
    role_id: str = ""
    parent_id: str = ""
    agent_id: str = ""
    granted: Memo = field(default_factory=dict)
    canonical: Mapping[str, str] = field(default_factory=dict)
    version: str = ""

    def wired_for(self, agent_id: str) -> bool:
        """Tell whether an account shares its owner's datasets."""
        return self.shared and self.agent_id == agent_id and bool(self.role_id and self.parent_id)


@dataclass(frozen=True, slots=True)
class MarkerFile:
    """Reads and writes it.

    Attributes:
        path: The file.
        base_url: The server.
        now: Epoch seconds.
    """

    path: Path
    base_url: str
    now: Callable[[], float]

    @property
    def version(self) -> str:
        """What this version signs with."""
        return f"cognee-hooks {cognee_hooks.__version__}"

    def read(self) -> Marker:
        """Return where the sharing stands with this server, as far as that is known."""
        record = read_object(self.path, max_bytes=_MAX_BYTES)
        if text_of(record, "base_url").rstrip("/") != self.base_url or not self.base_url:
            return Marker()
        granted, canonical = record.get("granted"), record.get("canonical")
        return Marker(
            shared=record.get("mode") == "shared",
            reason=text_of(record, "reason")[:_MAX_REASON],
            tenant_id=canonical_uuid(text_of(record, "tenant_id")),
            role_id=canonical_uuid(text_of(record, "role_id")),
            parent_id=canonical_uuid(text_of(record, "parent_user_id")),
            agent_id=canonical_uuid(text_of(record, "agent_id")),
            granted=_memo(granted) if isinstance(granted, Mapping) else {},
            canonical=_names(canonical) if isinstance(canonical, Mapping) else {},
            version=text_of(record, "plugin_version"),
        )

    def save(self, marker: Marker) -> None:
        """Keep where the sharing stands, signed with this version.

        Raises:
            OSError: It cannot be written.
        """
        record = {
            "base_url": self.base_url,
            "mode": "shared" if marker.shared else "separated",
            "reason": marker.reason,
            "tenant_id": marker.tenant_id,
            "role_id": marker.role_id,
            "parent_user_id": marker.parent_id,
            "agent_id": marker.agent_id,
            "role_member": marker.shared,
            "granted": {
                each: _OK if denied is None else {"denied_at": denied}
                for each, denied in marker.granted.items()
            },
            "canonical": dict(marker.canonical),
            "updated_at": datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="seconds"),
            "plugin_version": self.version,
        }
        write_json(self.path, record, indent=2)


def _memo(document: Mapping[str, object]) -> Memo:
    memo: dict[str, float | None] = {}
    for each, value in document.items():
        identifier = canonical_uuid(each)
        if identifier and value == _OK:
            memo[identifier] = None
        elif identifier and isinstance(value, Mapping):
            memo[identifier] = finite(value.get("denied_at"))
    return memo


def _names(document: Mapping[str, object]) -> Mapping[str, str]:
    found = {name: canonical_uuid(each) for name, each in document.items() if isinstance(each, str)}
    return {name: each for name, each in found.items() if each}
