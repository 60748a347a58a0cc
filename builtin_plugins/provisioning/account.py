"""Which account the agent speaks as: its own where it has one that may be used."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builtin_plugins.provisioning.agent_key import AgentKey, AgentKeyFile
from builtin_plugins.provisioning.marker import MarkerFile
from builtin_plugins.provisioning.settings import IdentityPolicy, ProvisioningSettings
from builtin_plugins.provisioning.sharing import Sharing
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import AT_THE_SERVER, Identity
from cognee_hooks.services.keys import Key
from cognee_hooks.services.keysource import FixedKey

if TYPE_CHECKING:
    from cognee_hooks.services.identities import IdentityRoutes

SOURCE = "the agent's own account"
_STATE = "account"


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is.

    Attributes:
        key: The agent's account, where it may be used.
        problem: Why it may not, or "": ``not_connected``, ``blocked``, ``principal_mismatch``.
    """

    key: AgentKey | None = None
    problem: str = ""


class AgentAccount:
    """Finds the account, and stands by it for the length of a conversation.

    Args:
        context: The plugin's context.
        settings: The plugin's options.

    Attributes:
        keys: The account's key on disk.
        markers: Where the sharing stands, on disk.
        sharing: What names of datasets mean while it shares its owner's.
    """

    def __init__(self, context: PluginContext, settings: ProvisioningSettings) -> None:
        self._context = context
        self._settings = settings
        services = context.services
        folder, url = services.paths.state_dir, services.mode.url
        self.keys = AgentKeyFile.of(folder, url, services.paths.agent)
        self.markers = MarkerFile(folder / "shared-memory.json", url, context.now)
        self.sharing = Sharing(self.owner, self.markers, context.clock)
        self._given: AgentKey | None = None

    @property
    def owner(self) -> IdentityRoutes:
        """The routes, as the owner."""
        return self._context.services.client.identities(self._context.services.keys)

    def speaking(self, key: AgentKey) -> IdentityRoutes:
        """Return the routes, as the agent's account."""
        return self._context.services.client.identities(FixedKey(Key(key.api_key, SOURCE)))

    async def standing(self, deadline: Deadline) -> Standing:
        """Say what there is, without asking the server about it.

        Args:
            deadline: Until when the owner's key is looked for.
        """
        if self._settings.identity is IdentityPolicy.DISABLED:
            return Standing()
        key = self.keys.read()
        if key is None:
            asked_for = self._settings.identity is IdentityPolicy.ENABLED
            return Standing(problem="not_connected" if asked_for else "")
        if key.blocked:
            return Standing(problem="blocked")
        principal = await self._context.services.keys.key(deadline)
        if principal is None or not key.made_by(principal.value):
            return Standing(problem="principal_mismatch")
        return Standing(key)

    async def resolve(self, url: str, deadline: Deadline) -> Identity | None:
        """Return the account's key, or None where the owner's is to be used.

        Args:
            url: The server.
            deadline: When to be done.
        """
        if url != self.keys.base_url:
            return None
        key = (await self.standing(deadline)).key
        if key is None or not self.usable(key):
            return None
        if self._given == key and await self.refused(key, deadline):
            return None
        if not self._stands_by(key):
            return None
        self._given = key
        marker = self.markers.read()
        shares = self._settings.shared_memory and marker.wired_for(key.agent_id)
        if shares:
            self.sharing.use(marker)
        return Identity(
            api_key=key.api_key,
            source=f"{SOURCE} ({self.keys.path.name})",
            datasets=self.sharing if shares else None,
        )

    def usable(self, key: AgentKey) -> bool:
        """Tell whether the account sees what it should.

        One that should share its owner's memory and does not sees nothing of it; where nobody asked
        for an account of its own, the owner's key is the better one.
        """
        if self._settings.identity is IdentityPolicy.ENABLED or not self._settings.shared_memory:
            return True
        return self.markers.read().wired_for(key.agent_id)

    def changed(self) -> None:
        """Have the key asked for anew, since what there is has changed."""
        self._given = None
        self._context.identity_changed()

    async def refused(self, key: AgentKey, deadline: Deadline) -> bool:
        """Ask whether the server takes the account's key no longer, and block it then.

        That something is forbidden to the account, or that the server does not answer, is no
        refusal of its key.
        """
        try:
            await self.speaking(key).whoami(deadline)
        except ServerFailure as failure:
            if failure.kind is FailureKind.AUTH:
                self._block(key)
                return True
        return False

    # -- inside ----------------------------------------------------------------------------------

    def _stands_by(self, key: AgentKey) -> bool:
        """Tell whether this conversation may speak as the account.

        A session belongs to the account that stored its entries: with another one in the middle,
        the server would hold two of them, and neither would be turned into memory as a whole.
        """
        state = self._context.state
        if state.read().get(_STATE) == key.agent_id:
            return True
        totals = self._context.totals()
        if any(totals.get(act) for act in AT_THE_SERVER):
            return False
        with suppress(OSError):
            state.write({_STATE: key.agent_id})
        return True

    def _block(self, key: AgentKey) -> None:
        self._context.log.warning("plugin_identity_rejected_fallback agent=%s", key.agent_id)
        with suppress(OSError):
            self.keys.block(key.api_key)
        self._context.say(f"Cognee memory: {problem_text('blocked', self.keys.path.name)}")


def problem_text(problem: str, file: str) -> str:
    """Return what keeps the agent's own account from being used, for people.

    Args:
        problem: See `Standing`.
        file: Name of the file with its key.
    """
    texts = {
        "not_connected": "the agent has no account of its own yet; your own key is used",
        "blocked": (
            f"the key of the agent's own account was rejected by the server; your own key is used. "
            f"To connect it anew, disconnect the plugin at the server and delete {file}"
        ),
        "principal_mismatch": (
            f"the agent's own account was made for another or unverified principal, so it is not "
            f"used; your own key is. Delete {file} if that is for good"
        ),
    }
    return texts.get(problem, problem.replace("_", " "))
