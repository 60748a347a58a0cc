"""A small Python agent with lasting memory: how to embed a `Host` through the public API.

Run it as it stands and nothing is needed but the package with its small local server, no network
and no model: ``pip install 'cognee-hooks[embedded]'``, then ``python examples/host_embedding.py``.
Two conversations are held. What comes up in the first is known in the second.

To make it your own, keep `MemoryAgent` and

* pass your model: any coroutine that takes messages in the form of OpenAI's chat completions and
  returns the assistant's message, for instance ::

      async def model(messages):
          answer = await client.chat.completions.create(
              model="…", messages=messages, tools=[…]
          )
          return answer.choices[0].message.model_dump(exclude_none=True)

* pass ``os.environ`` to the host, so that it finds the server as every cognee plugin does
  (``COGNEE_BASE_URL``, ``COGNEE_API_KEY``).
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cognee_hooks import Deadline, Host
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.events import (
    PostToolUse,
    PostToolUseFailure,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)

Message = dict[str, Any]
Model = Callable[[Sequence[Message]], Awaitable[Message]]
Tool = Callable[..., str]

CLOSE_SECONDS = 5.0
"""Longest that the end of a conversation may take; what is captured is sent within it."""
MAX_CALLS = 10
"""Model calls for one prompt, so that a model that runs in circles comes to an end."""


class MemoryAgent:
    """An agent loop with one host. One host is one conversation.

    Args:
        host: A host that was not started yet.
        model: Asks the model.
        tools: What the model may call, by name.
    """

    def __init__(self, host: Host, model: Model, tools: Mapping[str, Tool]) -> None:
        self._host = host
        self._model = model
        self._tools = tools
        self._history: list[Message] = []
        # Every event says which conversation it belongs to.
        self._ids: dict[str, Any] = {
            "session_id": host.session.session_id,
            "agent": host.session.agent,
        }

    async def __aenter__(self) -> Self:
        """Begin the conversation. Both calls return at once; nothing waits for the server."""
        await self._host.start()
        await self._host.session_start(SessionStart(**self._ids))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the conversation: what was captured is sent, but nobody waits for ever."""
        deadline = Deadline.after(CLOSE_SECONDS)
        await self._host.session_end(SessionEnd(**self._ids), deadline)
        lost = await self._host.close(deadline)
        if lost:
            print(f"{lost} captured entries could not be sent.")
        elif self._host.waiting:
            print(f"{self._host.waiting} captured entries wait on disk and are sent next time.")

    async def ask(self, prompt: str) -> str:
        """Answer one prompt.

        The host never raises what a plugin or the server did wrong, and is never late: recall has
        four seconds, every other event returns within milliseconds.
        """
        known = await self._host.user_prompt_submit(UserPromptSubmit(**self._ids, prompt=prompt))
        asked = {"role": "user", "content": prompt}
        # Memory goes to the model with the prompt, and not into the history: what is known next
        # time is looked up next time.
        memory = [{"role": "user", "content": known.context}] if known.context else []
        answer, steps = await self._answer([*self._history, *memory, asked])
        self._history += [asked, *steps]
        await self._host.stop(Stop(**self._ids, last_assistant_message=answer))
        for notice in self._host.notices.take():
            print(f"[{notice.level}] {notice.text}")
        return answer

    async def _answer(self, messages: list[Message]) -> tuple[str, list[Message]]:
        """Ask the model until it answers; returns the answer and all messages on the way."""
        steps: list[Message] = []
        for _ in range(MAX_CALLS):
            said = await self._model([*messages, *steps])
            steps.append(said)
            calls = said.get("tool_calls") or []
            if not calls:
                return str(said.get("content") or ""), steps
            for call in calls:
                result = await self._call(call)
                steps.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return "I did not come to an end.", steps

    async def _call(self, call: Mapping[str, Any]) -> str:
        """Run a tool, and tell the host how it went."""
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        called = {
            **self._ids,
            "tool_name": name,
            "tool_input": arguments,
            "tool_use_id": call["id"],
        }
        try:
            result = self._tools[name](**arguments)
        except (KeyError, OSError, TypeError, ValueError) as error:
            await self._host.post_tool_use_failure(PostToolUseFailure(**called, error=repr(error)))
            return f"failed: {error!r}"
        await self._host.post_tool_use(PostToolUse(**called, tool_response=result))
        return result


# -- from here on: what makes this file run without a network --------------------------------------

DEPLOY_NOTES = "host: build7.internal\nport: 7431\npassword: {}\n"
PROMPTS = (
    "Please read the deploy notes: where does the billing service listen?",
    "Remind me: which port does the billing service use?",
)


def read_notes() -> str:
    """Return the deploy notes, which hold a password; it never reaches the memory server."""
    return DEPLOY_NOTES.format("correct-horse" + "!9battery")


async def pretend_model(messages: Sequence[Message]) -> Message:
    """Stand in for a model: answer from what stands in the messages, or else read the notes."""
    text = "\n".join(str(message.get("content")) for message in messages)
    port = re.search(r"port:? (\d+)", text)
    if port:
        return {"role": "assistant", "content": f"The billing service listens on port {port[1]}."}
    function = {"name": "read_notes", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def make_host(environ: Mapping[str, str], session_id: str) -> Host:
    """Make the host of one conversation; this reads the settings and touches no network."""
    return Host(
        "my-agent",
        environ=environ,
        session_id=session_id,
        # Only calls of these tools are kept; the default knows the tools of coding agents.
        arguments={"capture.tools": ["read_notes"]},
    )


async def main(environ: Mapping[str, str]) -> None:
    """Hold two conversations and show what the model was given."""

    async def shown(messages: Sequence[Message]) -> Message:
        given = [each["content"] for each in messages if each["role"] == "user"]
        print("model is given:", *given, sep="\n    ")
        return await pretend_model(messages)

    for number, prompt in enumerate(PROMPTS, start=1):
        print(f"--- conversation {number}")
        host = make_host(environ, f"my-agent_{number}")
        async with MemoryAgent(host, shown, {"read_notes": read_notes}) as agent:
            print("answer:", await agent.ask(prompt))


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder) / "memory.db") as server,
    ):
        # A home of its own keeps this demonstration away from your settings and your memory.
        asyncio.run(main({"HOME": folder, "COGNEE_LOCAL_API_URL": server.url}))
