"""What hook implementations return.

Fields of a wrong type raise ``TypeError`` where the value is made, in the plugin.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from cognee_hooks.typed import require, require_callable

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.redaction import Redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionalContext:
    """Text for the model's context.

    Attributes:
        text: A finished section with its own header; untrusted parts already made harmless.
        priority: Sections are ordered by it, highest first; equal ones by plugin order. Where the
            agent's limit is short, the lowest go first.
        hits: Memory items inside, for the status line.
        lane: Where it comes from, for the ledger; the plugin's name where "".
    """

    text: str
    priority: int = 0
    hits: int = 0
    lane: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "text", "lane")
        require(self, int, "priority", "hits")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSegment:
    """One part of the status line.

    Attributes:
        text: A few words, one line, without colours.
        priority: Position, highest first; where the line is too long the lowest go first. The
            default renderer never leaves out what has 90 or more.
        shorter: What to say instead where the line is too long, the longest first. Only after the
            last of them the segment is left out.
    """

    text: str
    priority: int = 0
    shorter: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "text")
        require(self, int, "priority")
        require(self, tuple, "shorter")
        if not all(isinstance(each, str) for each in self.shorter):
            raise TypeError("StatusSegment.shorter must hold str only")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRow:
    """One row of the ``cognee`` command and of ``cognee-hooks status``.

    Attributes:
        label: What it is about, a word or two.
        text: How it is, in one line.
    """

    label: str
    text: str

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "label", "text")


class CheckStatus(StrEnum):
    """How a doctor check came out, best first."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One row of ``cognee-hooks doctor``.

    Attributes:
        name: What was checked.
        status: How it came out.
        detail: What was found, in one line.
        remedy: What to do about it; "" where nothing is to be done.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "detail", "remedy")
        require(self, CheckStatus, "status")

    @classmethod
    def off(cls, name: str, remedy: str) -> Self:
        """Return the row of a feature that is switched off, which is no fault.

        Args:
            name: The feature.
            remedy: What switches it on, and what for.
        """
        return cls(name=name, status=CheckStatus.INFO, detail="off", remedy=remedy)


class ScrubState(StrEnum):
    """What became of a leaked value in one place."""

    FOUND = "found"
    """It is there, and can be taken out."""
    CLEANED = "cleaned"
    """It was taken out."""
    LEFT = "left"
    """It is there and stays, or may be; a person has to see to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """One place that holds, held or may hold a leaked value.

    Attributes:
        place: The file or the thing, for people; never the value.
        state: What became of it there.
        count: How often it is or was there; 0 where that cannot be told.
        detail: Why it stays and what to do, in one line; "" where all is well.
    """

    place: str
    state: ScrubState
    count: int = 0
    detail: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "place", "detail")
        require(self, int, "count")
        require(self, ScrubState, "state")


class Act(StrEnum):
    """What is done with a captured or recalled text; the ledger counts each by session."""

    CAPTURED = "captured"
    """An entry was handed over to be stored."""
    REDACTED = "redacted"
    """A secret in such an entry was replaced by its label."""
    BUFFERED = "buffered"
    """It could not be sent at once and waits on disk."""
    DELIVERED = "delivered"
    """The server took it at the first try."""
    REPLAYED = "replayed"
    """The server took it later."""
    DEDUPLICATED = "deduplicated"
    """The server had it already, although the answer that said so was lost."""
    DROPPED = "dropped"
    """It is gone; the reason is told."""
    QUARANTINED = "quarantined"
    """The server refuses it for good; it was put aside."""
    RECALLED = "recalled"
    """Memory was asked for a prompt: ``hit``, ``nothing``, or why it could not be asked."""
    INJECTED = "injected"
    """Text went into the model's context."""
    COMPACTED = "compacted"
    """An anchor was made before the agent compacted its transcript."""
    SYNCED = "synced"
    """What the session holds was submitted to the graph."""
    REMEMBERED = "remembered"
    """A text or file was sent because somebody asked for it."""
    INDEXED = "indexed"
    """The server was told which repository to index."""
    ASKED = "asked"
    """Memory or the code graph was asked by the model or a person."""
    FORGOTTEN = "forgotten"
    """A person had something deleted at the server: a document, or a dataset."""
    RAN = "ran"
    """A plugin was called; how often, and for how long in all, is recorded when the session ends."""


AT_THE_SERVER = (Act.DELIVERED, Act.REPLAYED, Act.DEDUPLICATED)
"""Acts after which the server has an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """One entry on its way to the server's session cache.

    Attributes:
        entry: The entry in the server's wire form (``qa`` or ``trace``), made safe.
        session_id: The conversation that it belongs to, bound when it was captured.
        dataset: The dataset, bound when it was captured.
        key: Names the entry also where the event behind it is done again, because a process was
            killed in between: who keeps entries takes one under the same key only once. "" where
            nothing is done again.
    """

    entry: Redacted[dict[str, Any]]
    session_id: str
    dataset: str
    key: str = ""


class StoreState(StrEnum):
    """What became of an entry."""

    STORED = "stored"
    """The server has it."""
    BUFFERED = "buffered"
    """It is kept and will be sent later."""
    DROPPED = "dropped"
    """It is gone; the reason is counted and shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReceipt:
    """Answer to a `StoreRequest`.

    Attributes:
        state: What became of the entry.
        reason: Why it was not stored, in one line; "" when it was.
        entry_id: The server's id, when stored.
    """

    state: StoreState
    reason: str = ""
    entry_id: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, StoreState, "state")
        require(self, str, "reason", "entry_id")


