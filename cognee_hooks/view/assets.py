"""The files that the page is made of; they come with us, and there are no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePath
from types import MappingProxyType

PAGE = "index.html"

_TYPES = MappingProxyType(
    {
        ".html": "text/html",
        ".css": "text/css",
        ".js": "text/javascript",
        ".svg": "image/svg+xml",
    }
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file.

    Attributes:
        content: Its bytes.
        media_type: What they are.
    """

    content: bytes
    media_type: str


def load_assets() -> Mapping[str, Asset]:
    """Read all files, by their names."""
    folder = resources.files("cognee_hooks.view") / "assets"
    return {
        file.name: Asset(file.read_bytes(), f"{_TYPES[suffix]}; charset=utf-8")
        for file in folder.iterdir()
        if (suffix := PurePath(file.name).suffix) in _TYPES
    }
