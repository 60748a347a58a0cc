"""What happens in an agent session, as frozen values in Claude Code's field names.

Events only ever gain fields, always with a default, so a plugin that builds or reads one keeps
working. An event holds raw text: whatever leaves the process goes through redaction first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

_NO_INPUT: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What every event of an agent session carries.

    Attributes:
        session_id: Our id of the conversation, such as ``claude_6ccf3f3f-…``.
        agent: Short name of the agent, such as ``claude-code``.
        cwd: Working directory of the session, or "".
        transcript_path: The agent's own transcript file, or "".
        prompt_id: Groups everything that belongs to one user prompt, or "". An answer is taken for
            that of the prompt with the same id only, so an agent whose answers may carry another
            id than their prompts leaves it out of its `Stop`.
        agent_id: Set inside a sub-agent.
        agent_type: The sub-agent's type; may be "" for agents that give none.
        replayed: It happened a while ago and nobody waits for an answer: keep what it holds, and
            look nothing up for it.
    """

    session_id: str
    agent: str = ""
    cwd: str = ""
    transcript_path: str = ""
    prompt_id: str = ""
    agent_id: str = ""
    agent_type: str = ""
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart(Event):
    """A conversation begins or comes back.

    Attributes:
        source: Why: ``startup``, ``resume``, ``clear``, ``compact`` or ``fork``.
        model: The model's name, or "".
    """

    source: str = "startup"
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPromptSubmit(Event):
    """The user sent a prompt; the model has not seen it yet.

    Attributes:
        prompt: The text as the agent passed it on.
        machine_made: The agent wrote it, not the user: a finished background task, a reminder, the
            output of a local command. No recall, no capture.
    """

    prompt: str
    machine_made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolUse(Event):
    """A tool call succeeded.

    Attributes:
        tool_name: The agent's name of the tool.
        tool_input: Its arguments.
        tool_response: What it returned, in the agent's own shape.
        tool_use_id: The agent's id of the call, or "".
        duration_ms: Wall time of the call in milliseconds, or None.
    """

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=lambda: _NO_INPUT)
    tool_response: Any = None
    tool_use_id: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolUseFailure(Event):
    """A tool call failed.

    Attributes:
        tool_name: The agent's name of the tool.
        tool_input: Its arguments.
        error: What went wrong, as the agent tells the model.
        is_interrupt: The user stopped it.
        tool_use_id: The agent's id of the call, or "".
        duration_ms: Wall time of the call in milliseconds, or None.
    """

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=lambda: _NO_INPUT)
    error: str = ""
    is_interrupt: bool = False
    tool_use_id: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Event):
    """The agent finished its answer and waits for the user, or a sub-agent did (``agent_id``).

    Attributes:
        last_assistant_message: The answer's text, or "".
        stop_hook_active: The agent already continues because of a stop hook.
        questions: What the user asked in this turn, the latest last, where the agent's own records
            tell, and one empty text where they tell that it was nothing; empty where they do not
            tell, and only the prompts' events do.
    """

    last_assistant_message: str = ""
    stop_hook_active: bool = False
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What was said in one turn of a conversation, in raw text.

    Attributes:
        question: What the user asked.
        answer: What the model said last; "" where it said nothing.
    """

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreCompact(Event):
    """The agent is about to summarise and drop its transcript.

    Attributes:
        trigger: ``manual`` or ``auto``.
        custom_instructions: What the user asked of the summary, or "".
        turns: The latest turns of what is to be dropped, the oldest first; empty where the agent
            does not say them and its transcript cannot be read.
    """

    trigger: str = "auto"
    custom_instructions: str = ""
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Event):
    """The conversation ends.

    Attributes:
        reason: Why, in the agent's words, such as ``clear``, ``prompt_input_exit`` or ``other``.
    """

    reason: str = "other"


ConnectionState = Literal["unknown", "ok", "offline", "auth", "server-error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStateChanged:
    """The connection to the cognee server changed.

    Attributes:
        previous: State before.
        current: State now.
        detail: One line that says why, or "".
    """

    previous: ConnectionState
    current: ConnectionState
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetChanged:
    """The session reads and writes another dataset from now on.

    Attributes:
        previous: Name before.
        current: Name now.
        session_id: The session id from now on; a session is bound to one dataset.
    """

    previous: str
    current: str
    session_id: str
