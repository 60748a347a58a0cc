"""What ``cognee-hooks doctor`` says about accounts and sharing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.provisioning.account import problem_text
from builtin_plugins.provisioning.settings import IdentityPolicy, ProvisioningSettings
from builtin_plugins.provisioning.wiring import ROLE
from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import CheckResult, CheckStatus

if TYPE_CHECKING:
    from builtin_plugins.provisioning.account import AgentAccount, Standing
    from builtin_plugins.provisioning.marker import Marker
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.identities import IdentityRoutes

MARGIN_SECONDS = 0.3
"""Left of the time by the server, so that it is still told that it did not answer."""

_BAD = frozenset({"blocked", "principal_mismatch"})


async def rows(
    account: AgentAccount, settings: ProvisioningSettings, deadline: Deadline
) -> list[CheckResult]:
    """Return the rows.

    Args:
        account: Which account the agent speaks as.
        settings: The plugin's options.
        deadline: When to be done.
    """
    limit = deadline.sparing(MARGIN_SECONDS)
    standing = await account.standing(limit)
    active = standing.key is not None and account.usable(standing.key)
    memory = CheckResult(
        name="agent memory",
        status=CheckStatus.INFO,
        detail=memory_text(settings, account.markers.read(), active=active),
    )
    provisioning = CheckResult(
        name="provisioning",
        status=CheckStatus.INFO,
        detail=await provisioning_text(settings, account.owner, limit),
    )
    return [memory, provisioning, *_problem(settings, standing, account.keys.path.name)]


def memory_text(settings: ProvisioningSettings, marker: Marker, *, active: bool) -> str:
    """Say whose memory the agent has.

    Args:
        settings: The plugin's options.
        marker: Where the sharing stands.
        active: The agent speaks as an account of its own.
    """
    reason = marker.reason.replace("_", " ")
    if not settings.shared_memory:
        return "separated (opt-out)"
    if not active:
        return (
            f"principal (shared memory unavailable: {reason})"
            if reason
            else "principal (no agent identity)"
        )
    if marker.shared:
        return f"shared (role: {ROLE})"
    return f"separated ({reason or 'not wired yet'})"


async def provisioning_text(
    settings: ProvisioningSettings, owner: IdentityRoutes, deadline: Deadline
) -> str:
    """Say whether the server gives accounts to plugins."""
    if settings.identity is IdentityPolicy.DISABLED:
        return "disabled (COGNEE_PLUGIN_IDENTITY=false)"
    try:
        contract = await owner.contract(deadline)
    except ServerFailure as failure:
        # An answer, if only a no, is one of a server that announces nothing.
        known = failure.status is not None and not failure.outage
        return (
            "server does not support provisioning" if known else "not probed (server unreachable)"
        )
    if contract.provisioning:
        return "supported (create_only advertised)"
    return "server does not support provisioning"


def _problem(settings: ProvisioningSettings, standing: Standing, file: str) -> list[CheckResult]:
    if not standing.problem:
        return []
    wanted = settings.identity is IdentityPolicy.ENABLED
    return [
        CheckResult(
            name="agent account",
            status=CheckStatus.WARNING if wanted or standing.problem in _BAD else CheckStatus.INFO,
            detail=problem_text(standing.problem, file),
        )
    ]
