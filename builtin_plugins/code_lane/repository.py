"""Which repository is meant, and under which names it is known.

The names of datasets and of state files are those of the other cognee plugins, so a repository that
was indexed with one of them is found by all.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cognee_hooks.errors import UsageError
from cognee_hooks.services.names import DATASET_LIMIT

_REMOTE = re.compile(r"(?:https?|ssh)://|git@", re.IGNORECASE)
_OTHER_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(r"[\w.-]+@[\w.-]+:")
_BARE_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}/[\w.-]+/[\w.-]+/?")
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")
_PREFIX = "codebase-"
_DATASET_DIGITS = 8
_FILE_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by the name that the server gets.

    Attributes:
        spec: Absolute real path on this machine, or a URL.
        remote: Whether ``spec`` is a URL, which the server clones by itself.
    """

    spec: str
    remote: bool

    @property
    def name(self) -> str:
        """Its last component, for people and for file names."""
        return readable_tail(self.spec)

    @property
    def dataset(self) -> str:
        """Dataset that its code graph lives in.

        The server creates a dataset with a dot in its name and then refuses to build in it, so dots
        become hyphens. The name is cut in the middle, never in the digest.
        """
        return dataset_name(self.spec)

    @property
    def file_name(self) -> str:
        """Name of the file that holds its state."""
        return f"{self.name[:100]}-{_digest(self.spec)[:_FILE_DIGITS]}.json"


def is_remote(spec: str) -> bool:
    """Whether a spec is a URL of a kind that the server clones.

    Schemes are compared without regard to case; the server wants them in lower case, see
    `canonical`.
    """
    return _REMOTE.match(spec.strip()) is not None


def canonical(spec: str) -> str:
    """Return the one spelling of a spec that its names are made from.

    A URL loses trailing slashes and one ``.git``, and its scheme becomes lower-case; the path of a
    folder that is there is resolved through links; anything else is only trimmed.
    """
    if is_remote(spec):
        spec = spec.strip()
        scheme, separator, rest = spec.partition("://")
        if separator:
            spec = scheme.lower() + separator + rest
        return spec.rstrip("/").removesuffix(".git")
    # As it is first: beside "work " there may be another folder "work".
    for path in (spec, spec.strip()):
        try:
            return str(Path(path).resolve(strict=True))
        except (OSError, ValueError, RuntimeError):
            continue
    return spec.strip()


def readable_tail(spec: str) -> str:
    """Return the last component of a canonical spec, reduced to what file names can hold."""
    tail = spec.rstrip("/").rpartition("/")[2]
    return _FOREIGN.sub("-", tail).strip(".-") or "repo"


def dataset_name(spec: str) -> str:
    """Return the dataset of a canonical spec; see `Repository.dataset`."""
    room = DATASET_LIMIT - len(_PREFIX) - 1 - _DATASET_DIGITS
    tail = readable_tail(spec).lower().replace(".", "-")[:room]
    return f"{_PREFIX}{tail}-{_digest(spec)[:_DATASET_DIGITS]}"


def located(path: str, cwd: str, home: Path) -> Path:
    """Return the folder that a person means by a path.

    Args:
        path: Relative to ``cwd``, absolute, or beginning with ``~``; "" is ``cwd`` itself.
        cwd: Working directory of the session.
        home: The person's home folder.
    """
    if path == "~" or path.startswith("~/"):
        return home / path[2:]
    return Path(cwd or ".", path or ".")


def repository_of(spec: str, cwd: str, home: Path) -> Repository:
    """Find out which repository a person means.

    Args:
        spec: A path as `located` takes it, or a git URL.
        cwd: Working directory of the session.
        home: The person's home folder.

    Raises:
        UsageError: It is no folder of this machine and no URL that the server clones (W26).
    """
    if is_remote(spec):
        _refuse_credentials(spec.strip())
        return Repository(canonical(spec), remote=True)
    folder = located(spec, cwd, home)
    if not folder.is_dir():
        spec = spec.strip()
        folder = located(spec, cwd, home)
    if folder.is_dir():
        return Repository(canonical(str(folder)), remote=False)
    if _OTHER_URL.match(spec) or _SCP.match(spec) or _BARE_HOST.fullmatch(spec):
        raise UsageError(
            f"{spec!r} is no address that the server can clone. Give it as https://…, ssh://… or "
            "git@host:owner/name."
        )
    if folder.exists():
        raise UsageError(f"{str(folder)!r} is a file. Name the folder of a repository.")
    raise UsageError(f"there is no folder {str(folder)!r}. Name a repository's folder or git URL.")


def _refuse_credentials(url: str) -> None:
    # They would be stored with the dataset, and stand in every answer about it.
    try:
        secret = "://" in url and urlsplit(url).password is not None
        user = "://" in url and urlsplit(url).username
    except ValueError:
        raise UsageError("the address cannot be read; check it") from None
    if secret or (user and url.lower().startswith("http")):
        raise UsageError(
            "the address holds a user name or password, which the server would store with the "
            "dataset. Give it without, and let the server's own git credentials open it."
        )


def _digest(spec: str) -> str:
    return hashlib.sha256(spec.encode("utf-8", "surrogatepass")).hexdigest()
