"""Hook implementations of memory: tools for the model, commands for people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from builtin_plugins.memory import schemas
from builtin_plugins.memory.settings import MemorySettings
from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.errors import RedactionFailed, ServerFailure, UsageError
from cognee_hooks.results import Command, Tool

if TYPE_CHECKING:
    from builtin_plugins.memory.memory import MemoryOperations


class MemoryPlugin:
    """Remembers, recalls, searches and forgets on demand; see `builtin_plugins.memory.memory`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(MemorySettings)
        self._made: MemoryOperations | None = None

    @hookimpl
    def cognee_register_tools(self) -> list[Tool]:
        """Let the model remember, recall, search and ask to forget."""
        federated = len(self._context.core.read_dataset_ids)
        return [
            self._tool("cognee_remember", schemas.REMEMBER, schemas.REMEMBER_WHEN, "remember"),
            self._tool(
                "cognee_recall",
                schemas.RECALL,
                schemas.recall_when(federated),
                "recall",
                read_only=True,
            ),
            self._tool(
                "cognee_search",
                schemas.SEARCH,
                schemas.search_when(federated),
                "search",
                read_only=True,
            ),
            self._tool("cognee_forget", schemas.FORGET, schemas.FORGET_WHEN, "forget"),
        ]

    @hookimpl
    def cognee_register_commands(self) -> list[Command]:
        """Let people do the same."""
        return [
            Command(
                name="remember",
                help="Remember a text or a file: <text> [--file <path>] [--node-set <set>] "
                "[--dataset <name>] [--create]",
                run=lambda text: self._answered("Remember", lambda it: it.remember_command(text)),
            ),
            Command(
                name="search",
                help="Search memory: <words> [--dataset <name or id>] [--top-k <n>] "
                "[--type <search type>]",
                run=lambda text: self._answered("Search", lambda it: it.search_command(text)),
            ),
            Command(
                name="forget",
                help="Delete from memory: <dataset> [<data id> | --entire] [--yes]",
                run=lambda text: self._answered("Forget", lambda it: it.forget_command(text)),
            ),
        ]

    # -- inside ----------------------------------------------------------------------------------

    def _tool(
        self,
        name: str,
        parameters: Mapping[str, Any],
        when: str,
        method: str,
        *,
        read_only: bool = False,
    ) -> Tool:
        def run(arguments: Mapping[str, Any]) -> Awaitable[str]:
            return self._answered(name, lambda it: getattr(it, method)(arguments))

        return Tool(
            name=name, description=when, parameters=parameters, run=run, read_only=read_only
        )

    async def _answered(self, what: str, work: Callable[[MemoryOperations], Awaitable[str]]) -> str:
        """Return the answer; what goes wrong is one, too."""
        from builtin_plugins.memory import texts

        try:
            return texts.capped(await work(self._memory))
        except UsageError as error:
            return texts.capped(f"⚠ {what}: {error}")
        except RedactionFailed:
            return f"⚠ {what}: {texts.NOT_REDACTED}"
        except ServerFailure as failure:
            self._context.services.health.note(failure)
            return texts.failed(f"{what} failed", failure)

    @property
    def _memory(self) -> MemoryOperations:
        # What it needs is of no use to commands that only list plugins.
        if self._made is None:
            from builtin_plugins.memory.memory import MemoryOperations

            self._made = MemoryOperations(self._context, self._settings)
        return self._made
