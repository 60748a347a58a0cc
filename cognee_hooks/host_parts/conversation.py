"""One conversation of an agent, and the session that it is at the server for the time being."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cognee_hooks.events import DatasetChanged
from cognee_hooks.services.bindings import Binding
from cognee_hooks.services.names import next_ordinal
from cognee_hooks.session import Session
from cognee_hooks.settings import ARGUMENT, PROJECT_FILE

if TYPE_CHECKING:
    from cognee_hooks.services.bindings import Bindings
    from cognee_hooks.settings import Settings


class Conversation:
    """Keeps which dataset and session a conversation is bound to, over switches and restarts.

    A new conversation begins with the dataset that somebody switched to last. That beats the user's
    settings, from which the switch was made, but neither arguments nor the project's own choice.

    Args:
        first: The conversation as the settings have it; its session id is the conversation's own.
        bindings: What was switched.
        settings: Where the dataset comes from.

    Attributes:
        id: Its own id, which stays the same.
        session: The session from now on, until the next switch.
    """

    def __init__(self, first: Session, bindings: Bindings, settings: Settings) -> None:
        self.id = first.session_id
        self._bindings = bindings
        self._chosen = settings.get_source("", "dataset") in {ARGUMENT, PROJECT_FILE}
        binding = bindings.of(self.id)
        if binding is not None:
            self.session = replace(first, dataset=binding.dataset, session_id=binding.session_id)
        else:
            dataset = (not self._chosen and bindings.default()) or first.dataset
            self.session = replace(first, dataset=dataset)

    def switch(self, dataset: str, *, synced: bool) -> DatasetChanged:
        """Bind it to another dataset; see `PluginContext.switch_dataset`.

        Raises:
            OSError: The switch cannot be kept; nothing has changed.
        """
        left = self.session
        session = replace(left, dataset=dataset, session_id=next_ordinal(left.session_id))
        self._bindings.save(
            self.id,
            _binding(session),
            _binding(left),
            synced=synced,
            # A switch away from a choice of just this project is none for all others.
            lasting=not self._chosen,
        )
        self.session = session
        return DatasetChanged(
            previous=left.dataset, current=session.dataset, session_id=session.session_id
        )


def _binding(session: Session) -> Binding:
    return Binding(dataset=session.dataset, session_id=session.session_id)
