"""Hook implementations of the code lane."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from builtin_plugins.code_lane import texts
from builtin_plugins.code_lane.commands import CodeCommands
from builtin_plugins.code_lane.indexer import Indexer
from builtin_plugins.code_lane.keeper import IndexKeeper
from builtin_plugins.code_lane.lane import LANE, CodeLane
from builtin_plugins.code_lane.operations import OPERATIONS
from builtin_plugins.code_lane.query import Asker
from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.settings import CodeLaneSettings
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import CheckResult, CheckStatus, Command, Lane, StatusRow, Tool
from cognee_hooks.services.git import Git
from cognee_hooks.services.process import current_environ

if TYPE_CHECKING:
    from cognee_hooks.events import ServerStateChanged, SessionStart, Stop

PRIORITY = 50
"""Below recall's own section: the model can read code by itself, memory it cannot."""
QUIET_SECONDS = 5.0
"""Time after a turn in which no other one ended, before changes are looked for."""
SPARE_SECONDS = 0.3
"""Left of the time of a check, so that a server's silence is told in it."""
READY_SECONDS = 30.0

_TEXT = {"type": "string"}
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "seed": {**_TEXT, "description": "Name of a function, class, file or route."},
        "operation": {
            "type": "string",
            "enum": list(OPERATIONS),
            "description": "; ".join(f"{name}: {each.about}" for name, each in OPERATIONS.items()),
        },
        "name": _TEXT,
        "start": {**_TEXT, "description": "Where traverse begins."},
        "source": {**_TEXT, "description": "Where find_path begins."},
        "target": {**_TEXT, "description": "Where find_path ends."},
        "targets": {"type": "array", "items": _TEXT},
        "file": {**_TEXT, "description": "Path in the repository, for query_facts."},
        "file_prefix": _TEXT,
        "kind": {**_TEXT, "description": "symbol, module, route and the like, for query_facts."},
        "text": {**_TEXT, "description": "Words, for search."},
        "question": {**_TEXT, "description": "For ask."},
        "direction": {"type": "string", "enum": ["forward", "backward", "both"]},
        "max_depth": {"type": "integer", "minimum": 1},
        "limit": {"type": "integer", "minimum": 1},
        "repo": {**_TEXT, "description": "Path or git URL of another repository."},
        "dataset": {**_TEXT, "description": "Dataset of a code graph, where it is known."},
        "top_k": {"type": "integer", "minimum": 1, "maximum": 100},
    },
}


