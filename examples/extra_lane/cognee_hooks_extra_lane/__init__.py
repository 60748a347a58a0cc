"""Recalls from a folder of notes, beside the memory of the cognee server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks import PluginContext, hookimpl, option
from cognee_hooks.results import CheckResult, CheckStatus, Lane

MOST_FILES = 500
LARGEST_FILE = 100_000
"""Bytes; of longer notes only the beginning is searched."""
MOST_PASSAGES = 3
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True)
class Options:
    """Options of the plugin, under ``plugins: {extra-lane: …}`` in the configuration."""

    folder: Path = option(
        default=Path("~/notes"),
        env="COGNEE_NOTES_FOLDER",
        help="Folder of Markdown notes; paragraphs are found by the words that they share.",
    )


class ExtraLane:
    """The plugin; every session gets an object of its own."""

    def __init__(self, context: PluginContext) -> None:
        self._folder = context.settings(Options).folder

    @hookimpl
    def cognee_register_settings(self) -> type:
        """Declare the options."""
        return Options

    @hookimpl
    def cognee_register_lanes(self) -> Lane:
        """Return the lane.

        Recall asks all lanes at the same time, gives each a block of its own, makes what they say
        harmless, and goes on without those that are late.
        """
        return Lane(name="notes", search=self.search)

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult:
        """Tell how many notes there are."""
        count = len(list(_notes(self._folder)))
        return CheckResult(
            name="notes",
            status=CheckStatus.OK if count else CheckStatus.WARNING,
            detail=f"{count} in {self._folder}",
            remedy="" if count else "put Markdown files there, or set COGNEE_NOTES_FOLDER",
        )

    async def search(self, query: str) -> list[str]:
        """Return the paragraphs that share most words with a prompt, best first.

        Args:
            query: The prompt, with secrets taken out.
        """
        # Files block, so they are read on another thread.
        return await asyncio.to_thread(_search, self._folder, query)


def _search(folder: Path, query: str) -> list[str]:
    wanted = _words(query)
    found: list[tuple[int, str]] = []
    for path in _notes(folder):
        for paragraph in _paragraphs(path):
            shared = len(wanted & _words(paragraph))
            if shared:
                found.append((shared, f"{paragraph} ({path.name})"))
    found.sort(key=lambda each: -each[0])
    return [text for _, text in found[:MOST_PASSAGES]]


def _notes(folder: Path) -> Iterator[Path]:
    """Yield the notes, the newest first; a link may lead anywhere and is left out."""
    try:
        paths = [each for each in folder.glob("*.md") if each.is_file() and not each.is_symlink()]
        paths.sort(key=lambda each: each.stat().st_mtime, reverse=True)
    except OSError:
        return
    yield from paths[:MOST_FILES]


def _paragraphs(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE).decode("utf-8", "replace")
    except OSError:
        return []
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
