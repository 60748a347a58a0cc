"""Shows who may do what with datasets, and shares one with another account by hand.

A right that is given directly is enough to share a dataset on every cognee 1.6 server: no tenant
and no role. It is given and taken as the owner, whatever account the agent speaks as.
"""

from __future__ import annotations

from dataclasses import dataclass

from builtin_plugins.provisioning.account import AgentAccount
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, ServerFailure, UsageError
from cognee_hooks.printable import brief
from cognee_hooks.services.answers import Dataset
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.identities import READ, WRITE
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.rights import Rights

USAGE = (
    "Usage: cognee-access [grant|revoke <dataset> <account id> [--read|--write] [--yes]]. Without "
    "a word it lists what this session may do. An account's id is in its `GET /api/v1/users/me`."
)
MOST_ROWS = 50
_SECONDS = 10.0
_ASK_SECONDS = 30.0
_FLAGS = frozenset({"--read", "--write", "--yes"})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a person wants to change.

    Attributes:
        grant: Whether the rights are given; otherwise they are taken.
        dataset: A name or UUID.
        account: UUID of the account or role.
        rights: Which rights.
        sure: The person has said so already.
    """

    grant: bool
    dataset: str
    account: str
    rights: tuple[str, ...]
    sure: bool


class Access:
    """Lists and changes.

    Args:
        context: The plugin's context.
        account: Which account the agent speaks as.
    """

    def __init__(self, context: PluginContext, account: AgentAccount) -> None:
        self._context = context
        self._account = account

    async def command(self, text: str) -> str:
        """Do what a person typed.

        Raises:
            UsageError: It cannot be done as it was said.
            ServerFailure: The server cannot be asked.
        """
        words = text.split()
        if not words:
            return await self._listing()
        wanted = _read(words)
        owner = self._account.owner
        catalogue = Catalogue(tuple(await owner.datasets(self._soon())))
        dataset = catalogue.choose(wanted.dataset)
        if dataset is None:
            raise UsageError(f"{catalogue.unknown(wanted.dataset)} Nothing has changed.")
        if wanted.grant and not wanted.sure and not await self._confirmed(dataset, wanted):
            return (
                "Nothing was shared: nobody confirmed it. Whoever can read a dataset can read the "
                "sessions in it, too, on cognee 1.6.5. To go on: the same with --yes."
            )
        change = owner.grant if wanted.grant else owner.revoke
        try:
            for right in wanted.rights:
                await change(wanted.account, right, [dataset.id], self._soon())
        except ServerFailure as failure:
            raise UsageError(_refused(failure, dataset)) from None
        what, rights = brief(dataset.name), " and ".join(wanted.rights)
        if wanted.grant:
            return (
                f"Account {wanted.account} may now {rights} '{what}'. It has to name it by its id, "
                f"{dataset.id}: a name leads to an account's own datasets only."
            )
        return f"Account {wanted.account} may no longer {rights} '{what}' by a right of its own."

    # -- inside ----------------------------------------------------------------------------------

    async def _listing(self) -> str:
        client = self._context.services.client
        catalogue = await Catalogue.load(client, self._soon())
        rights = await Rights.load(client, catalogue, self._soon())
        lines = [f"This session speaks as account {brief(catalogue.account)}:"]
        for row in catalogue.rows[:MOST_ROWS]:
            whose = "" if catalogue.owns(row) else " · shared with it"
            may = _MAY[rights.writable.get(canonical_uuid(row.id))]
            lines.append(f"  {brief(row.name)} ({brief(row.id)}) · {may}{whose}")
        if len(catalogue.rows) > MOST_ROWS:
            lines.append(f"  and {len(catalogue.rows) - MOST_ROWS} more")
        return "\n".join([*lines, "", USAGE])

    async def _confirmed(self, dataset: Dataset, wanted: _Wanted) -> bool:
        return await self._context.confirm(
            f"Share the dataset '{brief(dataset.name)}' with account {wanted.account}?",
            f"It may {' and '.join(wanted.rights)} it, and on cognee 1.6.5 read the sessions in "
            "it: prompts, answers and tool calls.",
            Deadline.after(_ASK_SECONDS, self._context.clock),
        )

    def _soon(self) -> Deadline:
        return Deadline.after(_SECONDS, self._context.clock)


_MAY = {True: "read and write", False: "read only", None: "read; the server does not say more"}


def _read(words: list[str]) -> _Wanted:
    flags = {word for word in words if word.startswith("--")}
    plain = [word for word in words if word not in flags]
    if len(plain) != 3 or plain[0] not in {"grant", "revoke"} or flags - _FLAGS:  # noqa: PLR2004
        raise UsageError(USAGE)
    account = canonical_uuid(plain[2])
    if not account:
        raise UsageError(
            f"'{brief(plain[2])}' is no id of an account; nothing has changed. {USAGE}"
        )
    chosen = tuple(each for each in (READ, WRITE) if f"--{each}" in flags)
    return _Wanted(
        plain[0] == "grant", plain[1], account, chosen or (READ, WRITE), "--yes" in flags
    )


def _refused(failure: ServerFailure, dataset: Dataset) -> str:
    name = brief(dataset.name)
    if failure.kind is FailureKind.FORBIDDEN:
        return f"'{name}' is not yours to share; nothing has changed."
    # Released servers answer so to an account that they do not know.
    if failure.status == 500:  # noqa: PLR2004
        return f"The server failed, most likely since it knows no such account: {failure}"
    return f"The server did not do it, or only a part of it: {brief(str(failure))}"
