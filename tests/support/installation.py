"""A fresh virtual environment, in which things are installed as users install them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Installation:
    """A virtual environment.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    @classmethod
    def fresh(cls, parent: Path) -> Self:
        """Make an empty one."""
        folder = parent / "venv"
        _uv("venv", "--quiet", "--python", sys.executable, str(folder))
        return cls(folder)

    def install(self, *what: Path | str) -> None:
        """Install packages, given as folders or by name."""
        python = self.folder / "bin" / "python"
        _uv("pip", "install", "--quiet", "--python", str(python), *map(str, what))

    def remove(self, name: str) -> None:
        """Remove a package."""
        python = self.folder / "bin" / "python"
        _uv("pip", "uninstall", "--quiet", "--python", str(python), name)

    def run(
        self,
        *arguments: str,
        stdin: str = "",
        program: str = "cognee-hooks",
        cwd: Path | None = None,
        **environ: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run an installed command.

        Args:
            arguments: Its arguments.
            stdin: What it reads.
            program: Its name.
            cwd: Working directory; the environment's own folder by default.
            environ: Variables beside those of the tests.
        """
        return subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            input=stdin,
            env=os.environ | environ,
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def _uv(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "uv", *arguments], check=True, timeout=300, capture_output=True
    )
