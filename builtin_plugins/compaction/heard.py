"""What was said in a conversation, as far as its events told, for agents without a transcript."""

from __future__ import annotations

from collections import deque

from cognee_hooks.events import Stop, Turn, UserPromptSubmit

MAX_TURNS = 12
MAX_CHARS = 8 * 1024
"""Characters of a text; the anchor shows far less of it."""


class Heard:
    """Pairs prompts with answers, in memory only: it is raw text."""

    def __init__(self) -> None:
        self._turns: deque[Turn] = deque(maxlen=MAX_TURNS)

    def prompt(self, event: UserPromptSubmit) -> None:
        """Hear a prompt of the user's; others begin no turn."""
        prompt = event.prompt.strip()
        if prompt and not prompt.startswith("/") and not event.machine_made and not event.agent_id:
            self._turns.append(Turn(question=prompt[:MAX_CHARS]))

    def answer(self, event: Stop) -> None:
        """Hear the answer to the latest prompt, unless it has one."""
        answer = event.last_assistant_message.strip()
        if self._turns and answer and not event.agent_id and not self._turns[-1].answer:
            asked = self._turns.pop()
            self._turns.append(Turn(question=asked.question, answer=answer[:MAX_CHARS]))

    def take(self) -> tuple[Turn, ...]:
        """Return what was heard since this was called before."""
        turns = tuple(self._turns)
        self._turns.clear()
        return turns
