"""Small repositories that tests make and real servers index."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FILES = {
    "src/api.py": (
        "from fastapi import FastAPI\n\nfrom src.pay import run_nightly\n\napp = FastAPI()\n\n\n"
        '@app.post("/refunds")\ndef post_refund():\n    return run_nightly()\n'
    ),
    "src/ledger.py": (
        "class LedgerStore:\n    def find(self, key):\n        return key\n\n"
        "    def reverse(self, key):\n        return self.find(key)\n\n\n"
        "def audit():\n    return 1\n"
    ),
    "src/pay.py": (
        "from src.ledger import LedgerStore\n\n\n"
        'class PaymentService:\n    """Handles payments."""\n\n'
        "    def __init__(self, store: LedgerStore):\n        self.store = store\n\n"
        "    def process_refund(self, key) -> bool:\n"
        "        return bool(self.store.reverse(key))\n\n\n"
        "def make_service():\n    return PaymentService(LedgerStore())\n\n\n"
        "def run_nightly():\n    return make_service().process_refund(1)\n"
    ),
}


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, with an identity and without the developer's configuration."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, env=environ, check=True)


def make_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Make a git repository with files and one commit.

    Args:
        folder: Where.
        files: Contents by path; a small payment service if not given.
    """
    folder.mkdir(parents=True)
    for name, content in (FILES if files is None else files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder.resolve()
