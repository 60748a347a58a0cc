"""Files that never leave the machine: keys, passwords, and what holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from cognee_hooks.globs import Globs

DENIED = (
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
    ".dockercfg",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    "kubeconfig",
    "*.kubeconfig",
    "secrets.*",
    "credentials.*",
    "*/.*/credentials",
    "*.tfstate",
    "*.tfstate.*",
    "*/.ssh",
    "*/.ssh/*",
    "*/.gnupg",
    "*/.gnupg/*",
    "*/.kube/config",
    "*/.docker/config.json",
    "*/.config/gh/hosts.yml",
    "*/gcloud/application_default_credentials.json",
)
"""Matched without regard to case against the last part of a path and against the whole of it."""

_WILDCARD = re.compile(r"[*?\[]")
_TELLING = 2
"""Characters before a wildcard that say which files are meant."""


class DeniedPaths:
    """Decides whether a path names such a file.

    Args:
        extra: The user's own patterns.

    Attributes:
        bad: Patterns of these that cannot be used.
    """

    def __init__(self, extra: Iterable[str] = ()) -> None:
        patterns = [*DENIED, *extra]
        self._globs = Globs(patterns, ignore_case=True)
        self._names = [each.replace("*", "") for each in patterns if "/" not in each]
        self.bad = self._globs.bad

    def denies(self, path: str) -> bool:
        """Whether a path, as it is written, is one of them, or may expand to one."""
        path = unquote(path.removeprefix("file://")).replace("\\", "/").rstrip("/")
        if not path:
            return False
        whole = "/" + path.lstrip("/")
        name = whole.rsplit("/", 1)[-1]
        return self._globs.match(name) or self._globs.match(whole) or self._may_expand_to(name)

    def denies_file(self, path: Path) -> bool:
        """Whether a file is one of them under the name that is given or the one behind links."""
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError, ValueError):
            return True  # what goes round in circles is nothing that anybody could read
        return self.denies(str(path)) or self.denies(str(resolved))

    def _may_expand_to(self, name: str) -> bool:
        """Whether a name with wildcards, such as ``.env*``, stands for a file on the list."""
        wildcard = _WILDCARD.search(name)
        if wildcard is None or wildcard.start() < _TELLING:
            return False
        return any(map(Globs([name], ignore_case=True).match, self._names))
