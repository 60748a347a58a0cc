"""The tools and commands: their arguments, checked, and the work behind each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from builtin_plugins.memory import texts
from builtin_plugins.memory.arguments import parse
from builtin_plugins.memory.choices import (
    DEFAULT_TOP_K,
    MAX_TOP_K,
    NODE_SETS,
    SEARCH_TYPES,
)
from builtin_plugins.memory.forget import Forgetting
from builtin_plugins.memory.remember import Remembering
from builtin_plugins.memory.search import Query, Searching
from builtin_plugins.memory.settings import MemorySettings
from builtin_plugins.memory.targets import writable
from cognee_hooks import PluginContext
from cognee_hooks.errors import UsageError

_NUMBER = re.compile("[0-9]{1,6}")
NOTHING_RECALLED = "No relevant memories found."
NOTHING_FOUND = "No results found."


class MemoryOperations:
    """Does what tools and commands ask for. All of them raise what the plugin answers with.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
    """

    def __init__(self, context: PluginContext, settings: MemorySettings) -> None:
        self._context = context
        self._remembering = Remembering(context, settings)
        self._searching = Searching(context)
        self._forgetting = Forgetting(context)

    # -- tools -----------------------------------------------------------------------------------

    async def remember(self, arguments: Mapping[str, Any]) -> str:
        """Do what ``cognee_remember`` promises."""
        return await self._remember(
            _text(arguments, "content"),
            _text(arguments, "file"),
            node_set=_text(arguments, "node_set"),
            dataset=_text(arguments, "dataset"),
            create=arguments.get("create") is True,
        )

    async def recall(self, arguments: Mapping[str, Any]) -> str:
        """Do what ``cognee_recall`` promises."""
        if arguments.get("session_only") is True:
            return await self._searching.session()
        query = _query(arguments, dataset="")
        return await self._searching.search(query, nothing=NOTHING_RECALLED)

    async def search(self, arguments: Mapping[str, Any]) -> str:
        """Do what ``cognee_search`` promises."""
        query = _query(arguments, dataset=_text(arguments, "dataset"))
        return await self._searching.search(query, nothing=NOTHING_FOUND)

    async def forget(self, arguments: Mapping[str, Any]) -> str:
        """Do what ``cognee_forget`` promises."""
        dataset = _text(arguments, "dataset")
        if not dataset:
            raise UsageError("give the dataset. Nothing deleted.")
        entire = arguments.get("entire_dataset") is True
        return await self._forgetting.asked_by_model(
            dataset, _text(arguments, "data_id"), entire=entire
        )

    # -- commands --------------------------------------------------------------------------------

    async def remember_command(self, text: str) -> str:
        """Remember what a person typed, or a file."""
        given = parse(text, options=("file", "node-set", "dataset"), flags=("create",))
        options = given.options
        return await self._remember(
            given.text,
            options.get("file", ""),
            node_set=options.get("node-set", ""),
            dataset=options.get("dataset", ""),
            create="create" in given.flags,
        )

    async def search_command(self, text: str) -> str:
        """Search for what a person typed."""
        given = parse(text, options=("dataset", "top-k", "type"))
        top_k = given.options.get("top-k", "")
        query = _query(
            {
                "query": given.text,
                "top_k": int(top_k) if _NUMBER.fullmatch(top_k) else None,
                "search_type": given.options.get("type", "").upper(),
            },
            dataset=given.options.get("dataset", ""),
        )
        return await self._searching.search(query, nothing=NOTHING_FOUND)

    async def forget_command(self, text: str) -> str:
        """Delete what a person names or picks."""
        given = parse(text, flags=("entire", "yes"))
        return await self._forgetting.asked_by_person(
            given.words, entire="entire" in given.flags, yes="yes" in given.flags
        )

    # -- inside ----------------------------------------------------------------------------------

    async def _remember(
        self, content: str, file: str, *, node_set: str, dataset: str, create: bool
    ) -> str:
        if not content.strip() and not file:
            return texts.NOTHING_GIVEN
        node_set = _one_of(NODE_SETS, node_set, "node_set")
        target = await writable(self._context, dataset, create=create)
        if not file:
            return await self._remembering.text(content, target, node_set)
        told = await self._remembering.file(file, target, node_set)
        return f"{told} The text beside the file was not remembered." if content.strip() else told


def _query(arguments: Mapping[str, Any], *, dataset: str) -> Query:
    text = _text(arguments, "query")
    if not text:
        raise UsageError("say what to search for.")
    top_k = arguments.get("top_k")
    return Query(
        text=text,
        dataset=dataset,
        search_type=_one_of(SEARCH_TYPES, _text(arguments, "search_type"), "search_type"),
        top_k=min(top_k, MAX_TOP_K) if type(top_k) is int and top_k >= 1 else DEFAULT_TOP_K,
    )


def _one_of(choices: Sequence[str], given: str, what: str) -> str:
    """Return a choice, the first where nothing is given.

    Raises:
        UsageError: It is none of them.
    """
    if given and given not in choices:
        raise UsageError(f"{what} must be one of {', '.join(choices)}.")
    return given or choices[0]


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""
