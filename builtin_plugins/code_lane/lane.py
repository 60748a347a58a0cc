"""The recall lane: facts about what a prompt names, from the code graph."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from builtin_plugins.code_lane.facts import fact_line, objects
from builtin_plugins.code_lane.identifiers import identifiers, is_path
from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.render import has_data, payload_of
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import RedactionFailed, ServerFailure
from cognee_hooks.framing import choose
from cognee_hooks.services.answers import DatasetRef, RecallItem

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

LANE = "code"
SECONDS = 2.0
"""Longest that a prompt waits for facts about code."""
WARM_UP_SECONDS = 10.0
WARM_UP_NAME = "main"
FACTS = 5
LINE_BYTES = 400

_LINE_NUMBER = re.compile(r"(?::\d+)+\Z")
_OWN = ("self.", "this.", "cls.", "super.")
_SHORTEST_PART = 4


class CodeLane:
    """Looks up the names in a prompt.

    Args:
        context: The plugin's.
        records: Which repositories are indexed.
        max_chars: Characters of facts at most.
    """

    def __init__(self, context: PluginContext, records: IndexRecords, max_chars: int) -> None:
        self._context = context
        self._records = records
        self._max_chars = max_chars

    async def search(self, prompt: str, cwd: str) -> list[str]:
        """Return facts about what a prompt names, a line each.

        Silent where there is nothing to ask, nobody to ask, or no answer in time: memory is worth
        more than this, and says so itself when it is missing.

        Args:
            prompt: The redacted prompt.
            cwd: Working directory of the session.
        """
        services = self._context.services
        names = identifiers(prompt)
        record = self._records.around(cwd) if names else None
        # A server that keeps failing would cost each prompt the whole wait.
        away = services.health.state == "offline" or services.breaker.state == "open"
        if away or record is None or not record.last_index_at:
            return []
        seconds = min(SECONDS, self._context.core.recall_seconds / 2)
        deadline = Deadline.after(seconds, self._context.clock)
        try:
            words = await self._context.redact(prompt)
        except RedactionFailed:
            return []
        found = await asyncio.gather(
            *(self._look_up(name, words, record, deadline) for name in names)
        )
        lines = [line for facts in found for line in facts]
        return choose(list(dict.fromkeys(lines)), self._max_chars)

    async def warm_up(self, cwd: str) -> None:
        """Have the server open the graph, which takes it seconds the first time.

        Where it turns out to be gone, as at a server that was set up anew or with the key of
        another account, its record goes too.
        """
        record = self._records.around(cwd)
        if record is None or not record.last_index_at or record.pending:
            return
        deadline = Deadline.after(WARM_UP_SECONDS, self._context.clock)
        try:
            words = await self._context.redact(WARM_UP_NAME)
            await self._ask({"name": WARM_UP_NAME}, words, record, deadline)
        except ServerFailure as failure:
            self._records.lost(record, failure)
        except RedactionFailed:
            return

    async def _look_up(
        self, name: str, prompt: Redacted[str], record: IndexRecord, deadline: Deadline
    ) -> list[str]:
        """Ask in each way in which the graph may know a name, until one finds something."""
        try:
            for arguments in ways(name):
                items = await self._ask(arguments, prompt, record, deadline)
                if facts := [line for item in items for line in _lines(item, name)]:
                    return facts[:FACTS]
        except ServerFailure as failure:
            self._records.lost(record, failure)
            self._context.log.debug("no facts about code: %s", failure.kind.value)
        except RedactionFailed:
            return []
        return []

    async def _ask(
        self,
        arguments: dict[str, Any],
        prompt: Redacted[str],
        record: IndexRecord,
        deadline: Deadline,
    ) -> list[RecallItem]:
        query = {"operation": "query_facts", **arguments, "limit": FACTS}
        items = await self._context.services.client.recall(
            prompt,
            dataset=DatasetRef(record.dataset, record.dataset_id),
            deadline=deadline,
            top_k=FACTS,
            scope="code",
            search_type="CODE",
            code_query=await self._context.redact(query),
        )
        return [item for item in items if has_data(item)]


def ways(name: str) -> list[dict[str, str]]:
    """Return the arguments with which a name is looked up, the most exact first.

    The graph calls things ``folder/module.Class.method`` and files by their path in the repository.
    Symbols are asked for before anything else, because findings about a much-used symbol would
    crowd it out.
    """
    name = _LINE_NUMBER.sub("", name)
    if is_path(name):
        path = name.removeprefix("./").lstrip("/")
        return [{"file": path}, {"name": path.rpartition(".")[0] + "."}]
    dotted = re.sub(r"::|->|#", ".", name)
    for own in _OWN:
        dotted = dotted.removeprefix(own)
    last = dotted.rpartition(".")[2]
    tries = [dotted, last] if len(last) >= _SHORTEST_PART else [dotted]
    found: list[dict[str, str]] = []
    for each in dict.fromkeys(tries):
        found += [{"name": each, "kind": "symbol"}, {"name": each}]
    return found


def _lines(item: RecallItem, name: str) -> list[str]:
    payload = payload_of(item)
    if payload is None:
        return []
    wanted = re.split(r"\W+", _LINE_NUMBER.sub("", name))[-1].lower()
    facts = objects(payload.get("facts"), 50)
    # A name is found inside longer ones as well; what is called exactly so comes first.
    facts.sort(key=lambda fact: str(fact.get("name")).lower().rpartition(".")[2] != wanted)
    return [line for fact in facts if (line := fact_line(fact, LINE_BYTES))]
