"""The servers that contract tests run against, and what each of them can do."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from cognee_hooks.embedded import EmbeddedServer
from tests.support.real_cognee import VERSIONS, RealCognee

USERNAME = "default_user@example.com"
PASSWORD = "default_password"


@dataclass(frozen=True)
class Capabilities:
    """How servers differ where the contract allows it; the defaults are those of 1.6.5.

    Attributes:
        binds_sessions: A session belongs to one dataset, entries create it, and take its id.
        entry_dataset_with_dot: Status of an entry for a new dataset with a dot in its name.
        unknown_entry_dataset_id: Status of an entry for a dataset id that is not there.
        pins_node_sets: A session keeps its first node set.
        pages_documents: The list of documents has pages, sizes and a count.
        eighth_stage: Name of the stage of improve that the versions do not share.
        binary_upload: Status of a file that is not text.
        unauthorized: How the text of a 401 starts.
        update_counts_redated: Update reports ``redated_chunks``.
        embedding_totals: Session rows hold what embeddings cost.
        always_finds: A recall of anything from a dataset with content finds something.
        finds_unimproved: Recall finds session entries before improve.
        holds_improves: An improve takes long enough for others to be turned away meanwhile.
    """

    binds_sessions: bool = True
    entry_dataset_with_dot: int = 400
    unknown_entry_dataset_id: int = 403
    pins_node_sets: bool = True
    pages_documents: bool = True
    eighth_stage: str = "review_conflicts"
    binary_upload: int = 415
    unauthorized: str = "Authentication required (auth posture:"
    update_counts_redated: bool = True
    embedding_totals: bool = True
    always_finds: bool = True
    finds_unimproved: bool = False
    holds_improves: bool = True


CAPABILITIES = {
    "embedded": Capabilities(always_finds=False, finds_unimproved=True, holds_improves=False),
    "cognee-1.6.0": Capabilities(
        binds_sessions=False,
        entry_dataset_with_dot=200,
        unknown_entry_dataset_id=400,
        pins_node_sets=False,
        pages_documents=False,
        eighth_stage="triplet_enrichment",
        binary_upload=409,
        unauthorized="Unauthorized",
        update_counts_redated=False,
        embedding_totals=False,
    ),
    "cognee-1.6.5": Capabilities(),
}
NAMES = tuple(CAPABILITIES)
REAL_NAMES = tuple(f"cognee-{version}" for version in VERSIONS)


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        name: ``embedded``, ``cognee-1.6.0`` or ``cognee-1.6.5``.
        url: Base URL.
        key: An API key of its owner.
        can: What it can do.
    """

    name: str
    url: str
    key: str
    can: Capabilities


class ServerPool:
    """Starts each server when it is first asked for, and ends all of them together."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self._folder = folder
        self._model_url = model_url
        self._stack = ExitStack()
        self._servers: dict[str, Server] = {}
        self._processes: dict[str, EmbeddedServer | RealCognee] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def get(self, name: str) -> Server:
        """The server of that name, running."""
        if name not in self._servers:
            process: EmbeddedServer | RealCognee
            if name == "embedded":
                process = EmbeddedServer(self._folder / "embedded.db")
            else:
                version = name.removeprefix("cognee-")
                process = RealCognee(version, self._folder / name, self._model_url)
            self._stack.enter_context(process)
            self._processes[name] = process
            self._servers[name] = Server(
                name, process.url, mint_key(process.url), CAPABILITIES[name]
            )
        return self._servers[name]

    def process(self, name: str) -> EmbeddedServer | RealCognee | None:
        """What runs the server of that name, for its log or pid."""
        return self._processes.get(name)


def login(url: str) -> str:
    """A bearer token of the default user."""
    form = {"username": USERNAME, "password": PASSWORD}
    answer = httpx.post(f"{url}/api/v1/auth/login", data=form, timeout=30)
    return str(answer.raise_for_status().json()["access_token"])


def mint_key(url: str, name: str = "tests") -> str:
    """A new API key of the default user."""
    answer = httpx.post(
        f"{url}/api/v1/auth/api-keys",
        json={"name": name},
        headers={"Authorization": f"Bearer {login(url)}"},
        timeout=30,
    )
    return str(answer.raise_for_status().json()["key"])
