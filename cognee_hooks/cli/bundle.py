"""``cognee-hooks doctor --bundle``: what support needs, and nothing that is anybody's secret.

Left out: prompts, answers, what waits, keys, values of settings that are no plain number or switch,
names of datasets and sessions, what plugins of others say, the local server's own output. Home
folders are written ``~``, and the server's name ``<server>`` unless it is this machine.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks.cli.bundle_parts import parts
from cognee_hooks.cli.common import print_json
from cognee_hooks.doctor import Finding
from cognee_hooks.errors import UsageError

ABOUT = """\
Made by `cognee-hooks doctor --bundle`.

Secrets, texts, names of datasets and sessions, and values of settings are left out or replaced;
please look through the files all the same before you send them to anybody.
"""


@dataclass(frozen=True, slots=True)
class BundlePart:
    """One file of a bundle.

    Attributes:
        name: Its name.
        content: What it holds.
        about: What that is, in a few words.
    """

    name: str
    content: bytes
    about: str


def write_bundle(options: argparse.Namespace, found: Sequence[Finding]) -> int:
    """Write the bundle, and say what is in it.

    Args:
        options: The command's options.
        found: What doctor found.

    Raises:
        UsageError: The file cannot be written, or is there already.
    """
    path = Path(options.bundle or time.strftime("cognee-hooks-bundle-%Y%m%d-%H%M%S.tar.gz"))
    files = [BundlePart("README.txt", ABOUT.encode(), "what this is")]
    for name, (about, content) in parts(options.agent, options.plugins, found).items():
        files.append(BundlePart(name, _encoded(content), about))
    _write(path, _packed(files))
    if options.json:
        listed = [{"name": e.name, "bytes": len(e.content), "about": e.about} for e in files]
        print_json({"file": str(path), "contents": listed})
    else:
        print(f"wrote {path}, which only you can read; in it are:")
        for each in files:
            print(f"  {each.name:<18}{len(each.content):>8} bytes  {each.about}")
        print(f"Look through it before you send it: tar -xzOf {path} | less")
    return 0


def _encoded(content: str | Mapping[str, object] | Sequence[object]) -> bytes:
    if isinstance(content, str):
        return content.encode(errors="replace")
    return json.dumps(content, indent=2, ensure_ascii=False, default=str).encode(errors="replace")


def _packed(files: Sequence[BundlePart]) -> bytes:
    """Return the archive; it names no user, and no folder of this machine."""
    packed = io.BytesIO()
    now = int(time.time())
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=now) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for each in files:
            entry = tarfile.TarInfo(f"cognee-hooks/{each.name}")
            entry.size, entry.mtime, entry.mode = len(each.content), now, 0o600
            archive.addfile(entry, io.BytesIO(each.content))
    return packed.getvalue()


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already, and is not overwritten") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
