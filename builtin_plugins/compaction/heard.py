"""What was said in a conversation, as far as its events told, for agents without a transcript."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from cognee_hooks.events import Stop, Turn, UserPromptSubmit

MAX_TURNS = 12
MAX_CHARS = 8 * 1024
"""Characters of a text; the anchor shows far less of it."""


@dataclass(slots=True)
class _Asked:
    prompt_id: str
    question: str
    answer: str = ""


class Heard:
    """Pairs prompts with answers, in memory only: it is raw text."""

    def __init__(self) -> None:
        self._asked: deque[_Asked] = deque(maxlen=MAX_TURNS)

    def prompt(self, event: UserPromptSubmit) -> None:
        """Hear a prompt of the user's; others begin no turn."""
        prompt = event.prompt.strip()
        if prompt and not prompt.startswith("/") and not event.machine_made and not event.agent_id:
            self._asked.append(_Asked(event.prompt_id, prompt[:MAX_CHARS]))

    def answer(self, event: Stop) -> None:
        """Hear the answer to the latest prompt that it may belong to, unless that has one.

        Where both have an id, it is the same.
        """
        answer = event.last_assistant_message.strip()
        if not answer or event.agent_id:
            return
        for asked in reversed(self._asked):
            if not (asked.prompt_id and event.prompt_id) or asked.prompt_id == event.prompt_id:
                asked.answer = asked.answer or answer[:MAX_CHARS]
                return

    def take(self) -> tuple[Turn, ...]:
        """Return what was heard since this was called before."""
        turns = tuple(Turn(question=each.question, answer=each.answer) for each in self._asked)
        self._asked.clear()
        return turns
