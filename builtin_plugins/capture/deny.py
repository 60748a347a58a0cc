"""Files that are never captured: a call that touches one is left out as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from builtin_plugins.capture.globs import Globs
from builtin_plugins.capture.shell import words

DEFAULT_DENY = (
    ".env",
    ".env.*",
    ".envrc",
    "*/.env/*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    "kubeconfig",
    "*.kubeconfig",
    "secrets.*",
    "credentials.*",
    "*/.aws/credentials",
    "*/.ssh",
    "*/.ssh/*",
    "*/.gnupg",
    "*/.gnupg/*",
    "*/.kube/config",
    "*/.docker/config.json",
    "*/gcloud/application_default_credentials.json",
)
"""Matched without regard to case against the last part of a path and against the whole of it."""

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
_WILDCARD = re.compile(r"[*?\[]")
_TELLING = 2
"""Characters before a wildcard that say which files are meant."""


class DenyList:
    """Decides whether a tool call touches a file that is never captured.

    Args:
        extra: The user's own patterns.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        patterns = [*DEFAULT_DENY, *extra]
        self._globs = Globs(patterns, ignore_case=True)
        self._names = [each.replace("*", "") for each in patterns if "/" not in each]
        self.bad = self._globs.bad

    def refuses(self, tool_input: Mapping[str, Any]) -> bool:
        """Whether any path argument, or any word of a command line, is on the list."""
        return any(map(self._is_denied, set(_candidates(tool_input, "", _DEPTH))))

    def _is_denied(self, path: str) -> bool:
        path = unquote(path.removeprefix("file://")).replace("\\", "/").rstrip("/")
        if not path:
            return False
        whole = "/" + path.lstrip("/")
        name = whole.rsplit("/", 1)[-1]
        return self._globs.match(name) or self._globs.match(whole) or self._may_expand_to(name)

    def _may_expand_to(self, name: str) -> bool:
        """Whether a name with wildcards, such as ``.env*``, stands for a file on the list."""
        wildcard = _WILDCARD.search(name)
        if wildcard is None or wildcard.start() < _TELLING:
            return False
        return any(map(Globs([name], ignore_case=True).match, self._names))


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
