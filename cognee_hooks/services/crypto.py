"""Encrypts what is kept on disk for later: AES-256-GCM under a key of this user on this machine.

It guards against what copies files without their owner's will: backups, synchronised folders, a
state folder that is shared for a bug report. It does not guard against programs of the same user,
who can read the key as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.statefile import LOCK_SECONDS, read_bytes, write_atomic

KEY_BYTES = 32
_NONCE_BYTES = 12
_MAGIC = b"chs1"
"""Begins what is sealed; the digit counts formats."""


class Unreadable(CogneeHooksError):
    """The data is not what was sealed under this key and name: damaged, moved, or another key's."""


class Sealer:
    """Seals and opens byte strings, each bound to a name.

    Args:
        key: 32 random bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    @classmethod
    def of(cls, key_file: Path) -> Self:
        """Return the sealer whose key lies in a file; the file is made, 0600, where it is missing.

        A file of ours that holds no whole key is put aside as ``<name>.bad``: nothing could ever be
        read with it.

        Raises:
            OSError: The file cannot be made, or what lies there is no key of ours.
        """
        key = read_bytes(key_file, max_bytes=KEY_BYTES, private=True)
        if key is None or len(key) != KEY_BYTES:
            _make_key(key_file)
            key = read_bytes(key_file, max_bytes=KEY_BYTES, private=True)
        if key is None or len(key) != KEY_BYTES:
            raise OSError(f"{key_file} holds no key: {KEY_BYTES} bytes that nobody else can change")
        return cls(key)

    def seal(self, data: bytes, name: str) -> bytes:
        """Return ``data`` encrypted and bound to ``name``."""
        nonce = os.urandom(_NONCE_BYTES)
        return _MAGIC + nonce + self._cipher.encrypt(nonce, data, name.encode())

    def open(self, sealed: bytes, name: str) -> bytes:
        """Return what was sealed under ``name``.

        Raises:
            Unreadable: It was not sealed with this key and name, or is damaged.
        """
        head = len(_MAGIC) + _NONCE_BYTES
        if not sealed.startswith(_MAGIC):
            raise Unreadable("not sealed by this program")
        try:
            return self._cipher.decrypt(sealed[len(_MAGIC) : head], sealed[head:], name.encode())
        except (InvalidTag, ValueError) as error:
            raise Unreadable("damaged, or sealed with another key") from error


def _make_key(key_file: Path) -> None:
    """Make the key file, complete or not at all; a key that is there already stays."""
    # A rename replaces what is there, and nothing could read any more what the key of another
    # process has just sealed. A link would not, but not every file system knows links.
    lock = KernelLock(key_file.with_name(f".{key_file.name}.lock"))
    with lock.holding(Deadline.after(LOCK_SECONDS)):
        torn = read_bytes(key_file, private=True)
        if torn is not None and len(torn) != KEY_BYTES:
            key_file.replace(key_file.with_name(f"{key_file.name}.bad"))
        if not os.path.lexists(key_file):
            write_atomic(key_file, os.urandom(KEY_BYTES))