@runtime_checkable
class SharedDatasets(Protocol):
    """What names of datasets mean for an account that shares the datasets of another one.

    By the cognee 1.6 HTTP contract a name leads to an account's own datasets only; written to, it
    makes another one. So every name is turned into a UUID first, whatever is done with it.
    """

    @property
    def known(self) -> Mapping[str, str]:
        """UUIDs by name, as far as they are known."""
        ...

    @property
    def shared(self) -> Collection[str]:
        """UUIDs of all datasets that the account may write to as a guest."""
        ...

    async def lead(self, name: str, deadline: Deadline, *, write: bool) -> str:
        """Return the UUID that a name leads to.

        Args:
            name: The name.
            deadline: When to give up.
            write: Whether the dataset is made where it is not there.

        Returns:
            The UUID; "" where there is none, which can only be without ``write``.

        Raises:
            ServerFailure: It cannot be found out now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are at the server.

    Attributes:
        api_key: Sent as ``X-Api-Key``; never shown.
        source: Where the key comes from, for people.
        datasets: Where the account shares another one's datasets: what their names mean. None
            where names mean the account's own.
    """

    api_key: str = field(repr=False)
    source: str
    datasets: SharedDatasets | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "api_key", "source")
        if self.datasets is not None:
            require(self, SharedDatasets, "datasets")


WARNING_SIGN = "⚠"
"""Begins the text of a command that is a warning; agents that tell levels apart show it as one."""


class Failure(str):
    """What a command or tool answers where it did not do what was asked.

    It is shown like any other text. Where a failure can be told as one, such as by an exit code, it
    is.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that a plugin adds to the agent and to the command line.

    Attributes:
        name: Lower-case words joined by hyphens.
        help: One line. Options that are named in it, such as ``--top-k``, are completed where the
            agent completes.
        run: Called with the argument text; returns the text to show, which begins with
            `WARNING_SIGN` where something did not work. ``UsageError`` shows as an error.
    """

    name: str
    help: str
    run: Callable[[str], Awaitable[str]]

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "help")
        require_callable(self, "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the model may call.

    Attributes:
        name: Starts with ``cognee_``.
        description: When to use it, for the model.
        parameters: JSON schema of the arguments object.
        run: Called with the arguments; returns the text for the model, as a `Failure` where it
            failed.
        read_only: Whether it only looks things up. Agents that ask a person before a tool is used
            may then do without.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], Awaitable[str]]
    read_only: bool = False

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "description")
        require(self, bool, "read_only")
        require(self, Mapping, "parameters")
        require_callable(self, "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A further source of recalled text beside the memory server.

    Attributes:
        name: Shown in the injection ledger.
        search: Called with the redacted prompt; returns passages, best first.
        priority: See `AdditionalContext`.
    """

    name: str
    search: Callable[[str], Awaitable[list[str]]]
    priority: int = 0

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name")
        require(self, int, "priority")
        require_callable(self, "search")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an event of an agent comes from, in the agent's own words.

    Attributes:
        conversation: The agent's id of the conversation; "" where the payload has none.
        cwd: Absolute path of its working directory; "" where the payload has none.
    """

    conversation: str = ""
    cwd: str = ""


NESTED = "COGNEE_HOOKS_NESTED"
"""Set in the environment of agents that work for us, so that they are not captured in turn."""


class Agent(Protocol):
    """An agent adapter: payloads in, answers out. It holds no state.

    Attributes:
        name: Short name, such as ``claude-code``.
        session_prefix: Starts our session ids, such as ``claude``.
        max_context_bytes: UTF-8 bytes of injected text that the agent takes whole.
        events: The agent's own names of the events that we are called for, in the order of a
            session.

    An adapter may have ``shows_colour = True`` where the agent shows colours in its status line;
    without it the line is plain text. It may have ``session_variables``, the names of variables in
    which the agent tells what it runs its id of the conversation, and ``outlives_sessions = True``
    where one process of the agent serves many conversations and stays when they are over.
    """

    name: str
    session_prefix: str
    max_context_bytes: int
    events: tuple[str, ...]

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        ...

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Any:
        """Turn a payload into one of our events.

        Args:
            event: The agent's name of the event.
            payload: What the agent sent.
            session_id: Our id of the conversation.

        Returns:
            The event (`cognee_hooks.events`), or None for one that we do not use.
        """
        ...

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return what goes to the agent's standard input: one document, or "".

        Args:
            event: The agent's name of the event.
            context: Text for the model; "" for none.
            notice: One line for the person; "" for none.
        """
        ...

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing."""
        ...
