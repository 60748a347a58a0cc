"""Every hook of the framework. The docstrings are the manual for plugin authors.

What holds for all of them:

* An implementation names only the arguments that it wants, in any order.
* ``async def`` runs on the session's event loop: never block there. A plain ``def`` of an installed
  plugin runs on a thread of that plugin's own, one call at a time, and may block until the budget
  ends.
* ``deadline`` is absolute and shared: pass it on to whatever you call.
* Events are frozen and hold raw text. What leaves the machine goes through ``context.redact``
  first; the services refuse anything else.
* A fault is an exception (``SystemExit`` included), a result of another type, or no result in time.
  It is counted under the plugin's name, never shown to the agent and never stops the others. After
  five in a row the plugin is no longer called in that hook for the rest of the session, which
  ``cognee-hooks doctor`` shows.

It is longer than other modules, since a manual is read from one end to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cognee_hooks.events import (
    DatasetChanged,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    ServerStateChanged,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.markers import Kind, hookspec
from cognee_hooks.redaction import Redactor
from cognee_hooks.results import (
    AdditionalContext,
    CheckResult,
    Command,
    Identity,
    Lane,
    Scrubbed,
    StatusRow,
    StatusSegment,
    StoreReceipt,
    StoreRequest,
    Tool,
)

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.leak import Leak
    from cognee_hooks.results import Agent

# -- what happens in a session -------------------------------------------------------------------


@hookspec(
    Kind.NOTIFY,
    budget=2.5,
    on_fault="the plugin is skipped",
    detached=True,
)
def cognee_session_start(event: SessionStart, deadline: Deadline) -> Any:
    """A conversation begins, is resumed, cleared, forked, or goes on after a compaction.

    Called once for each of these, in the background: the agent does not wait. Prepare here what the
    first prompt would have to wait for.

    Args:
        event: Why the session starts is in ``event.source``.
        deadline: Ends 2.5 s after the start; work that takes longer belongs in ``context.spawn``.
    """


@hookspec(
    Kind.COLLECT,
    budget=4.0,
    on_fault="the section is left out; if recall itself failed the model gets one line",
    result=AdditionalContext,
)
def cognee_user_prompt_submit(event: UserPromptSubmit, deadline: Deadline) -> Any:
    """The user sent a prompt, and the model waits for what you return.

    Called once a prompt, all implementations at the same time. Prompts that the agent made itself
    (``event.machine_made``) come here too: ignore them unless you mean it. So do prompts whose
    model has long answered (``event.replayed``): nothing that you return for them is used.

    Args:
        event: The prompt.
        deadline: The budget of the whole prompt, 4 s unless ``COGNEE_RECALL_TIMEOUT_MS`` says
            otherwise.

    Returns:
        An `AdditionalContext`, a list of them, or None. The text goes into the model's context as
        it stands, so make untrusted parts harmless.
    """


@hookspec(Kind.NOTIFY, budget=0.05, on_fault="the plugin is skipped")
def cognee_post_tool_use(event: PostToolUse, deadline: Deadline) -> Any:
    """A tool call succeeded.

    Called after every tool call, so many times a turn; the next model request waits. Note down what
    you need and do the work in ``context.spawn``.

    Args:
        event: The call and its result.
        deadline: Ends 50 ms after the call.
    """


@hookspec(Kind.NOTIFY, budget=0.05, on_fault="the plugin is skipped")
def cognee_post_tool_use_failure(event: PostToolUseFailure, deadline: Deadline) -> Any:
    """A tool call failed.

    Called like `cognee_post_tool_use`, for agents that tell failures apart.

    Args:
        event: The call and its error.
        deadline: Ends 50 ms after the call.
    """


@hookspec(Kind.NOTIFY, budget=0.05, on_fault="the plugin is skipped")
def cognee_stop(event: Stop, deadline: Deadline) -> Any:
    """The agent finished its answer and waits for the user.

    Called once a turn and once for each sub-agent that ends (``event.agent_id``). A turn that the
    user interrupts ends without a text, or, with some agents, without this call; so does one whose
    model service fails. Nothing that you do here can make the agent go on.

    Args:
        event: The answer.
        deadline: Ends 50 ms after the call.
    """


@hookspec(Kind.NOTIFY, budget=4.0, on_fault="the plugin is skipped", detached=True)
def cognee_pre_compact(event: PreCompact, deadline: Deadline) -> Any:
    """The agent is about to replace its transcript by a summary.

    Called before each compaction, in the background. Save here what the summary may lose.

    Args:
        event: What triggered it, and the latest turns of what is about to be dropped, as far as the
            agent says or keeps them where they can be read.
        deadline: Ends 4 s after the call.
    """


@hookspec(
    Kind.NOTIFY,
    budget=9.0,
    on_fault="the plugin is skipped and what it left undone is reported",
    in_order=True,
)
def cognee_session_end(event: SessionEnd, deadline: Deadline) -> Any:
    """The conversation ends.

    Called once, implementations one after the other in plugin order. Agents may be killed at this
    point: what must survive has to be on disk before.

    Args:
        event: Why it ends.
        deadline: 9 s for everybody together; what is left when your turn comes is yours to share.
    """


@hookspec(Kind.NOTIFY, budget=0.05, on_fault="the plugin is skipped")
def cognee_server_state_changed(event: ServerStateChanged, deadline: Deadline) -> Any:
    """The connection to the cognee server changed, for instance from ``ok`` to ``offline``.

    Called once a change, not once a probe.

    Args:
        event: State before and now.
        deadline: Ends 50 ms after the call.
    """


@hookspec(Kind.NOTIFY, budget=0.05, on_fault="the plugin is skipped")
def cognee_dataset_changed(event: DatasetChanged, deadline: Deadline) -> Any:
    """The session reads and writes another dataset from now on.

    Called after the switch, with the session id that goes with the new dataset.

    Args:
        event: Dataset before and now.
        deadline: Ends 50 ms after the call.
    """


# -- questions with one answer -------------------------------------------------------------------


@hookspec(
    Kind.FIRST,
    budget=0.05,
    on_fault="the next plugin is asked, at last the core, which sends the entry itself",
    result=StoreReceipt,
)
def cognee_store_entry(request: StoreRequest, deadline: Deadline) -> Any:
    """Take charge of a captured entry.

    Called once an entry, in the order of capture. Whoever returns a receipt has taken over: the
    entry is stored, kept on disk, or dropped for a stated reason. Without a taker the core sends
    it.

    Args:
        request: The redacted entry with the session and dataset that it was captured for.
        deadline: Ends 50 ms after the call, enough for a write to disk and not for the network.

    Returns:
        A `StoreReceipt`, or None to leave it to the next plugin.
    """


@hookspec(
    Kind.FIRST,
    budget=10.0,
    on_fault="the next plugin is asked, at last the core's key chain",
    result=Identity,
)
def cognee_resolve_identity(url: str, deadline: Deadline) -> Any:
    """Say with which key to speak to a server.

    Called once before the first authenticated request, and again after the server refused the key.

    Args:
        url: Base URL of the server; a key belongs to exactly one.
        deadline: The budget of the request that needs the key, 10 s at most.

    Returns:
        An `Identity`, or None to leave it to the next plugin.
    """


# -- what people see -----------------------------------------------------------------------------


@hookspec(Kind.COLLECT, budget=0.005, on_fault="the segment is left out", result=StatusSegment)
def cognee_status_segments(deadline: Deadline) -> Any:
    """Contribute to the status line.

    Called at each rendering. Read what you already know; never do any work here.

    Args:
        deadline: Ends 5 ms after the call.

    Returns:
        A `StatusSegment`, a list of them, or None.
    """


@hookspec(
    Kind.FIRST,
    budget=0.005,
    on_fault="the next plugin is asked; if all fail, the line names server and dataset only",
    result=str,
)
def cognee_render_status(
    segments: list[StatusSegment], max_width: int, colour: bool, deadline: Deadline
) -> Any:
    """Render the status line.

    Called at each rendering with all segments, highest priority first.

    Args:
        segments: What the plugins contributed, each on one line and without control characters.
        max_width: Terminal cells.
        colour: Whether the agent shows colours and the person wants them. The only control
            characters that stay in the line are sequences that set colours and styles
            (``ESC [ ... m``), and these only where this is True.
        deadline: Ends 5 ms after the call.

    Returns:
        One line, or None to leave it to the next plugin.
    """


@hookspec(Kind.COLLECT, budget=0.25, on_fault="the row is left out", result=StatusRow)
def cognee_status_rows(deadline: Deadline) -> Any:
    """Contribute to the page that ``/cognee`` and ``cognee-hooks status`` show.

    Called when a person asks for it, all implementations at the same time. Tell what is in force
    and what came of it in this session; look at small files at most, and never ask the network.

    Args:
        deadline: Ends 250 ms after the call.

    Returns:
        A `StatusRow`, a list of them, or None.
    """


@hookspec(
    Kind.COLLECT,
    budget=2.5,
    on_fault="shown as a failed check under the plugin's name",
    result=CheckResult,
)
def cognee_doctor_checks(deadline: Deadline) -> Any:
    """Check whether this plugin can do its work.

    Called by ``cognee-hooks doctor``, all implementations at the same time. A look changes nothing:
    make no file and no key, and repair nothing. Say one fact a row, and what to do where it is not
    well. What looks like a secret is masked, and what you say is left out of support bundles.

    Args:
        deadline: Ends 2.5 s after the call; leave yourself time to say that a server was silent.

    Returns:
        A `CheckResult`, a list of at most 30 of them, or None. `CheckResult.off` is the row of a
        feature that is switched off.
    """


@hookspec(
    Kind.COLLECT,
    budget=60.0,
    on_fault="what the plugin keeps counts as not cleaned, and the person is told",
    result=Scrubbed,
)
def cognee_scrub(leak: Leak, dry_run: bool, deadline: Deadline) -> Any:
    """Take a value that leaked out of what this plugin keeps.

    Called by ``cognee-hooks scrub``, once for each agent's state, all implementations at the same
    time: first with ``dry_run`` to say what holds the value, then, where the person agreed, to take
    it out. No daemon runs meanwhile. Plain files below ``context.services.paths.state_dir`` are
    looked after by the core; say and clean what it cannot: what is encrypted, compressed, in a
    database, or elsewhere. A kill in the middle must lose nothing, and running again must finish.
    Never write, log or say the value or what stands around it.

    Args:
        leak: Finds the value in bytes and JSON values, and returns them without it.
        dry_run: Only look; change nothing.
        deadline: Ends 60 s after the call.

    Returns:
        A `Scrubbed`, a list of them, or None where nothing holds the value.
    """


# -- registration --------------------------------------------------------------------------------


@hookspec(Kind.REGISTER, budget=1.0, on_fault="the plugin is refused", result=type)
def cognee_register_settings() -> Any:
    """Declare the plugin's options, for ``cognee-hooks config`` and for spotting typing errors.

    Called once at start. A plugin that reads its options with ``context.settings`` in its factory
    has declared them already.

    Returns:
        A frozen dataclass whose fields are made with ``option``, or a list of them.
    """


@hookspec(
    Kind.REDACT,
    budget=1.0,
    on_fault="nothing is captured or sent in this session",
    result=Redactor,
)
def cognee_register_redactors() -> Any:
    """Add redactors to the chain that every outgoing text passes.

    Called once at start, on a thread of its own for installed plugins. Redactors are data: the host
    runs them after the built-in rules, so they never see a secret that those know, and runs the
    built-in rules again behind them. A redactor that fails drops the payload; it is never skipped.

    Returns:
        A `Redactor`, a list of them, or None.
    """


@hookspec(Kind.REGISTER, budget=1.0, on_fault="the plugin is refused", result=Command)
def cognee_register_commands() -> Any:
    """Add commands for people.

    Called once at start.

    Returns:
        A `Command`, a list of them, or None.
    """


@hookspec(Kind.REGISTER, budget=1.0, on_fault="the plugin is refused", result=Tool)
def cognee_register_tools() -> Any:
    """Add tools for the model.

    Called once at start.

    Returns:
        A `Tool`, a list of them, or None.
    """


@hookspec(Kind.REGISTER, budget=1.0, on_fault="the plugin is refused")
def cognee_register_agents() -> Agent | list[Agent] | None:
    """Add adapters for agents.

    Called once at start. An adapter says which of the agent's hook events it wants, reads their
    payloads into events, and writes what plugins found into the answer that the agent takes; it
    holds no state and raises for no payload. From then on ``cognee-hooks run <name> <event>``
    passes an event of that agent on. `cognee_hooks.testing.agent_conformance` is the manual for
    authors and the test that every adapter should pass.

    Returns:
        An `Agent`, a list of them, or None.
    """


@hookspec(Kind.REGISTER, budget=1.0, on_fault="the plugin is refused", result=Lane)
def cognee_register_lanes() -> Any:
    """Add sources of recalled text beside the memory server.

    Called once at start. Lanes run inside the recall plugin's budget, at the same time as its own
    request.

    Returns:
        A `Lane`, a list of them, or None.
    """
