"""A memory server on loopback that notes down what it is asked to keep."""

from __future__ import annotations

import json
from typing import Any

from cognee_hooks.testing.loopback import LoopbackServer


class RecordingMemory(LoopbackServer):
    """A server that is well.

    Attributes:
        kept: Bodies of the requests to keep an entry, in the order of arrival.
    """

    def __init__(self) -> None:
        super().__init__("well")
        self.kept: list[dict[str, Any]] = []

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        """Answer a request, and note it down."""
        if path == "/api/v1/remember/entry":
            self.kept.append(json.loads(body))
        return super().answer(path, body)

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Questions and answers that were kept."""
        entries = [each["entry"] for each in self.kept]
        return [(each["question"], each["answer"]) for each in entries if each["type"] == "qa"]

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Tool calls that were kept: the tool's name, and whether it succeeded."""
        entries = [each["entry"] for each in self.kept]
        traces = [each for each in entries if each["type"] == "trace"]
        return [(each["origin_function"], each["status"]) for each in traces]

    @property
    def sessions(self) -> set[str]:
        """Sessions to which anything belongs that was kept."""
        return {each["session_id"] for each in self.kept}
