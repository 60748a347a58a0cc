"""The tools and commands for people and models, from end to end, at every server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.events import PostToolUse, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.asking import Asking
from tests.support.servers import Server
from tests.support.waiting import until

NOTES = "# Notes\n\nOscarService keeps its books in the PapaStore.\n"


@pytest.fixture
async def host(server: Server, tmp_path: Path, name: str) -> AsyncIterator[Host]:
    made = Host(
        "pi",
        environ={
            "HOME": str(tmp_path / "home"),
            "COGNEE_BASE_URL": server.url,
            "COGNEE_API_KEY": server.key,
            "COGNEE_PLUGIN_DATASET": name,
            "COGNEE_REMEMBER_WAIT_SECONDS": "45",
            "COGNEE_REQUEST_TIMEOUT_MS": "60000",
        },
        session_id=f"pi_{name}",
        cwd=str(tmp_path),
        entry_points=(),
    )
    made.dialogs = Asking()
    yield made
    await made.close(Deadline.after(5.0))


async def tool(host: Host, name: str, **arguments: object) -> str:
    return await host.registered.tools[f"cognee_{name}"].run(arguments)


async def test_w6_a_file_is_remembered_updated_found_and_forgotten(
    host: Host, name: str, tmp_path: Path
):
    path = tmp_path / "notes.v2.md"
    path.write_text(NOTES)
    told = await tool(host, "remember", file=path.name, node_set="project_docs")
    assert told.startswith("Stored file 'notes.v2.md'")
    assert "graph is queryable" in told
    assert "unchanged (identical to the stored copy" in await tool(host, "remember", file=str(path))
    path.write_text(NOTES.replace("PapaStore", "QuebecStore"))
    told = await tool(host, "remember", file=path.name)
    assert told.startswith(f"Updated file 'notes.v2.md' in dataset '{name}'")
    data_id = re.search(r"data_id ([0-9a-f-]{36})", told)
    found = await tool(host, "recall", query="Where does OscarService keep its books?")
    assert "QuebecStore" in found
    assert "PapaStore" not in found
    told = await tool(host, "remember", content="The RomeoGateway is rolled out on Tuesdays.")
    assert told.startswith(f"Stored in dataset '{name}'")
    assert "graph is queryable" in told
    found = await tool(host, "search", query="When is the RomeoGateway rolled out?", dataset=name)
    assert "Tuesdays" in found

    host.dialogs.says = True
    assert data_id is not None
    told = await tool(host, "forget", dataset=name, data_id=data_id[1])
    assert told == f"Deleted data item {data_id[1]} of dataset '{name}'."
    told = await tool(host, "forget", dataset=name, data_id=data_id[1])
    assert "there is no data item" in told
    assert "QuebecStore" not in await tool(host, "recall", query="OscarService books")
    told = await tool(host, "forget", dataset=name, entire_dataset=True)
    assert told.startswith("Deleted the ENTIRE dataset")
    assert "it is there again, empty" in told
    assert "has no graph yet" in await tool(host, "recall", query="OscarService")
    for mistyped in (f"{name}x", f"{name[:-1]}"):
        told = await tool(host, "search", query="OscarService", dataset=mistyped)
        assert f"Dataset '{mistyped}' not found" in told


async def test_a_switch_syncs_the_session_and_the_next_turn_goes_elsewhere(host: Host, name: str):
    here = {"session_id": f"pi_{name}", "agent": "pi"}

    async def play(fact: str) -> None:
        await host.user_prompt_submit(UserPromptSubmit(**here, prompt="Where are the books kept?"))
        await host.post_tool_use(
            PostToolUse(**here, tool_name="bash", tool_input={"command": "ls"})
        )
        await host.stop(Stop(**here, last_assistant_message=fact))

    await host.start()
    await play("In the PapaStore.")
    told = await host.registered.commands["datasets"].run(f"{name}_2 --create --force")
    assert told.startswith(f"Switched to dataset '{name}_2' (session pi_{name}__2).")
    await play("In the QuebecStore.")
    assert await host.background.settle(Deadline.after(30.0))
    await until(lambda: not host.waiting)
    client = host.services.client
    for session, fact in ((f"pi_{name}", "Papa"), (f"pi_{name}__2", "Quebec")):
        detail = await client.session(session, Deadline.after(30.0))
        assert [row["answer"] for row in detail.qas] == [f"In the {fact}Store."]
        assert detail.tool_calls == 1
    listed = await host.registered.commands["datasets"].run("")
    assert f"Current dataset: {name}_2 (session pi_{name}__2)" in listed
    assert f" * {name}_2 (" in listed
