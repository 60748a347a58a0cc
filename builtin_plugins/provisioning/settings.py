"""Options of provisioning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cognee_hooks import option
from cognee_hooks.configuration.values import FALSE_WORDS, TRUE_WORDS


class IdentityPolicy(StrEnum):
    """Whether the agent gets an account of its own."""

    AUTO = "auto"
    """Where it can share its owner's memory; otherwise the owner's key is used, in silence."""
    ENABLED = "true"
    """Wherever the server can make one; what is in the way is said."""
    DISABLED = "false"
    """Never, and one that is there is not used."""


def to_policy(raw: str) -> IdentityPolicy:
    """Parse a policy: ``auto``, or a switch; blank is ``auto``."""
    word = raw.strip().lower()
    if word in {"", IdentityPolicy.AUTO}:
        return IdentityPolicy.AUTO
    if word in TRUE_WORDS:
        return IdentityPolicy.ENABLED
    if word in FALSE_WORDS:
        return IdentityPolicy.DISABLED
    raise ValueError("must be auto, true, or false")


@dataclass(frozen=True)
class ProvisioningSettings:
    """What a user may choose about the agent's account; shared with the other cognee plugins."""

    identity: IdentityPolicy = option(
        default=IdentityPolicy.AUTO,
        env="COGNEE_PLUGIN_IDENTITY",
        parse=to_policy,
        help="An account of the agent's own: auto, true (say what is in the way) or false.",
    )
    shared_memory: bool = option(
        default=True,
        env="COGNEE_SHARED_AGENT_MEMORY",
        help="Share the owner's datasets with the agent's account; false has it leave them.",
    )
    register: bool = option(
        default=True,
        env="COGNEE_AGENT_REGISTRATION",
        help="Tell the server which agent a session belongs to, for as long as it lasts.",
    )
