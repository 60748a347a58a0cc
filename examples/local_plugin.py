"""A plugin without a package, for a program that embeds a host.

Run it: ``pip install 'cognee-hooks[embedded]'``, then ``python examples/local_plugin.py``. It needs
no network and no model. A plugin may be any object with hook implementations; here one counts what
recall brought, and one adds a section to every prompt.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

from cognee_hooks import Deadline, Host, hookimpl
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.events import Stop, UserPromptSubmit
from cognee_hooks.results import AdditionalContext


class Today:
    """Tells the model what day it is, below everything else."""

    @hookimpl
    def cognee_user_prompt_submit(self) -> AdditionalContext:
        """Return the section."""
        return AdditionalContext(text=f"Today is {datetime.now(UTC):%A}.", priority=-100)


class Counting:
    """Counts the turns, and what came out of the other plugins."""

    def __init__(self) -> None:
        self.turns = 0
        self.sections = 0

    @hookimpl
    def cognee_stop(self, event: Stop) -> None:
        """Count a turn that ended with an answer."""
        self.turns += bool(event.last_assistant_message)

    @hookimpl(wrapper=True)
    def cognee_user_prompt_submit(
        self,
    ) -> Generator[None, list[AdditionalContext], list[AdditionalContext]]:
        """Look at what all others found, and pass it on."""
        found = yield
        self.sections += len(found)
        return found


async def main() -> None:
    """Hold a conversation of one turn, and show what the plugins did."""
    counting = Counting()
    with (
        tempfile.TemporaryDirectory() as home,
        EmbeddedServer(Path(home) / "memory.db") as server,
    ):
        environ = {"HOME": home, "COGNEE_LOCAL_API_URL": server.url}
        plugins = {"today": Today(), "counting": counting}
        host = Host("my-agent", environ=environ, plugins=plugins)
        await host.start()
        prompt = UserPromptSubmit(session_id=host.session.session_id, prompt="What day is it?")
        answer = await host.user_prompt_submit(prompt)
        print(answer.context)
        stop = Stop(session_id=host.session.session_id, last_assistant_message="A good one.")
        await host.stop(stop)
        await host.close(Deadline.after(5.0))
    print(f"turns: {counting.turns}, sections of context: {counting.sections}")


if __name__ == "__main__":
    asyncio.run(main())
