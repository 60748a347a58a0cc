"""Single steps of a session, for tests that go through one by hand."""

from __future__ import annotations

from typing import Any

from tests.faults.script import Script, Step
from tests.faults.world import World
from tests.support.command import payload


def fault(route: str, **changes: Any) -> dict[str, Any]:
    """Return something that goes wrong; see `tests.faults.memory_server`."""
    usual = {"route": route, "after": False, "status": 0, "seconds": 0.0, "retry_after": 0}
    return usual | changes


def call(script: Script, output: str, command: str = "make test", **arguments: object) -> Step:
    """Add a tool call to a session."""
    sent = payload("PostToolUse.Bash", session_id=script.conversation)
    sent["tool_input"] = {"command": command, **arguments}
    sent["tool_response"] = sent["tool_response"] | {"stdout": output}
    step = Step("PostToolUse", sent, ("trace", "Bash", f"{command}\n{output}"))
    script.steps.append(step)
    return step


def turn(script: Script, question: str, answer: str) -> tuple[Step, Step]:
    """Add a prompt and its answer to a session."""
    who = {"session_id": script.conversation, "prompt_id": question}
    prompt = Step("UserPromptSubmit", payload("UserPromptSubmit", prompt=question, **who))
    sent = payload("Stop", last_assistant_message=answer, **who)
    done = Step("Stop", sent, ("qa", question, answer))
    script.steps += [prompt, done]
    return prompt, done


async def hand_over(world: World, script: Script, *steps: Step) -> None:
    """Let the agent go through steps."""
    if script not in world.scripts:
        world.scripts.append(script)
    for step in steps:
        await world.hook(script, step)
