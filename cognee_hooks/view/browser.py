"""Opens the person's browser, where there is one to be seen."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

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


@contextmanager
def opener(*, wanted: bool) -> Iterator[Callable[[str], None]]:
    """Give what opens an address without anybody else seeing it, while that address works.

    Everybody may read the command lines of everybody's programs, so the browser is started with a
    private file that leads on to the address.

    Args:
        wanted: Whether to open anything at all.
    """
    if not wanted:
        yield lambda _: None
        return
    with TemporaryDirectory(prefix="cognee-hooks-view-", ignore_cleanup_errors=True) as folder:
        yield partial(_open_by_file, Path(folder) / "open.html")


def _open_by_file(file: Path, address: str) -> None:
    leading = page("Opening", "The page opens.", forward=address)
    write_atomic(file, leading.encode(), durable=False)
    # Some browsers keep their caller waiting for as long as they run.
    threading.Thread(target=_open, args=(file.as_uri(),), daemon=True).start()


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):  # the address stands in the terminal, too
        webbrowser.open(address)
