"""Looks memory up, and renders what was found as text that cannot pose as anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from builtin_plugins.memory import texts
from builtin_plugins.memory.choices import DEFAULT_TOP_K, HYBRID
from builtin_plugins.memory.targets import catalogue_of, target_of
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.framing import DATA_NOTE, harmless
from cognee_hooks.printable import brief, one_line
from cognee_hooks.redaction import cut
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.passages import memory_in

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.answers import RecallItem

ITEM_BYTES = 600
SOURCE_BYTES = 40
MOST_LINES = 300
"""Of one dataset's answer; far more than fit."""
SESSION_ROWS = 10
SESSION_SECONDS = 5.0
MAX_QUERY_BYTES = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked up.

    Attributes:
        text: The words.
        dataset: A name or UUID; "" for where the session reads.
        search_type: How to search.
        top_k: Passages at most.
    """

    text: str
    dataset: str = ""
    search_type: str = HYBRID
    top_k: int = DEFAULT_TOP_K


class Searching:
    """Asks the server.

    Args:
        context: The plugin's context.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    async def search(self, query: Query, *, nothing: str) -> str:
        """Look memory up.

        Args:
            query: What to look up.
            nothing: What to say where nothing is found.

        Raises:
            UsageError: There is no such dataset, or several.
            RedactionFailed: Nothing was sent.
            ServerFailure: All datasets failed, and not because they are empty.
        """
        words = await self._context.redact(query.text, max_bytes=MAX_QUERY_BYTES)
        where, note = await self._where(query.dataset)
        limit = Deadline.after(self._context.core.request_timeout_ms / 1000, self._context.clock)
        asked = [self._ask(each, words, query, limit) for each in where]
        with self._context.sending(Act.ASKED, "memory", words.value):
            answers = await asyncio.gather(*asked, return_exceptions=True)
        failures = [each for each in answers if isinstance(each, BaseException)]
        found = [line for each in answers if isinstance(each, list) for line in each]
        if not found and failures:
            return note + await self._explained(failures[0], where[0])
        if not found:
            return note + nothing
        if failures:
            note += f"{len(failures)} of {len(where)} datasets could not be searched.\n"
        return note + rendered(dict.fromkeys(found))

    async def session(self) -> str:
        """Return the last questions and answers of this session at the server.

        Raises:
            ServerFailure: It failed.
        """
        limit = Deadline.after(SESSION_SECONDS, self._context.clock)
        session = self._context.session
        detail = await self._context.services.client.session(session.session_id, limit)
        rows = [_pair(row, ITEM_BYTES) for row in detail.qas[-SESSION_ROWS:]]
        rows = [row for row in rows if row]
        if not rows:
            return "The session cache is empty: nothing of this session is stored yet."
        return texts.capped(f"{DATA_NOTE}\n" + "\n---\n".join(rows))

    # -- inside ----------------------------------------------------------------------------------

    async def _where(self, given: str) -> tuple[Sequence[DatasetRef], str]:
        """Return where to look, and what to say about it."""
        context = self._context
        if (count := len(context.core.read_dataset_ids)) and given:
            return context.reads(), (
                f"Federated reads are configured (COGNEE_PLUGIN_READ_DATASET_IDS): {count} "
                f"dataset(s) were searched instead of '{brief(given)}'.\n"
            )
        if count or given in {"", context.session.dataset}:
            return context.reads(), ""
        catalogue = await catalogue_of(self._context)
        return [target_of(catalogue, catalogue.require(given)).ref], ""

    async def _ask(
        self, dataset: DatasetRef, words: Redacted[str], query: Query, limit: Deadline
    ) -> list[str]:
        items = await self._context.services.client.recall(
            words,
            dataset=dataset,
            deadline=limit,
            top_k=query.top_k,
            search_type=query.search_type,
        )
        lines = (line for item in items for line in lines_of(item, words.value))
        return list(islice(lines, MOST_LINES))

    async def _explained(self, failure: BaseException, where: DatasetRef) -> str:
        """Say why nothing was found; other failures are raised."""
        if not isinstance(failure, ServerFailure) or failure.kind is not FailureKind.NO_MEMORY:
            raise failure
        name = brief(where.name or where.id)
        if failure.name == "DatasetNotFoundError":
            catalogue = await catalogue_of(self._context)
            if catalogue.led_to_by(where.name or where.id) is None:
                return (
                    f"{catalogue.unknown(name)} It is made when something is first "
                    "remembered in it."
                )
        return (
            f"Dataset '{name}' has no graph yet: nothing was remembered in it, or the server has "
            "not built memory of it (cognify has not run)."
        )


def lines_of(item: RecallItem, query: str) -> Iterator[str]:
    """Yield what an item of a recall holds, a line for each passage and fact."""
    if item.source == "system":
        return  # the server's own remarks, such as that it is still warming up
    memory = memory_in(item.body, query, "")
    source = cut(one_line(harmless(item.source)), SOURCE_BYTES) or "memory"
    found = [("memory", each) for each in memory.passages]
    found += [("fact", each) for each in memory.facts]
    if not found and item.search_type != HYBRID:
        found = [(source, item.body)]
    for kind, text in found:
        # Cleaning takes time, and what is cut off afterwards was cleaned in vain.
        if shown := cut(harmless(text[: ITEM_BYTES * 4]), ITEM_BYTES):
            yield f"[{kind}] {shown}"
    if not item.body and (pair := _pair(item.raw, ITEM_BYTES)):
        yield f"[{source}] {pair}"


def rendered(lines: Iterable[str]) -> str:
    """Return found lines as one text; those that would make it too long are left out whole."""
    text = DATA_NOTE
    for line in lines:
        longer = f"{text}\n{line}"
        if len(longer.encode()) > texts.RESULT_BYTES:
            break
        text = longer
    return text


def _pair(row: Mapping[str, Any], limit: int) -> str:
    question, answer = row.get("question"), row.get("answer")
    parts = [
        f"{letter}: {cut(harmless(text[: limit * 4]), limit)}"
        for letter, text in (("Q", question), ("A", answer))
        if isinstance(text, str) and text.strip()
    ]
    return "\n".join(parts)
