"""What a plugin gets to work with: one `PluginContext`, handed to its factory."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cognee_hooks.caller import dialogs_of_caller, progress_of_caller
from cognee_hooks.cause import next_key
from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.errors import RedactionFailed, ServerFailure, UsageError
from cognee_hooks.faults import DropReason, NoticeLevel
from cognee_hooks.results import Act, Lane, StoreReceipt, StoreRequest

if TYPE_CHECKING:
    from cognee_hooks.core_settings import CoreSettings
    from cognee_hooks.plugin_host import PluginHost
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.answers import DatasetRef
    from cognee_hooks.services.bundle import Services
    from cognee_hooks.services.ledger import Ledger
    from cognee_hooks.services.session_state import SessionState
    from cognee_hooks.session import Session
    from cognee_hooks.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginContext:
    """Everything that a plugin may use. Keep it on the instance; there is one for each session.

    Attributes:
        plugin: The plugin's registered name.
        core: The core's own options.
        services: Server client, health, breaker, paths.
        state: This plugin's small state of this session, kept on disk between processes.
        ledger: What was done in each session; see `record`.
        log: Logger for technical lines; never log a payload.
        clock: Monotonic seconds.
        now: Epoch seconds.
        random: Source of jitter.
    """

    plugin: str
    core: CoreSettings
    services: Services
    state: SessionState
    ledger: Ledger
    log: logging.Logger
    _host: PluginHost = field(repr=False)
    _settings: Settings = field(repr=False)
    clock: Clock = time.monotonic
    now: Callable[[], float] = time.time
    random: random.Random = field(default_factory=random.Random)

    @property
    def session(self) -> Session:
        """The conversation. Another one takes its place when its dataset is switched.

        Whoever takes something up for it keeps what it was then, and goes on with that.
        """
        return self._host.session

    def reads(self, session: Session | None = None) -> list[DatasetRef]:
        """Return where memory is read: in datasets that the user named, or in the session's own.

        Args:
            session: Another session than the present one.
        """
        from cognee_hooks.services.answers import DatasetRef

        named = [DatasetRef(id=each) for each in self.core.read_dataset_ids]
        return named or [DatasetRef(name=(session or self.session).dataset)]

    def settings(self, options: type[T]) -> T:
        """Return this plugin's options.

        Args:
            options: A frozen dataclass whose fields are made with ``cognee_hooks.option``. In YAML
                they stand under ``plugins: <plugin name>:``.

        Returns:
            An instance with the values in force. Bad values are replaced by defaults and
            reported in ``cognee-hooks config``.
        """
        return self._settings.resolve(self.plugin, options)

    @property
    def environ(self) -> Mapping[str, str]:
        """The session's environment, for a plugin that starts programs. It holds secrets."""
        return self._settings.environ

    @property
    def env_values(self) -> Mapping[str, str]:
        """What stands in ``~/.cognee/.env``, which all cognee plugins share. It holds secrets."""
        return self._settings.env_values

    def core_source(self, option: str) -> str:
        """Return where the value of one of the core's options stands, such as ``shell env``."""
        return self._settings.get_source("", option)

    def core_problem(self, option: str) -> str:
        """Return why a value of one of the core's options is not used, for people, or ""."""
        return self._settings.problem_of("", option)

    async def redact(
        self, value: T, *, max_bytes: int | None = None, flatten: bool = False
    ) -> Redacted[T]:
        """Make a value safe to leave the process.

        Args:
            value: Text or a JSON-like value. `Redacted` parts inside are taken as they are.
            max_bytes: Cut each string to so many UTF-8 bytes, after redaction.
            flatten: Turn the values of a dict into strings.

        Returns:
            The safe value, the only thing that the services send.

        Raises:
            RedactionFailed: It cannot be made safe; the payload must be dropped.
        """
        return await self._host.redact(value, max_bytes=max_bytes, flatten=flatten)

    async def redact_or_drop(self, value: T, *, max_bytes: int | None = None) -> Redacted[T] | None:
        """Make a captured value safe to leave the process, or count it as dropped; see `redact`.

        Returns:
            The safe value; None where it cannot be made safe.
        """
        try:
            return await self.redact(value, max_bytes=max_bytes)
        except RedactionFailed:
            self.drop(DropReason.REDACTION_FAILED)
            return None

    async def redact_name(self, name: str, what: str) -> Redacted[str]:
        """Make sure that a name is safe to leave the process as it is.

        With a part of it taken out it would be the name of something else.

        Args:
            name: Such as that of a dataset, or a path.
            what: What has the name, for the person, such as "the dataset's name".

        Returns:
            The name.

        Raises:
            UsageError: It holds what looks like a secret, or characters that cannot be sent.
            RedactionFailed: That cannot be found out.
        """
        redacted = await self.redact(name)
        if redacted.value != name:
            raise UsageError(
                f"{what} holds what looks like a secret, or characters that cannot be sent, so "
                "nothing was sent. Choose another one."
            )
        return redacted

    async def store(self, request: StoreRequest) -> StoreReceipt:
        """Hand over a captured entry; see ``cognee_store_entry``."""
        key = request.key or next_key(self.plugin)
        return await self._host.store(replace(request, key=key))

    async def store_entry(self, entry: dict[str, Any], session: Session) -> StoreReceipt | None:
        """Make a captured entry safe, and hand it over; see `store`.

        Args:
            entry: In the server's wire form (``qa`` or ``trace``). `Redacted` parts inside are
                taken as they are.
            session: The conversation that it was captured in.

        Returns:
            What became of it; None where it cannot be made safe, which counts as dropped.
        """
        redacted = await self.redact_or_drop(entry)
        if redacted is None:
            return None
        return await self.store(
            StoreRequest(entry=redacted, session_id=session.session_id, dataset=session.dataset)
        )

    def spawn(self, work: Coroutine[Any, Any, None], *, lasting: bool = False) -> None:
        """Run work in the background of the session; it is waited for when the session ends.

        An exception of it counts as a fault of this plugin.

        Args:
            work: What to do.
            lasting: It goes on for as long as the session lives, such as a timer: it is not waited
                for, and cancelled at the end.
        """
        self._host.spawn(self.plugin, work, lasting=lasting)

    def outlast(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work that may go on after the session has ended, where nobody waits for it.

        The daemon keeps an ended session until such work is done; an agent that embeds its host
        does not. So it is cancelled sooner or later: it has to come to an end by itself, and what
        must not be forgotten has to be on disk, for a later session to find.

        Args:
            work: What to do. An exception of it counts as a fault of this plugin.
        """
        self._host.outlast(self.plugin, work)

    def report_waiting(self, count: int, *, volatile: int = 0) -> None:
        """Say how many captured entries of this session this plugin keeps for later.

        They show as waiting everywhere, and the session lives on until they are sent.

        Args:
            count: All of them.
            volatile: Those of them that are not on disk yet. Until there are none, the events that
                they come from are kept, to be done again after a kill.
        """
        self._host.report_waiting(self.plugin, count, volatile=volatile)

    def record(
        self,
        act: Act,
        what: str = "",
        *,
        content: str | bytes | None = None,
        count: int = 1,
        seconds: float | None = None,
        session_id: str = "",
        prompt: str = "",
    ) -> None:
        """Add a row to the ledger of a session. Never raises for a full or broken disk.

        Args:
            act: What was done.
            what: With what or why, in a word or two: kind of entry, lane, reason. Never text of the
                user's.
            content: What it was done with; only its size and a keyed hash are kept.
            count: How often.
            seconds: What it cost.
            session_id: Another session than this one.
            prompt: The prompt that it was done for; only a keyed hash is kept.
        """
        self.ledger.record(
            session_id or self.session.session_id,
            act,
            what or self.plugin,
            content=content,
            count=count,
            seconds=seconds,
            prompt=prompt,
        )

    @contextmanager
    def sending(self, act: Act, what: str, content: str | bytes) -> Iterator[None]:
        """Record in the ledger what a block sends, unless it surely did not leave.

        Args:
            act: What is done.
            what: See `record`.
            content: What is sent; only its size and a keyed hash are kept.
        """
        began, left = self.clock(), True
        try:
            yield
        except ServerFailure as failure:
            left = failure.sent
            raise
        except RedactionFailed:
            left = False
            raise
        finally:
            if left:
                self.record(act, what, content=content, seconds=self.clock() - began)

    def totals(self, session_id: str = "") -> Mapping[Act, int]:
        """Return how often each act was done in a session since it began, in all processes.

        Args:
            session_id: Another session than this one.
        """
        return self.ledger.totals(session_id or self.session.session_id)

    def is_active(self, plugin: str) -> bool:
        """Tell whether a plugin is in force, for one that should not do what its user has blocked.

        Args:
            plugin: Its registered name.
        """
        return self._host.is_active(plugin)

    def identity_changed(self) -> None:
        """Have ``cognee_resolve_identity`` called again before the next request to the server."""
        self._host.identity_changed()

    def say(self, text: str, level: NoticeLevel = NoticeLevel.WARNING) -> None:
        """Show the person at the agent one line, once a session."""
        self._host.say(text, level)

    def report_progress(self, text: str) -> None:
        """Tell a person who waits for a command how far it is, in a few words.

        It is shown on the command line and by MCP clients, and nowhere else.
        """
        progress_of_caller(self._host.progress)(text)

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask the person who called, or else the one at the agent, a yes-or-no question.

        Args:
            title: The question, one line.
            text: What it means, some lines at most.
            deadline: When to take silence for a no.

        Returns:
            Whether the person said yes; False also where the agent cannot ask.
        """
        dialogs = dialogs_of_caller(self._host.dialogs)
        return await dialogs.confirm(title, text, deadline)

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person who called, or else the one at the agent, choose.

        Args:
            title: What to choose, one line.
            options: What there is to choose from.
            deadline: When to take silence for no choice.

        Returns:
            The chosen option; None where nothing was chosen or the agent cannot ask.
        """
        dialogs = dialogs_of_caller(self._host.dialogs)
        return await dialogs.select(title, options, deadline)

    async def flush(self, deadline: Deadline) -> int:
        """Finish captures that are on their way and have what waits sent.

        Args:
            deadline: When to give up.

        Returns:
            How many captured entries are not at the server nevertheless.
        """
        await self._host.flush(deadline)
        return self.waiting

    async def switch_dataset(self, dataset: str, *, synced: bool) -> Session:
        """Have the conversation read and write another dataset from now on.

        It gets another session id with it, since a session belongs to one dataset at the server.
        What was captured before stays in the dataset that it was captured for. All plugins are
        told (``cognee_dataset_changed``). New conversations of the agent begin with it, too, but
        where the project or an argument chooses the dataset.

        Args:
            dataset: The dataset's name, or its UUID where the name does not lead to it.
            synced: Whether the session that is left was turned into lasting memory.

        Returns:
            The session from now on.

        Raises:
            OSError: The switch cannot be kept; nothing has changed.
        """
        return await self._host.switch_dataset(dataset, synced=synced)

    def drop(self, reason: DropReason) -> None:
        """Count a payload that is not kept."""
        self._host.drop(reason)

    async def search_lanes(self, query: str, deadline: Deadline) -> list[tuple[Lane, list[str]]]:
        """Ask all recall lanes that plugins registered.

        Args:
            query: The redacted prompt.
            deadline: When to go on without those that have not answered.

        Returns:
            What was found, lane by lane.
        """
        return await self._host.search_lanes(query, deadline)

    @property
    def waiting(self) -> int:
        """Entries that are captured and not yet at the server."""
        return self._host.waiting
