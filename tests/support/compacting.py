"""A session of the compaction plugin: a host, the compactions of its agent, and prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.events import PreCompact, Turn, UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.scripted import ScriptedClient, scripted_host
from tests.support.waiting import PATIENCE

SESSION = {"session_id": "claude_s1"}
TURNS = (
    Turn(question="How is the orders service deployed?", answer="By the BluePelican pipeline."),
    Turn(question="And billing?", answer="By hand, until it has moved."),
)


def quiet_host(home: Path, client: ScriptedClient, **environ: str) -> Host:
    """Make a host that adds nothing to a prompt but anchors."""
    return scripted_host(home, client, COGNEE_RECALL="false", **environ)


async def compact(host: Host, *turns: Turn, **fields: Any) -> None:
    """Let the agent compact these turns, by default `TURNS`, and wait until all is done."""
    await host.pre_compact(PreCompact(**SESSION, turns=turns or TURNS, **fields))
    await host.background.settle(Deadline.after(PATIENCE))


async def ask(host: Host, prompt: str = "What was I doing?", **fields: Any) -> str:
    """Send a prompt and return what the model is told with it."""
    answer = await host.user_prompt_submit(UserPromptSubmit(**SESSION, prompt=prompt, **fields))
    return answer.context
