"""Files that are never captured: a call that touches one is left out as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from builtin_plugins.capture.shell import words
from cognee_hooks.denied import DeniedPaths

PATH_KEYS = frozenset(
    "destination filename filenames folder glob globs include source src target".split()
)
"""Arguments that name files, compared in lower case."""

PATH_KEY_ENDINGS = ("dir", "directory", "file", "files", "path", "paths", "uri", "url")
"""How the names of further ones end."""

COMMAND_KEYS = frozenset({"args", "argv", "cmd", "command", "input", "script"})
"""Arguments that hold command lines."""

_DEPTH = 32
_WORD_EDGE = re.compile(r"^(?:\d*[<>&]+|@)|[,:]+$")


class DenyList:
    """Decides whether a tool call touches a file that is never captured.

    Args:
        extra: The user's own patterns.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        self._paths = DeniedPaths(extra)
        self.bad = self._paths.bad

    def refuses(self, tool_input: Mapping[str, Any]) -> bool:
        """Whether any path argument, or any word of a command line, is on the list."""
        return any(map(self._paths.denies, set(_candidates(tool_input, "", _DEPTH))))


def _candidates(value: Any, key: str, depth: int) -> Iterator[str]:
    """Yield what may be a path: values under path keys, and words of command lines."""
    if isinstance(value, str):
        if key in PATH_KEYS or key.endswith(PATH_KEY_ENDINGS):
            yield value
        elif key in COMMAND_KEYS:
            yield from _words_that_may_be_paths(value)
    elif depth and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _candidates(inner, str(name).lower(), depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for inner in value:
            yield from _candidates(inner, key, depth - 1)


def _words_that_may_be_paths(command: str) -> Iterator[str]:
    for word in words(command):
        bare = _WORD_EDGE.sub("", word)
        yield bare
        # --env-file=.env, if=/path, host:/path and -o/path
        for separator in "=:@<>":
            if separator in bare:
                yield bare.rsplit(separator, 1)[-1]
