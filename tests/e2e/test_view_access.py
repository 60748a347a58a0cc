"""Who gets to the page of ``cognee-hooks view``, by what a real browser sends and refuses."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import pytest

from tests.support.browser import browser
from tests.support.waiting import PATIENCE

SERVES = """
import os, webbrowser
from pathlib import Path
from cognee_hooks.view import serve
webbrowser.open = lambda address: print(address, flush=True)
told = lambda address: print(address, flush=True)
serve(0, environ=dict(os.environ), cwd=Path.cwd(), browser=True, on_ready=told)
"""
READS = """async address => {
  try { return (await fetch(address, {mode: "no-cors", credentials: "include"})).type }
  catch { return "refused" }
}"""


@pytest.fixture
async def addresses(isolated_environment) -> AsyncIterator[tuple[str, str]]:
    """The address that is printed, and the one that the browser is started with."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVES, stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    try:
        printed, started = [(await process.stdout.readline()).decode().strip() for _ in range(2)]
        yield printed, started
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


@pytest.fixture
async def other_port() -> AsyncIterator[tuple[str, list[str]]]:
    """What another program of this machine serves, of the same site for a browser, and is sent."""
    sent: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", sent


async def test_the_browser_gets_in_by_its_file_and_another_ports_page_does_not_by_it(
    addresses, other_port
):
    printed, started = addresses
    origin = printed.partition("/open")[0]
    async with browser() as chrome:
        context = await chrome.new_context()
        page = await context.new_page()
        await page.goto(started)
        await page.wait_for_url(f"{origin}/")
        assert "cognee-hooks" in await page.title()

        other, sent = other_port
        await page.goto(other)
        await page.evaluate(READS, f"{other}api/summary")
        assert sent
        assert not [each for each in sent if "cookie" in each.lower()]
        assert await page.evaluate(READS, f"{origin}/api/summary") == "refused"
        async with page.expect_response(f"{origin}/") as answered:
            await page.evaluate("address => { location.href = address }", f"{origin}/")
        assert (await answered.value).status == 403
