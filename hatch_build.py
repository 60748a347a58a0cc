"""Makes the README fit for where its neighbours are not, such as the page of a package index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)([^)#]*)[^)]*\)")


class CustomMetadataHook(MetadataHookInterface):
    """Hands the README over as hatchling builds the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme.

        Args:
            metadata: The project's metadata, changed in place.
        """
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": portable(text)}


def portable(text: str) -> str:
    """Return Markdown whose links to other files are those files' names, and without pictures.

    Args:
        text: Markdown with links that are relative to the source tree.
    """
    return _LINK.sub(_named, _PICTURE.sub("", _COMMENT.sub("", text)))


def _named(link: re.Match[str]) -> str:
    text, path = link[1], link[2]
    return text if not path or path in text else f"{text} (`{path}`)"
