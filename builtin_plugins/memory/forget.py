"""Forgets a document or a dataset, after a person has said yes to just that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from builtin_plugins.memory.targets import LIST_SECONDS, catalogue_of
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure, UsageError
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.printable import brief
from cognee_hooks.redaction import cut
from cognee_hooks.results import Act, Failure
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from cognee_hooks.services.answers import Dataset
    from cognee_hooks.services.catalogue import Catalogue
    from cognee_hooks.services.documents import Document

MOST_PICKED = 20
MOST_PRINTED = 30
PICK_SECONDS = 60.0
CONFIRM_SECONDS = 30.0
DELETE_SECONDS = 30.0
PREVIEW_BYTES = 160
USAGE = "Usage: cognee-forget <dataset name or id> [<data id> | --entire] [--yes]"
CANCELLED = "Cancelled — nothing deleted."
ENTIRE = "▸ delete the ENTIRE dataset"


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is to be deleted.

    Attributes:
        dataset: The dataset.
        data_id: One document of it; "" for all.
        content: What that document holds, where it was looked at already.
    """

    dataset: Dataset
    data_id: str = ""
    content: bytes | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """For people."""
        name = brief(self.dataset.name) or self.dataset.id
        if self.data_id:
            return f"data item {self.data_id} of dataset '{name}'"
        return f"the ENTIRE dataset '{name}' ({self.dataset.id})"


