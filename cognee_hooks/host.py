"""The host of one agent session: settings, plugins, services, and one typed method an event.

It is longer than other modules because here all parts of a session meet: it has a method for each
event and for each thing that plugins use, most of which are a line or two.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cognee_hooks.context import PluginContext
from cognee_hooks.core_settings import CoreSettings, decide_mode, own_session_id
from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.dialogs import Dialogs, NoDialogs
from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.errors import RedactionFailed
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    ServerStateChanged,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.faults import DropReason, Drops, Faults, NoticeLevel, Notices
from cognee_hooks.host_parts.background import CORE, HOOKS, Background
from cognee_hooks.host_parts.conversation import Conversation
from cognee_hooks.host_parts.identity import Credentials
from cognee_hooks.host_parts.lanes import search_lanes
from cognee_hooks.host_parts.outbox import Outbox
from cognee_hooks.host_parts.prompts import Prompts
from cognee_hooks.host_parts.recording import (
    record_captured,
    record_delivered,
    record_injected,
    record_times,
)
from cognee_hooks.host_parts.registration import (
    Registered,
    declare_options,
    make_pipeline,
    register,
)
from cognee_hooks.host_parts.status import render_status
from cognee_hooks.host_parts.writer import DirectWriter
from cognee_hooks.injection import injected, joined, strip_injected
from cognee_hooks.outcomes import Called, flat
from cognee_hooks.redaction import Redacted, RedactionPipeline
from cognee_hooks.registry import Registry
from cognee_hooks.results import Act, Lane, StoreReceipt, StoreRequest, StoreState
from cognee_hooks.services import session_state
from cognee_hooks.services.bundle import Services, make_services
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.session_state import SessionState
from cognee_hooks.session import Session
from cognee_hooks.settings import Settings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from cognee_hooks.services.client import CogneeClient

T = TypeVar("T")

SETTLE_SECONDS = 1.0
"""So long captures that are still being redacted may take to finish where a session ends."""


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    """What a prompt gets.

    Attributes:
        context: Text for the model's context; "" for nothing.
        hits: Memory items in it.
    """

    context: str
    hits: int


class Host:
    """One agent session.

    Making a host reads the configuration and loads the plugins; it needs no event loop and does not
    touch the network. ``start`` begins the background work, ``close`` ends it. All methods belong
    to the event loop in which ``start`` ran.

    Args:
        agent: Short name of the agent, such as ``claude-code``.
        environ: The environment that configures the session. The process's own is never read.
        session_id: Id of the conversation; made up where "".
        cwd: Working directory of the session, where a project file is looked for.
        arguments: Settings that beat every other source, by name (``dataset``, ``recall.top_k``).
        plugins: Plugins that are not installed, by name.
        client: Replaces the server client, for dry runs.
        entry_points: Replaces the scan for installed plugins, for tests.
        max_context_bytes: UTF-8 bytes of context that the agent takes.
        slow_plugins: Names of plugins that took too long to import in this process; others are
            added. Hosts of one process share it, so that only the first one waits for them.
        clock: Monotonic seconds.

    Attributes:
        prompts: The latest prompts; None, unless somebody who tells of them has set it. Their text
            is not kept for nobody.
    """

    def __init__(  # noqa: PLR0913 - each is a thing that somebody replaces, and has a default
        self,
        agent: str,
        *,
        environ: Mapping[str, str],
        session_id: str = "",
        cwd: str = "",
        arguments: Mapping[str, object] | None = None,
        plugins: Mapping[str, object] | None = None,
        client: CogneeClient | None = None,
        entry_points: Iterable[EntryPoint] | None = None,
        max_context_bytes: int = 9_500,
        slow_plugins: set[str] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._clock = clock
        self.paths = Paths.of(environ, agent)
        self.settings = Settings.load(
            environ,
            config_file=self.paths.config_file,
            env_file=self.paths.env_file,
            project_dir=Path(cwd) if cwd else None,
            arguments=arguments,
        )
        self.core = self.settings.resolve("", CoreSettings)
        self.mode = decide_mode(self.settings, self.core, agent)
        self.notices = Notices()
        # Replaced by whoever has a line to the person.
        self.dialogs: Dialogs = NoDialogs()
        self.progress: Callable[[str], None] = lambda _: None
        self.ledger = Ledger(self.paths.ledger_dir, agent, self.paths.key_file)
        self.drops = Drops()
        self.faults = Faults(on_quarantine=self._quarantined)
        self.registry = Registry(
            self.settings.plugins,
            strict=self.core.strict_plugins,
            entry_points=entry_points,
            slow=slow_plugins,
        )
        self.dispatcher = Dispatcher(
            self.registry.manager,
            self.registry.policies,
            self.faults,
            inline=self.registry.is_built_in,
            budgets={"cognee_user_prompt_submit": self.core.recall_seconds},
            clock=clock,
        )
        self.services: Services = make_services(
            self.core,
            self.mode,
            self.paths,
            key_source=self.settings.get_source("", "api_key"),
            clock=clock,
            client=client,
        )
        first = Session(
            agent=agent,
            session_id=own_session_id(self.core, agent, session_id),
            cwd=cwd,
            dataset=self.core.dataset,
            max_context_bytes=max_context_bytes,
        )
        self._conversation = Conversation(first, self.services.bindings, self.settings)
        self.ledger.bind(self.session.session_id, self.session.dataset)
        self.credentials = Credentials(self.dispatcher, self.services.keys, self.mode.url)
        self.services.client.use_credentials(self.credentials)
        self.registry.load(self._context, (plugins or {}).items())
        self.registered: Registered = register(self.registry, self.dispatcher)
        declare_options(self.registry, self.registered, self.settings)
        self.redaction: RedactionPipeline = make_pipeline(
            self.core, self.settings.plugins, self.registered
        )
        self.prompts: Prompts | None = None
        self.background = Background(self.faults)
        writer = DirectWriter(
            self.services.client,
            self.services.health,
            self.drop,
            request_seconds=self.core.request_timeout_ms / 1000,
            limit=self.core.buffer_limit,
            clock=clock,
            sent=lambda request: record_delivered(self.ledger, request),
        )
        self.outbox = Outbox(writer, self.services.health, self.background, clock)

    # -- life ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin background work: watching the server's health, removing what old sessions left."""
        self.background.attach()
        self.background.spawn(CORE, asyncio.to_thread(self._sweep), lasting=True)
        self.services.health.subscribe(self._server_state_changed)
        health = self.services.health
        watching = health.run(pending=lambda: self.waiting > 0, ready=self.outbox.drain_soon)
        self.background.spawn(CORE, watching, lasting=True)

    async def close(self, deadline: Deadline) -> int:
        """End the session's work.

        Args:
            deadline: Until when captures may still be sent.

        Returns:
            How many captured entries are gone, since they could not be sent and nobody keeps them.
        """
        await self.flush(deadline)
        self.services.health.stop()
        lost = self.outbox.abandon()
        await self.background.close()
        await self.services.client.aclose()
        self.dispatcher.close()
        self.redaction.close()
        return lost

    async def flush(self, deadline: Deadline) -> None:
        """Finish captures that are on their way and send what waits."""
        # Work of a plugin that hangs must leave time for what others captured.
        await self.background.settle(deadline.within(deadline.remaining() / 2))
        await self.outbox.flush(deadline)

    # -- events ----------------------------------------------------------------------------------

    async def session_start(self, event: SessionStart) -> None:
        """A conversation begins; returns at once."""
        self.background.spawn(HOOKS, self._call("cognee_session_start", event))

    async def user_prompt_submit(
        self, event: UserPromptSubmit, deadline: Deadline | None = None
    ) -> PromptAnswer:
        """The user sent a prompt; returns what the model should know.

        Blocks that we injected earlier and that came back inside the prompt are cut out first.

        Args:
            event: The prompt.
            deadline: The agent's own limit, if it is earlier than the recall budget.
        """
        session = self.session
        event = replace(event, prompt=strip_injected(event.prompt))
        began = self._clock()
        called = await self._call("cognee_user_prompt_submit", event, deadline)
        sections = injected(called, session.max_context_bytes)
        if not event.replayed:
            record_injected(self.ledger, session.session_id, sections, event.prompt)
            if self.prompts is not None and self.core.capture:
                remembering = self.prompts.add(event.prompt, sections, self._clock() - began)
                self.background.spawn(CORE, remembering, lasting=True)
        hits = sum(section.hits for section in flat(called.value))
        return PromptAnswer(joined(sections), hits)

    async def post_tool_use(self, event: PostToolUse) -> None:
        """A tool call succeeded."""
        await self._call("cognee_post_tool_use", event)

    async def post_tool_use_failure(self, event: PostToolUseFailure) -> None:
        """A tool call failed."""
        await self._call("cognee_post_tool_use_failure", event)

    async def stop(self, event: Stop) -> None:
        """The agent finished its answer."""
        await self._call("cognee_stop", event)

    async def pre_compact(self, event: PreCompact) -> None:
        """The agent is about to compact its transcript; returns at once."""
        self.background.spawn(HOOKS, self._call("cognee_pre_compact", event))

    async def session_end(self, event: SessionEnd, deadline: Deadline | None = None) -> None:
        """The conversation ends: captures settle, plugins are told in order, the rest is sent."""
        budget = self.registry.policies["cognee_session_end"].budget
        limit = (deadline or Deadline.after(budget, self._clock)).within(budget)
        await self.background.settle(limit.within(SETTLE_SECONDS))
        # Plugins that hang must leave time for what waits to be sent.
        share = limit.remaining() / 2 if self.outbox.queued else limit.remaining()
        await self._call("cognee_session_end", event, limit.within(share))
        self.record_times()
        await self.outbox.drain(limit)

    def record_times(self) -> None:
        """Put into the ledger what plugins took since this was last done; for an end untold."""
        record_times(self.ledger, self.session.session_id, self.dispatcher.timings)

    async def switch_dataset(self, dataset: str, *, synced: bool) -> Session:
        """Have the session read and write another one; see `PluginContext.switch_dataset`."""
        # What has happened already belongs to the session that is left.
        await self.background.settle(Deadline.after(SETTLE_SECONDS, self._clock))
        event = self._conversation.switch(dataset, synced=synced)
        self.ledger.bind(event.session_id, event.current)
        await self._call("cognee_dataset_changed", event)
        return self.session

    async def dispatch(self, event: Event, deadline: Deadline | None = None) -> PromptAnswer | None:
        """Pass an event to its method; returns the answer to a prompt, None for all else."""
        if isinstance(event, UserPromptSubmit):
            return await self.user_prompt_submit(event, deadline)
        if isinstance(event, SessionEnd):
            await self.session_end(event, deadline)
            return None
        handlers: dict[type[Event], Any] = {
            SessionStart: self.session_start,
            PostToolUse: self.post_tool_use,
            PostToolUseFailure: self.post_tool_use_failure,
            Stop: self.stop,
            PreCompact: self.pre_compact,
        }
        await handlers[type(event)](event)
        return None

    async def status_line(self, max_width: int = 120, *, colour: bool = False) -> str:
        """Return the status line, or "" where no plugin renders one.

        Args:
            max_width: Terminal cells.
            colour: Whether to use colours.
        """
        renderers = self.registry.manager.hook.cognee_render_status.get_hookimpls()
        least = f"cognee: {self.mode.backend} · {self.session.dataset}"
        return await render_status(
            self.dispatcher,
            max_width=max_width,
            colour=colour,
            otherwise=least if renderers else "",
        )

    # -- what plugins use (PluginHost) -------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The conversation as it stands; see `PluginContext.session`."""
        return self._conversation.session

    async def search_lanes(self, query: str, deadline: Deadline) -> list[tuple[Lane, list[str]]]:
        """Ask the recall lanes of the plugins; see `PluginContext.search_lanes`."""
        lanes = self.registered.lanes
        return await search_lanes(
            lanes.values(),
            self.registered.lane_owners,
            self.faults,
            self.dispatcher.timings,
            query,
            deadline,
        )

    @property
    def waiting(self) -> int:
        """Entries that are captured and not yet at the server."""
        return self.outbox.waiting

    @property
    def volatile(self) -> int:
        """Entries of these that are not on disk, so that they end with this process."""
        return self.outbox.volatile

    def report_waiting(self, plugin: str, count: int, *, volatile: int = 0) -> None:
        """Learn how many entries a plugin keeps; see `PluginContext.report_waiting`."""
        self.outbox.report(plugin, count, volatile=volatile)

    async def redact(
        self, value: T, *, max_bytes: int | None = None, flatten: bool = False
    ) -> Redacted[T]:
        """Make a value safe to leave the process; see `PluginContext.redact`."""
        try:
            return await self.redaction.redact(value, max_bytes=max_bytes, flatten=flatten)
        except RedactionFailed as failure:
            self.say(
                f"Cognee memory: {failure}. Nothing of it was sent or stored; see "
                "`cognee-hooks doctor`.",
            )
            raise

    async def store(self, request: StoreRequest) -> StoreReceipt:
        """Hand a captured entry to the plugin that takes charge of it, or to the core's writer."""
        if not isinstance(request.entry, Redacted):
            raise TypeError("only redacted entries are stored")
        record_captured(self.ledger, request)
        called = await self.dispatcher.call("cognee_store_entry", request=request)
        receipt: StoreReceipt | None = called.value
        if receipt is None:
            receipt = self.outbox.accept(request)
        if receipt.state is StoreState.DROPPED:
            self.say(f"Cognee memory: a captured entry was dropped ({receipt.reason}).")
        return receipt

    def spawn(self, plugin: str, work: Coroutine[Any, Any, None], *, lasting: bool = False) -> None:
        """Run work of a plugin in the background."""
        self.background.spawn(plugin, work, lasting=lasting)

    def outlast(self, plugin: str, work: Coroutine[Any, Any, None]) -> None:
        """Run work that may go on after the session; see `PluginContext.outlast`."""
        self.background.spawn(plugin, work, outlasting=True)

    @property
    def unfinished(self) -> bool:
        """Whether an ended session still has something to send or to do."""
        return self.waiting > 0 or self.background.outlasts

    def is_active(self, plugin: str) -> bool:
        """Tell whether a plugin is in force."""
        return self.registry.manager.has_plugin(plugin)

    def identity_changed(self) -> None:
        """Ask the plugins for the key anew; see `PluginContext.identity_changed`."""
        self.credentials.reconsider()

    def say(self, text: str, level: NoticeLevel = NoticeLevel.WARNING) -> None:
        """Queue one line for the person at the agent."""
        self.notices.say(text, level)

    def drop(self, reason: DropReason) -> None:
        """Count a payload that is not kept."""
        self.drops.count(reason)
        self.ledger.record(self.session.session_id, Act.DROPPED, reason.value)

    # -- inside ----------------------------------------------------------------------------------

    async def _call(self, hook: str, event: object, deadline: Deadline | None = None) -> Called:
        return await self.dispatcher.call(hook, deadline=deadline, event=event)

    def _sweep(self) -> None:
        self.ledger.sweep()
        session_state.sweep(self.paths.sessions_dir)

    def _server_state_changed(self, event: ServerStateChanged) -> None:
        self.background.spawn(HOOKS, self._call("cognee_server_state_changed", event))
        if event.current == "ok":
            self.outbox.drain_soon()

    def _quarantined(self, plugin: str, hook: str) -> None:
        self.say(
            f"Cognee memory: plugin {plugin} failed five times in a row in {hook} and is switched "
            "off there for this session; see `cognee-hooks doctor`."
        )

    def _context(self, plugin: str) -> PluginContext:
        return PluginContext(
            plugin=plugin,
            core=self.core,
            services=self.services,
            state=SessionState.of(self.paths.sessions_dir, self._conversation.id, plugin),
            ledger=self.ledger,
            log=logging.getLogger(f"cognee_hooks.plugins.{plugin}"),
            clock=self._clock,
            _host=self,
            _settings=self.settings,
        )
