"""The documents as tests read them: pages, the blocks of code in them, their headings and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TESTED_BY = re.compile(r"<!-- tested by: (\S+) -->\n$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
_CODE = re.compile(r"`[^`\n]*`")
_NAME = re.compile(r"^# ([\w.-]+\.(?:py|toml|yaml))$")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        page: The page's name, relative to the project.
        line: Where it begins there.
        kind: The word behind the fence; "" where there is none.
        text: What stands in it.
        tested_by: The file that runs it, where the page names one; "" otherwise.
    """

    page: str
    line: int
    kind: str
    text: str
    tested_by: str

    @property
    def file_name(self) -> str:
        """The name of the file that it is, which stands in its first line; "" where it is none."""
        found = _NAME.match(self.text.partition("\n")[0])
        return found[1] if found else ""

    def __str__(self) -> str:
        """Say where it is, as an editor understands it."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        path: Its file.
    """

    path: Path

    @property
    def name(self) -> str:
        """Its name, relative to the project."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks of code, in order."""
        return tuple(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for found in _FENCE.finditer(self.text):
            before = self.text[: found.start()]
            tested_by = _TESTED_BY.search(before)
            yield Block(
                self.name,
                before.count("\n") + 1,
                found[1],
                found[2],
                tested_by[1] if tested_by else "",
            )

    @cached_property
    def prose(self) -> str:
        """The page without blocks of code and comments."""
        return _COMMENT.sub("", _FENCE.sub("", self.text))

    @cached_property
    def anchors(self) -> frozenset[str]:
        """What a link can name behind ``#``, as GitHub makes it of headings."""
        return frozenset(_anchor(each) for each in _HEADING.findall(self.prose))

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Where its links and pictures lead to."""
        found = _LINK.findall(_CODE.sub("`", self.prose))
        return tuple(first or second for first, second in found)

    def between(self, name: str) -> str:
        """Return what stands between the marks of a generated part."""
        _, begun, rest = self.text.partition(f"<!-- {name}:")
        part, ended, _ = rest.partition("-->\n")[2].partition(f"\n<!-- end of {name} -->")
        assert begun, f"{self.name} has no part {name!r}"
        assert ended, f"the part {name!r} of {self.name} does not end"
        return part


def all_pages() -> list[Page]:
    """Return the README and all pages of the documentation."""
    return [Page(ROOT / "README.md"), *map(Page, sorted((ROOT / "docs").glob("*.md")))]


def _anchor(heading: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
