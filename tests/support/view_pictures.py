"""Takes the pictures of the page that the documentation shows.

``python -m tests.support.view_pictures`` writes ``docs/images/view-light.png`` and
``view-dark.png`` anew, which takes half a minute. The sessions really take place, in a second;
the moments that the page gets are then spread over a morning, as nobody works that fast.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from playwright.async_api import Page, Route, expect

from tests.support.browser import browser
from tests.support.view_machine import LIVE, view_machine, view_server

_FOLDER = Path(__file__).parents[2] / "docs" / "images"
_WINDOW = {"width": 1200, "height": 860}
_MINUTES = (4, 11, 26, 41, 58)
"""How long ago the prompts were, the latest first."""


async def take(folder: Path) -> list[Path]:
    """Take the pictures, and return where they are.

    Args:
        folder: Where to.
    """
    taken = []
    async with view_machine() as machine, view_server(machine) as server, browser() as chrome:
        context = await chrome.new_context(viewport=_WINDOW, device_scale_factor=1.5)
        page = await context.new_page()
        await page.route("**/api/sessions/*", _spread)
        await page.goto(server.address)
        await page.get_by_role("link", name=f"claude_{LIVE.partition('-')[0]}").click()
        await _open_first(page)
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            path = folder / f"view-{scheme}.png"
            await page.screenshot(path=path)
            taken.append(path)
    return taken


async def _open_first(page: Page) -> None:
    await expect(page.locator("#connection")).to_have_text("Live")
    await page.locator("summary").first.click()
    await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    await page.mouse.move(0, 0)


async def _spread(route: Route) -> None:
    answer = await route.fetch()
    told: dict[str, Any] = await answer.json()
    last = told["session"]["last"]
    prompts = sorted(told["prompts"], key=lambda each: each["time"], reverse=True)
    for each, minutes in zip(prompts, _MINUTES, strict=True):
        each["time"] = last - 60 * minutes
    told["session"]["began"] = last - 60 * 71
    await route.fulfill(response=answer, json=told)


def main() -> None:
    """Take the pictures anew."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    for path in asyncio.run(take(_FOLDER)):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
