"""Every command and tool of the cognee extension for pi, once, against the embedded server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from cognee_hooks.calls import run_command, use_tool
from cognee_hooks.core_commands import commands_of
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host import Host
from tests.support import api
from tests.support.asking import Asking
from tests.support.servers import Server

Make = Callable[..., Host]
NOTES = "OscarService keeps its books in the PapaStore."
NAMED = "test_each_"
"""How the names of datasets begin that nobody has written to."""
ROWS = {
    "cognee": ("", "Cognee Memory — connected"),
    "cognee-doctor": ("", ""),
    "cognee-remember": (f'"{NOTES}" --node-set project_docs', "Stored in dataset "),
    "cognee-search": ("PapaStore --top-k 3", f"Dataset '{NAMED}"),
    "cognee-index": ("", "⚠ "),
    "cognee-code": ("--dataset some PaymentService", ""),
    "cognee-sync": ("", ""),
    "cognee-datasets": ("", "Current dataset: "),
    "cognee-forget": ("", "Datasets:"),
}
"""What is typed, and how the answer begins."""
TOOLS: dict[str, tuple[dict[str, Any], str]] = {
    "cognee_remember": ({"content": NOTES}, "Stored in dataset "),
    "cognee_recall": ({"query": "PapaStore", "top_k": 3}, f"Dataset '{NAMED}"),
    "cognee_search": ({"query": "PapaStore", "search_type": "CHUNKS"}, f"Dataset '{NAMED}"),
    "cognee_code": ({"operation": "explore"}, "⚠ explore needs 'name'"),
    "cognee_forget": ({"dataset": "nowhere"}, "Nothing deleted."),
    "cognee_sync": ({"dataset": "elsewhere"}, "Nothing was synced: "),
}


@pytest.fixture
async def make(tmp_path: Path, embedded_server: Server) -> AsyncIterator[Make]:
    hosts: list[Host] = []
    project = tmp_path / "project"
    project.mkdir()

    def build(**environ: str) -> Host:
        made = Host(
            "pi",
            environ={
                "HOME": str(tmp_path / "home"),
                "COGNEE_BASE_URL": embedded_server.url,
                "COGNEE_API_KEY": embedded_server.key,
                "COGNEE_PLUGIN_DATASET": tmp_path.name,
                **environ,
            },
            session_id=f"pi_{tmp_path.name}",
            cwd=str(project),
            entry_points=(),
        )
        made.dialogs = Asking()
        hosts.append(made)
        return made

    yield build
    for each in hosts:
        await each.close(Deadline.after(2))


def soon() -> Deadline:
    return Deadline.after(30)


async def typed(host: Host, command: str, text: str = "") -> str:
    return await run_command(host, command, text, soon())


@pytest.mark.parametrize("command", ROWS)
async def test_each_command_answers(make: Make, command: str):
    host = make()
    assert commands_of(host)[command].help
    text, start = ROWS[command]
    answer = await typed(host, command, text)
    assert answer.startswith(start)
    assert answer


@pytest.mark.parametrize("tool", TOOLS)
async def test_each_tool_answers(make: Make, tool: str):
    arguments, start = TOOLS[tool]
    assert (await use_tool(make(), tool, arguments, soon())).startswith(start)


async def test_what_is_remembered_is_found_and_forgotten(make: Make):
    host = make()
    await typed(host, "remember", NOTES)
    assert "PapaStore" in await typed(host, "search", '"Which books has OscarService?"')
    recalled = await use_tool(host, "cognee_recall", {"query": "OscarService books"}, soon())
    assert "PapaStore" in recalled
    told = await typed(host, "forget", f"{host.session.dataset} --entire --yes")
    assert told.startswith("Deleted the ENTIRE dataset")
    assert "PapaStore" not in await typed(host, "search", "OscarService books")


# -- federated reads -------------------------------------------------------------------------------


@pytest.fixture
def two(embedded_server: Server, tmp_path: Path) -> list[str]:
    """Ids of two datasets with something in each."""
    headers = {"X-Api-Key": embedded_server.key}
    with httpx.Client(base_url=embedded_server.url, headers=headers) as client:
        made = [
            api.remember(client, f"{tmp_path.name}_{word}", f"{word} sails at dawn.")
            for word in ("Alpha", "Bravo")
        ]
    return [str(each["dataset_id"]) for each in made]


Look = Callable[[Host, str], Awaitable[str]]


async def by_search(host: Host, query: str) -> str:
    return await use_tool(host, "cognee_search", {"query": query, "dataset": "mine"}, soon())


async def by_recall(host: Host, query: str) -> str:
    return await use_tool(host, "cognee_recall", {"query": query}, soon())


async def by_command(host: Host, query: str) -> str:
    return await typed(host, "search", query)


@pytest.mark.parametrize("look", [by_search, by_recall, by_command])
async def test_vectors_99_and_101_named_datasets_are_read_instead_and_nothing_narrows_that(
    make: Make, two: list[str], look: Look
):
    ids = f'["{two[0].upper()}", "{two[1].replace("-", "")}", "{two[0]}"]'
    host = make(COGNEE_PLUGIN_READ_DATASET_IDS=ids)
    assert list(host.core.read_dataset_ids) == two
    await typed(host, "remember", "Charlie sails at dawn.")
    found = await look(host, "Who sails at dawn?")
    assert "Alpha" in found
    assert "Bravo" in found
    assert "Charlie" not in found
    tools = host.registered.tools
    assert "Federated reads are configured (COGNEE_" in tools["cognee_recall"].description
    assert "2 dataset(s) are searched" in tools["cognee_search"].description
    assert "Federated" not in tools["cognee_code"].description


async def test_a_prompt_is_recalled_for_from_named_datasets(make: Make, two: list[str]):
    host = make(COGNEE_PLUGIN_READ_DATASET_IDS=f'["{two[0]}"]')
    prompt = UserPromptSubmit(session_id=host.session.session_id, prompt="Who sails at dawn?")
    context = (await host.user_prompt_submit(prompt)).context
    assert "Alpha" in context
    assert "Bravo" not in context
