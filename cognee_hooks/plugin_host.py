"""What a host does for plugins, as far as `PluginContext` needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from cognee_hooks.deadline import Deadline
    from cognee_hooks.dialogs import Dialogs
    from cognee_hooks.faults import DropReason, NoticeLevel
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.results import Lane, StoreReceipt, StoreRequest
    from cognee_hooks.session import Session

T = TypeVar("T")


class PluginHost(Protocol):
    """What the host does for plugins."""

    dialogs: Dialogs
    progress: Callable[[str], None]

    @property
    def session(self) -> Session:
        """See `PluginContext.session`."""
        ...

    @property
    def waiting(self) -> int:
        """Entries that are captured and not yet at the server."""
        ...

    async def redact(self, value: T, *, max_bytes: int | None, flatten: bool) -> Redacted[T]:
        """See `PluginContext.redact`."""
        ...

    async def store(self, request: StoreRequest) -> StoreReceipt:
        """See `PluginContext.store`."""
        ...

    def spawn(self, plugin: str, work: Coroutine[Any, Any, None], *, lasting: bool) -> None:
        """See `PluginContext.spawn`."""
        ...

    def outlast(self, plugin: str, work: Coroutine[Any, Any, None]) -> None:
        """See `PluginContext.outlast`."""
        ...

    def report_waiting(self, plugin: str, count: int, *, volatile: int) -> None:
        """See `PluginContext.report_waiting`."""
        ...

    async def flush(self, deadline: Deadline) -> None:
        """See `PluginContext.flush`."""
        ...

    async def switch_dataset(self, dataset: str, *, synced: bool) -> Session:
        """See `PluginContext.switch_dataset`."""
        ...

    async def search_lanes(self, query: str, deadline: Deadline) -> list[tuple[Lane, list[str]]]:
        """See `PluginContext.search_lanes`."""
        ...

    def is_active(self, plugin: str) -> bool:
        """See `PluginContext.is_active`."""
        ...

    def identity_changed(self) -> None:
        """See `PluginContext.identity_changed`."""
        ...

    def say(self, text: str, level: NoticeLevel) -> None:
        """See `PluginContext.say`."""
        ...

    def drop(self, reason: DropReason) -> None:
        """See `PluginContext.drop`."""
        ...
