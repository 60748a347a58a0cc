"""Answers a question to the code graph in words for a model or a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builtin_plugins.code_lane import texts
from builtin_plugins.code_lane.facts import fact_line, objects
from builtin_plugins.code_lane.naming import names_of, renamed, resolve
from builtin_plugins.code_lane.operations import CodeQuestion, checked_question
from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.render import has_data, joined, payload_of, render_items
from builtin_plugins.code_lane.repository import canonical, dataset_name, is_remote, located
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure, UsageError
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef, RecallItem
from cognee_hooks.services.git import Git
from cognee_hooks.services.names import safe_dataset_name

DEFAULT_TOP_K = 10
MAX_TOP_K = 100
CANDIDATES = 8
INDEX_STATE = "index state"
_RESOLVING = frozenset({"explore", "traverse", "find_path", "impact_analysis", "neighbors"})
"""Operations that answer nothing at all for a name that several things have."""


@dataclass(frozen=True, slots=True)
class QueryTarget:
    """Where to ask.

    Attributes:
        dataset: The dataset.
        how: How it was found, for people.
        record: What is known of the repository, if anything.
    """

    dataset: DatasetRef
    how: str
    record: IndexRecord | None


class Asker:
    """Asks the code graph.

    Args:
        context: The plugin's.
        records: Which repositories are indexed.
        git: Asks git.
    """

    def __init__(self, context: PluginContext, records: IndexRecords, git: Git) -> None:
        self._context = context
        self._records = records
        self._git = git

    async def answer(self, arguments: Mapping[str, Any], cwd: str) -> str:
        """Answer a question.

        Args:
            arguments: Those of the tool; ``dataset`` and ``repo`` say where to look, ``top_k`` how
                many items to take.
            cwd: Working directory of the session.

        Returns:
            The answer, or what is wrong and what to do about it.
        """
        deadline = Deadline.after(self._context.core.request_timeout_ms / 1000, self._context.clock)
        try:
            question = checked_question(arguments)
            target = await self._target(arguments, cwd, deadline)
        except UsageError as error:
            return f"⚠ {error}"
        except RedactionFailed:
            return texts.NOT_REDACTED
        top_k = arguments.get("top_k")
        count = top_k if type(top_k) is int and 0 < top_k <= MAX_TOP_K else DEFAULT_TOP_K
        try:
            with self._context.sending(Act.ASKED, "code", question.subject):
                return await self._found(question, target, count, deadline)
        except RedactionFailed:
            return texts.NOT_REDACTED
        except ServerFailure as failure:
            known = target.record if target.how == INDEX_STATE else None
            if known is not None:
                self._records.lost(known, failure)
            # By its id a dataset that is gone is told as one that is out of reach.
            if failure.kind is FailureKind.NO_MEMORY or (
                known is not None and failure.kind is FailureKind.FORBIDDEN
            ):
                return await self._no_dataset(target, deadline)
            return texts.failure("Code query", failure)

    async def _found(
        self, question: CodeQuestion, target: QueryTarget, count: int, deadline: Deadline
    ) -> str:
        items = await self._ask(question, target.dataset, count, deadline)
        if not items and question.operation in _RESOLVING:
            full = await self._with_full_names(question, target.dataset, deadline)
            if full is not None:
                items = await self._ask(full, target.dataset, count, deadline)
        rendered = render_items(item for item in items if has_data(item))
        lines = [line for each in rendered for line in each.lines]
        if lines:
            title = next((each.title for each in rendered if each.title), "")
            title = title or texts.title(question, target.dataset.name)
            left = sum(each.left for each in rendered)
            return joined(title, [*texts.state_of(target.record), *lines], left=left)
        # What is empty may still say something: no path, no dependents.
        said = next((each.empty for each in render_items(items) if each.empty), "")
        return said or await self._nothing(question, target, deadline)

    async def _ask(
        self, question: CodeQuestion, dataset: DatasetRef, count: int, deadline: Deadline
    ) -> list[RecallItem]:
        query = question.code_query
        return await self._context.services.client.recall(
            await self._context.redact(question.seed),
            dataset=dataset,
            deadline=deadline,
            top_k=count,
            scope="code",
            search_type="CODE",
            code_query=None if query is None else await self._context.redact(query),
        )

    async def _nothing(
        self, question: CodeQuestion, target: QueryTarget, deadline: Deadline
    ) -> str:
        """Say what an empty answer means; a name that several things have is one of the causes."""
        dataset = target.dataset.name
        state = texts.state_of(target.record)
        if question.operation == "delta":
            return "\n".join([texts.no_delta(dataset), *state])
        if question.operation and question.operation not in _RESOLVING:
            return "\n".join([texts.nothing_found(question, dataset), *state])
        for name in names_of(question):
            facts = await self._facts(name, target.dataset, deadline)
            if not facts:
                return "\n".join([texts.unknown(name, dataset), *state])
            lines = [fact_line(each) for each in facts]
            if not question.operation:
                return joined(texts.title(question, dataset), [*lines, *state])
            if resolve(name, facts) is None:
                return joined(texts.ambiguous(name), lines)
        return "\n".join([texts.nothing_found(question, dataset), *state])

    async def _with_full_names(
        self, question: CodeQuestion, dataset: DatasetRef, deadline: Deadline
    ) -> CodeQuestion | None:
        """Return a question with each short name made a full one; None where none changes.

        The server gives up on a short name as soon as a finding, such as "dead code: x", has it
        too.
        """
        full: dict[str, str] = {}
        for name in names_of(question):
            found = resolve(name, await self._facts(name, dataset, deadline))
            if found is not None and found != name:
                full[name] = found
        return renamed(question, full) if full else None

    async def _facts(
        self, name: str, dataset: DatasetRef, deadline: Deadline
    ) -> list[Mapping[str, Any]]:
        listing = checked_question({"operation": "query_facts", "name": name, "limit": CANDIDATES})
        items = await self._ask(listing, dataset, DEFAULT_TOP_K, deadline)
        payloads = [payload for item in items if (payload := payload_of(item)) is not None]
        return [fact for payload in payloads for fact in objects(payload.get("facts"))]

    async def _no_dataset(self, target: QueryTarget, deadline: Deadline) -> str:
        """Tell a dataset that is missing from one that holds nothing yet (W10)."""
        name = target.dataset.name
        try:
            datasets = await self._context.services.client.datasets(deadline)
        except ServerFailure:
            return texts.no_graph(name, there=None)
        return texts.no_graph(name, there=any(each.name == name for each in datasets))

    async def _target(
        self, arguments: Mapping[str, Any], cwd: str, deadline: Deadline
    ) -> QueryTarget:
        dataset, repo = _text(arguments, "dataset"), _text(arguments, "repo")
        if dataset:
            name = safe_dataset_name(await self._shown(dataset, "the dataset's name"))
            return QueryTarget(DatasetRef(name), "explicit dataset", self._records.of_dataset(name))
        if is_remote(repo):
            url = await self._shown(canonical(repo), "the address")
            return QueryTarget(DatasetRef(dataset_name(url)), "derived from git URL", None)
        folder = str(located(repo, cwd, self._context.services.paths.home))
        record = self._records.around(folder)
        if record is not None and record.last_index_at:
            ref = DatasetRef(record.dataset, record.dataset_id)
            return QueryTarget(ref, INDEX_STATE, record)
        root = await self._git.repository_root(Path(folder), deadline)
        if root is None:
            raise UsageError(texts.no_repository(folder))
        path = await self._shown(canonical(str(root)), "the repository's path")
        return QueryTarget(DatasetRef(dataset_name(path)), "derived from repo path", None)

    async def _shown(self, name: str, what: str) -> str:
        """Return a name of which a part is sent, as a part of the dataset's."""
        return (await self._context.redact_name(name, what)).value


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""
