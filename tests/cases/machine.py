"""One person's machine: agents' hooks as processes, a real daemon, and a server on loopback."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.command import Done, payload
from tests.support.daemon import folder_of, hook, running, start
from tests.support.fake_server import Connection, FakeServer, Request
from tests.support.scripted import remembers
from tests.support.waiting import until

ENTRY = "/api/v1/remember/entry"
RECALL = "/api/v1/recall"
FACT = "the billing service uses port 7431"


class Machine:
    """A machine.

    Args:
        home: Throw-away home of its user.
        environ: Environment of the agents.
        server: The memory server.

    Attributes:
        shown: All that hooks printed.
    """

    def __init__(self, home: Path, environ: dict[str, str], server: FakeServer) -> None:
        self.home = home
        self.environ = environ
        self.server = server
        self.shown: list[str] = []
        self.remember(FACT)

    def remember(self, *passages: str) -> None:
        """Have the server find these passages from now on."""

        async def answer(connection: Connection, request: Request) -> None:
            await connection.answer(200, remembers(*passages)(request.json))

        self.server.on(RECALL, answer)

    def start(self) -> None:
        """Start the daemon, so that no hook has to."""
        start(self.environ)

    # -- what an agent reports -------------------------------------------------------------------

    async def event(
        self, name: str, document: Mapping[str, Any], agent: str = "claude-code"
    ) -> str:
        """Report an event as an agent does, and return what it gets to read."""
        done: Done = await hook(name, dict(document), self.environ, agent=agent)
        assert (done.code, done.err) == (0, "")
        self.shown.append(done.out)
        return done.out

    async def prompt(self, text: str, number: int = 1) -> str:
        """Report a prompt."""
        document = payload("UserPromptSubmit", prompt=text, **_turn(number))
        return await self.event("UserPromptSubmit", document)

    async def call(self, tool: str, response: object, number: int = 1, **tool_input: Any) -> None:
        """Report a tool call."""
        document = payload("PostToolUse.Bash", **_turn(number), tool_name=tool)
        document |= {"tool_input": tool_input, "tool_response": response}
        await self.event("PostToolUse", document)

    async def answer(self, text: str, number: int = 1) -> None:
        """Report the end of a turn."""
        await self.event("Stop", payload("Stop", last_assistant_message=text, **_turn(number)))

    async def turn(self, prompt: str, answer: str = "It is done.", number: int = 1) -> None:
        """Report a prompt and its answer."""
        await self.prompt(prompt, number)
        await self.answer(answer, number)

    # -- what became of it -----------------------------------------------------------------------

    async def settled(self, count: int = 0) -> None:
        """Wait until the daemon has worked on all that it was told.

        Args:
            count: How many entries the server is to have by then.
        """
        await until(lambda: len(self.entries) >= count)
        await until(lambda: running(folder_of(self.environ))["kept"] == 0)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What the server was given to keep, in order."""
        return [each.json["entry"] for each in self.server.requests if each.path == ENTRY]

    @property
    def questions(self) -> list[str]:
        """Questions that the server was given to keep, in order."""
        return [each["question"] for each in self.entries if each["type"] == "qa"]

    @property
    def queries(self) -> list[str]:
        """What memory was asked for."""
        return [each.json["query"] for each in self.server.requests if each.path == RECALL]

    def places_of(self, text: str) -> list[str]:
        """Return where a text is found: in a file, in a request, or in what a hook printed."""
        wanted = text.encode()
        files = [str(each) for each in self.home.rglob("*") if _holds(each, wanted)]
        asked = [each.path for each in self.server.requests if wanted in each.body]
        return [*files, *asked, *(each for each in self.shown if text in each)]


def _turn(number: int) -> dict[str, str]:
    return {"session_id": "s1", "prompt_id": f"p{number}"}


def _holds(path: Path, wanted: bytes) -> bool:
    return path.is_file() and wanted in path.read_bytes()