class Forgetting:
    """Deletes at the server, always by id.

    Args:
        context: The plugin's context.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._routes = context.services.client.documents

    async def asked_by_model(self, dataset: str, data_id: str, *, entire: bool) -> str:
        """Delete what the model names, if the person says yes.

        Raises:
            UsageError: There is no such dataset, or several.
            ServerFailure: The server did not do it, or may not have.
        """
        if not data_id and not entire:
            return Failure(
                "Nothing deleted. Give data_id for one item, or entire_dataset=true for everything "
                "in the dataset."
            )
        catalogue = await catalogue_of(self._context)
        scope = await self._named(catalogue.require(dataset), data_id)
        if await self._confirmed(scope):
            return await self._delete(scope)
        return Failure(
            f"Nothing deleted: nobody confirmed it, or nobody could be asked. {_by_hand(scope)}"
        )

    async def asked_by_person(self, words: list[str], *, entire: bool, yes: bool) -> str:
        """Delete what a person names or picks.

        Args:
            words: Dataset and document, as far as they are named.
            entire: The whole dataset is meant.
            yes: Do not ask again.

        Raises:
            UsageError: There is no such dataset, or several.
            ServerFailure: The server did not do it, or may not have.
        """
        catalogue = await catalogue_of(self._context)
        if not words:
            return _overview(catalogue)
        if len(words) > 2 or (entire and len(words) > 1):  # noqa: PLR2004 - dataset and document
            return Failure(USAGE)
        dataset = catalogue.require(words[0])
        if entire or len(words) > 1:
            scope = await self._named(dataset, words[1] if words[1:] else "")
        else:
            rows = await self._routes.documents(dataset.id, self._soon())
            rows.sort(key=lambda row: -row.created_at)  # older servers list them in no order
            picked = await self._picked(dataset, rows)
            if picked is None:
                return _listing(dataset, rows)
            scope = picked
        if not yes and not await self._confirmed(scope):
            return Failure(f"{CANCELLED} Where nobody can be asked: {_by_hand(scope)}")
        return await self._delete(scope)

    # -- inside ----------------------------------------------------------------------------------

    async def _named(self, dataset: Dataset, data_id: str) -> _Scope:
        """Return what somebody names, if it is there: the server deletes what is not, too.

        Raises:
            UsageError: It is no id, or there is no such document.
        """
        scope = _Scope(dataset, _checked(data_id))
        if not data_id:
            return scope
        try:
            content = await self._routes.content(dataset.id, scope.data_id, self._soon())
        except ServerFailure as failure:
            if failure.kind is not FailureKind.NOT_FOUND:
                return scope
            raise UsageError(f"there is no {scope.shown}. Nothing deleted.") from None
        return replace(scope, content=content)

    async def _picked(self, dataset: Dataset, rows: list[Document]) -> _Scope | None:
        """Let the person pick; None where nothing was picked or nobody can be asked."""
        options = {_row(row): row.id for row in rows[:MOST_PICKED]} | {ENTIRE: ""}
        chosen = await self._context.select(
            f"Delete what from '{brief(dataset.name)}'?",
            list(options),
            Deadline.after(PICK_SECONDS, self._context.clock),
        )
        return None if chosen is None else _Scope(dataset, options[chosen])

    async def _confirmed(self, scope: _Scope) -> bool:
        text = "This cannot be undone."
        if scope.data_id:
            text = f"{await self._preview(scope)}{text}"
        return await self._context.confirm(
            f"Permanently delete {scope.shown}?",
            text,
            Deadline.after(CONFIRM_SECONDS, self._context.clock),
        )

    async def _preview(self, scope: _Scope) -> str:
        content = scope.content
        try:
            if content is None:
                content = await self._routes.content(scope.dataset.id, scope.data_id, self._soon())
            lines = content[: PREVIEW_BYTES * 8].decode(errors="replace").splitlines()
            first = next((line.strip() for line in lines if line.strip()), "")
            redacted = await self._context.redact(first)
        except (ServerFailure, RedactionFailed):
            return ""
        shown = cut(brief(redacted.value), PREVIEW_BYTES)
        return f"Content preview: {shown}\n" if shown else ""

    async def _delete(self, scope: _Scope) -> str:
        limit = Deadline.after(DELETE_SECONDS, self._context.clock)
        what = "document" if scope.data_id else "dataset"
        with self._context.sending(Act.FORGOTTEN, what, scope.data_id or scope.dataset.id):
            await self._routes.forget(scope.dataset.id, limit, data_id=scope.data_id)
        if scope.data_id:
            return f"Deleted {scope.shown}."
        self._drop_records(scope.dataset)
        self._context.say(f"Cognee memory: deleted {scope.shown}.", NoticeLevel.INFO)
        return f"Deleted {scope.shown}.{await self._made_again(scope.dataset)}"

    async def _made_again(self, dataset: Dataset) -> str:
        """Make the session's own dataset again, empty, and say so.

        A session stays bound to a dataset that is gone, and the server refuses whatever else is
        captured in it until there is one of that name again.
        """
        own = self._context.session.dataset
        if canonical_uuid(own) and canonical_uuid(own) == canonical_uuid(dataset.id):
            return (
                " This session wrote to it, and its captures can go nowhere now: choose another "
                "dataset with cognee-datasets."
            )
        if dataset.name != own:
            return ""
        try:
            await self._context.services.client.ensure_dataset(dataset.name, self._soon())
        except ServerFailure as failure:
            return f" This session's captures wait until it exists again ({failure.kind.value})."
        return " This session writes to it, so it is there again, empty."

    def _drop_records(self, dataset: Dataset) -> None:
        """Have nothing here name what is gone."""
        try:
            self._context.services.bindings.forget(dataset.name, dataset.id)
        except OSError as error:
            self._context.log.warning("switch not forgotten: %s", type(error).__name__)

    def _soon(self) -> Deadline:
        return Deadline.after(LIST_SECONDS, self._context.clock)


def _by_hand(scope: _Scope) -> str:
    what = scope.data_id or "--entire"
    return f"The person can do it with: cognee-hooks forget {scope.dataset.id} {what} --yes"


def _checked(data_id: str) -> str:
    if data_id and not canonical_uuid(data_id):
        raise UsageError(f"'{brief(data_id)}' is no id of a data item. Nothing deleted.")
    return canonical_uuid(data_id)


def _overview(catalogue: Catalogue) -> str:
    rows = [f"  {brief(row.name)}  ({row.id})" for row in catalogue.rows[:MOST_PRINTED]]
    return "\n".join(["Datasets:", *(rows or ["  (none)"]), USAGE])


def _listing(dataset: Dataset, rows: list[Document]) -> str:
    name = brief(dataset.name)
    if not rows:
        return f"Dataset '{name}' holds no data items. To delete the dataset itself add --entire."
    more = f"\n  and {len(rows) - MOST_PRINTED} more" if len(rows) > MOST_PRINTED else ""
    listed = "\n".join(f"  {_row(row)}" for row in rows[:MOST_PRINTED])
    return f"Nothing deleted. Data items of '{name}':\n{listed}{more}\n{USAGE}"


def _row(row: Document) -> str:
    day = datetime.fromtimestamp(row.created_at, UTC).strftime("%Y-%m-%d")
    return f"{row.id} — {brief(row.shown)}" + (f" · {day}" if row.created_at else "")
