"""A leak with real processes: what an agent's daemon holds and what its server got."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import httpx

from cognee_hooks.embedded import EmbeddedServer
from tests.support.command import payload
from tests.support.daemon import agent_environment, daemon_of, hook, running
from tests.support.real_cognee import free_port
from tests.support.servers import mint_key
from tests.support.waiting import until

VALUE = "hunter2-" + "Zq81-kappa"


async def turn(environ: dict[str, str], text: str, number: int) -> None:
    """A prompt, and the answer to it."""
    own = {"prompt_id": f"p{number}"}
    await hook("UserPromptSubmit", payload("UserPromptSubmit", prompt=text, **own), environ)
    await hook("Stop", payload("Stop", last_assistant_message=f"answer {number}", **own), environ)


async def scrub(environ: dict[str, str]) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cognee_hooks", "scrub", "--yes", "--json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environ,
    )
    out, _ = await process.communicate(VALUE.encode())
    told: dict[str, object] = json.loads(out)
    return told | {"code": process.returncode}


async def test_what_was_sent_and_what_waited_is_there_once_and_without_the_value(
    isolated_environment: Path, tmp_path: Path
):
    port = free_port()
    data = tmp_path / "memory.db"
    with EmbeddedServer(data, port=port) as server:
        key = mint_key(server.url)
        environ = agent_environment(isolated_environment, server.url, COGNEE_API_KEY=key)
        headers = {"X-Api-Key": key}
        async with daemon_of(environ) as folder:
            await turn(environ, f"use {VALUE} here", 1)
            await until(lambda: stored(server.url, headers) == [f"use {VALUE} here"])
            await asyncio.to_thread(server.stop)
            await turn(environ, f"and {VALUE} there", 2)
            before = running(folder)["pid"]
            await asyncio.to_thread(server.start)

            told = await scrub(environ)

            assert told["code"] == 0, told
            await turn(environ, "the next one", 3)
            whole = [
                "use [redacted:scrubbed] here",
                "and [redacted:scrubbed] there",
                "the next one",
            ]
            await until(lambda: stored(server.url, headers) == whole)
            assert running(folder)["pid"] != before
    assert holding(isolated_environment) == []


def holding(folder: Path) -> list[Path]:
    """The files that hold the value."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return [each for each in files if VALUE.encode() in each.read_bytes()]


def stored(url: str, headers: dict[str, str]) -> list[str]:
    """The prompts at the server, oldest first."""
    with httpx.Client(base_url=url, headers=headers, timeout=30) as api:
        rows = api.get("/api/v1/sessions?range=all").json()["sessions"]
        details = [api.get(f"/api/v1/sessions/{row['session_id']}").json() for row in rows]
    return [qa["question"] for detail in details for qa in detail["qas"]]
