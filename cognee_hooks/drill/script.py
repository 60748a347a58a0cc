"""What the drill's agent says: one turn a fault, with marks to know it by and secrets to be cut."""

from __future__ import annotations

import random
import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AGENT = "claude-code"
"""The drill speaks as this agent, whose hooks have the most to lose."""
TOOL = "Bash"


def planted_secrets() -> Mapping[str, str]:
    """Return made-up secrets of well-known kinds, by what they look like."""
    letters = string.ascii_letters + string.digits
    draw = random.SystemRandom()

    def noise(count: int, among: str = letters) -> str:
        return "".join(draw.choices(among, k=count))

    return {
        "a GitHub token": "ghp_" + noise(36),
        "an AWS key": "AKIA" + noise(16, string.ascii_uppercase + "234567"),
        "a password in a URL": noise(20),
        "a password by name": noise(20),
    }


@dataclass(frozen=True, slots=True)
class ExpectedEntry:
    """What has to be stored because of an event.

    Attributes:
        kind: ``qa`` or ``trace``.
        mark: A word of its own that is in it.
    """

    kind: str
    mark: str


@dataclass(slots=True)
class DrillConversation:
    """One conversation of the drill's agent.

    Attributes:
        name: The agent's id of it.
        secrets: Made-up secrets that its turns hold.
        entries: What has to be stored of it.
        turns: Turns so far.
    """

    name: str
    secrets: Mapping[str, str]
    entries: list[ExpectedEntry] = field(default_factory=list)
    turns: int = 0

    @property
    def session_id(self) -> str:
        """Our id of it."""
        return f"claude_{self.name}"

    def start(self) -> dict[str, Any]:
        """Return the payload with which it begins."""
        return self._payload("SessionStart", source="startup")

    def end(self) -> dict[str, Any]:
        """Return the payload with which it ends."""
        return self._payload("SessionEnd", reason="other")

    def turn(self) -> list[dict[str, Any]]:
        """Return the payloads of the next turn: prompt, tool call, answer."""
        self.turns += 1
        asked, called = self._mark(), self._mark()
        turn = {"prompt_id": f"{self.name}-{self.turns}"}
        self.entries += [ExpectedEntry("trace", called), ExpectedEntry("qa", asked)]
        return [
            self._payload("UserPromptSubmit", prompt=self._prompt(asked), **turn),
            self._payload(
                "PostToolUse",
                tool_name=TOOL,
                tool_input={"command": f"make {called}", "description": "Run the tests"},
                tool_response={"stdout": self._output(called), "stderr": "", "interrupted": False},
                **turn,
            ),
            self._payload("Stop", last_assistant_message=f"That is about {asked}.", **turn),
        ]

    def _payload(self, event: str, **fields: Any) -> dict[str, Any]:
        return {"session_id": self.name, "cwd": "/", "hook_event_name": event, **fields}

    def _prompt(self, mark: str) -> str:
        return f"What about {mark}? My token is {self.secrets['a GitHub token']} by the way."

    def _output(self, mark: str) -> str:
        found = self.secrets
        return (
            f"{mark} passed\n"
            f"aws_access_key_id = {found['an AWS key']}\n"
            f"postgres://app:{found['a password in a URL']}@db.example.com/app\n"
            f"PASSWORD={found['a password by name']}\n"
        )

    def _mark(self) -> str:
        # Lower-case letters only: no rule takes such a word for a secret.
        return "drill" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(8))
