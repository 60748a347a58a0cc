"""The anchor that waits for the next prompt; it outlives the process."""

from __future__ import annotations

import logging

from cognee_hooks.services.session_state import SessionState


class Pending:
    """At most one anchor, the newest.

    It is forgotten once the conversation has gone on after it was given to a prompt, and not
    before: a process that is killed in between may have kept it from the model.

    Args:
        state: Where it is kept.
        log: Where it is said that it cannot be kept.

    Attributes:
        text: The anchor, redacted; "" where none waits.
        made_of: What the newest anchor was made of, whether it still waits or not.
    """

    def __init__(self, state: SessionState, log: logging.Logger) -> None:
        known = state.read()
        self.text = _text(known.get("anchor"))
        self.made_of = _text(known.get("made_of"))
        self._state = state
        self._log = log
        self._given = False

    def put(self, text: str, made_of: str) -> None:
        """Keep an anchor in place of whatever waits."""
        self.text, self.made_of, self._given = text, made_of, False
        self._save()

    def improve(self, text: str, made_of: str) -> None:
        """Replace an anchor by a better one of the same turns, unless it was given already."""
        if self.text and self.made_of == made_of and not self._given:
            self.put(text, made_of)

    def give(self) -> str:
        """Return the anchor for a prompt; "" where none waits, or the prompt before this had it."""
        self.settle()
        self._given = bool(self.text)
        return self.text

    def settle(self) -> None:
        """The conversation went on: forget what was given."""
        if self._given:
            self.put("", self.made_of)

    def drop(self) -> None:
        """Forget the anchor, whether it was given or not."""
        if self.text:
            self.put("", self.made_of)

    def _save(self) -> None:
        try:
            self._state.write({"anchor": self.text, "made_of": self.made_of})
        except OSError as error:
            self._log.warning("anchor kept in memory only: %s", type(error).__name__)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
