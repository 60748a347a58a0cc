"""Opens the person's browser, where there is one to be seen."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.statefile import write_atomic
from cognee_hooks.view.pages import page

_REMOTE = ("SSH_CONNECTION", "SSH_TTY")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def can_open(environ: Mapping[str, str], platform: str) -> bool:
    """Tell whether a browser would open on a screen before the person, and not in the terminal.

    Args:
        environ: The environment.
        platform: What `sys.platform` says.
    """
    if platform == "darwin":
        return not any(environ.get(name) for name in _REMOTE)
    return any(environ.get(name) for name in _DISPLAYS)


def open_address(address: str, folder: Path) -> None:
    """Open an address without anybody else seeing it.

    Everybody may read the command lines of everybody's programs, so the browser is started with a
    file that leads on to the address.

    Args:
        address: The address.
        folder: A private folder for that file, which lasts as long as the address works.
    """
    file = folder / "open.html"
    write_atomic(file, page("Opening", "The page opens.", forward=address).encode(), durable=False)
    # Some browsers keep their caller waiting for as long as they run.
    threading.Thread(target=_open, args=(file.as_uri(),), daemon=True).start()


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):  # the address stands in the terminal, too
        webbrowser.open(address)