class CodeLanePlugin:
    """Brings facts about code into prompts, and keeps the code graph behind them fresh."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(CodeLaneSettings)
        services = context.services
        # git looks into the home folder for what the person allows it; everything else is ours.
        git = Git({**current_environ(), "HOME": str(services.paths.home)})
        self._records = IndexRecords(services.paths.code_dir, services.mode.url, context.log)
        seconds = self._settings.index_timeout_ms / 1000
        indexer = Indexer(context, self._records, git, seconds)
        self._indexer = indexer
        self._keeper = IndexKeeper(context, self._settings, indexer, self._records, git)
        self._asker = Asker(context, self._records, git)
        self._commands = CodeCommands(context, indexer, self._keeper, self._asker, git)
        self._lane = CodeLane(context, self._records, self._settings.max_chars)
        self._cwd = context.session.cwd
        self._due = False
        self._turns = 0

    # -- when ------------------------------------------------------------------------------------

    @hookimpl
    def cognee_session_start(self, event: SessionStart) -> None:
        """Index the repository, once the server is known to be well."""
        self._cwd = event.cwd or self._cwd
        if self._on and self._cwd and not event.replayed and event.source != "compact":
            self._due = True
            self._context.spawn(self._start(), lasting=True)

    @hookimpl
    def cognee_server_state_changed(self, event: ServerStateChanged) -> None:
        """The server is there after all."""
        if event.current == "ok" and self._due:
            self._context.spawn(self._start(), lasting=True)

    @hookimpl
    def cognee_stop(self, event: Stop) -> None:
        """A turn ended; look for changes after a moment of quiet."""
        if self._on and self._cwd and not event.agent_id and not event.replayed:
            self._turns += 1
            self._context.spawn(self._after_quiet(self._turns), lasting=True)

    # -- what is asked ---------------------------------------------------------------------------

    @hookimpl
    def cognee_register_lanes(self) -> Lane | None:
        """Answer prompts from the code graph."""
        return Lane(name=LANE, search=self._search, priority=PRIORITY) if self._on else None

    @hookimpl
    def cognee_register_tools(self) -> Tool:
        """Let the model ask the code graph."""
        return Tool(
            name="cognee_code",
            description=(
                "Look code up in the code graph of this repository: who calls a function, what a "
                "change may break, how two symbols are connected, what is in a file. Give a seed "
                "(a name) or an operation with its arguments. Answers come from the last indexing."
            ),
            parameters=_PARAMETERS,
            run=lambda arguments: self._asker.answer(arguments, self._cwd),
            read_only=True,
        )

    @hookimpl
    def cognee_register_commands(self) -> list[Command]:
        """Let people index repositories and ask about them."""
        return [
            Command(
                name="code",
                help="Ask the code graph: a name, delta, or an operation as JSON "
                "[--dataset <name>] [--top-k <n>].",
                run=lambda text: self._commands.code(text, self._cwd),
            ),
            Command(
                name="index",
                help="Build or refresh the code graph of a repository: [path|git-url] "
                "[--dataset <name>] [--index-vectors] [--wait <seconds>].",
                run=lambda text: self._commands.index(text, self._cwd),
            ),
        ]

    @hookimpl
    def cognee_status_rows(self) -> StatusRow:
        """Tell which code graph belongs to this folder."""
        if not self._on:
            return StatusRow(label="Code graph", text="off")
        if self._context.services.health.embedded:
            return StatusRow(label="Code graph", text=texts.NONE_HERE)
        record = self._records.around(self._cwd) if self._cwd else None
        where = "no indexed repository here"
        if record is not None and record.last_index_at:
            where = f"{record.dataset} · indexed {self._age(record)}"
        text = f"autoindex {self._settings.autoindex} · {where}"
        return StatusRow(label="Code graph", text=text)

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> CheckResult:
        """Tell whether this repository is indexed, and why not."""
        if not self._on:
            return _row(
                "off",
                remedy="set COGNEE_CODE_LANE=true and COGNEE_CAPTURE=true for facts about code",
            )
        if await self._at_embedded(deadline):
            return _row(texts.NONE_HERE, remedy=texts.OTHER_SERVER)
        count = len(self._records.all())
        known = f"{count} {'repository' if count == 1 else 'repositories'} known at this server"
        record = self._records.around(self._cwd) if self._cwd else None
        if record is None:
            skipped = (
                f"; this one not, since {self._keeper.skipped}" if self._keeper.skipped else ""
            )
            return _row(f"on; {known}{skipped}", remedy="index one: `cognee-hooks index`")
        return self._row_of(record, known)

    # -- inside ----------------------------------------------------------------------------------

    @property
    def _on(self) -> bool:
        return self._settings.enabled and self._context.core.capture

    async def _at_embedded(self, deadline: Deadline) -> bool:
        """Whether the server is the embedded one; asks it where nobody has yet."""
        services = self._context.services
        if services.health.version or services.mode.missing_base_url:
            return services.health.embedded
        try:
            limit = deadline.within(max(0.0, deadline.remaining() - SPARE_SECONDS))
            return (await services.client.health(limit)).embedded
        except ServerFailure:
            return False

    async def _search(self, query: str) -> list[str]:
        return await self._lane.search(query, self._cwd)

    async def _start(self) -> None:
        health = self._context.services.health
        await health.wait_ready(Deadline.after(READY_SECONDS, self._context.clock))
        if health.state == "ok" and self._due:
            self._due = False
            await self._keeper.start(self._cwd)
            known = self._records.around(self._cwd)
            await self._lane.warm_up(self._cwd)
            if known is not None and self._records.around(self._cwd) is None:
                await self._keeper.start(self._cwd)

    async def _after_quiet(self, turn: int) -> None:
        await asyncio.sleep(QUIET_SECONDS)
        if turn == self._turns:
            await self._keeper.refresh(self._cwd)

    def _row_of(self, record: IndexRecord, known: str) -> CheckResult:
        where = f"{record.dataset}, {record.last_status or 'never taken on'}"
        if record.error_count:
            return CheckResult(
                name="code graph",
                status=CheckStatus.WARNING,
                detail=f"{where}; failed {record.error_count} times: {record.last_error}",
                remedy="run `cognee-hooks index --wait 60` and look at the server's log",
            )
        return CheckResult(
            name="code graph",
            status=CheckStatus.OK,
            detail=f"{where}, submitted {self._age(record)}; {known}",
        )

    def _age(self, record: IndexRecord) -> str:
        minutes = max(0.0, self._context.now() - record.last_index_at) / 60
        return f"{minutes:.0f} min ago"


def _row(detail: str, *, remedy: str) -> CheckResult:
    return CheckResult(name="code graph", status=CheckStatus.INFO, detail=detail, remedy=remedy)
