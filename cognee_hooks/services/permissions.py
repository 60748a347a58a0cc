"""Whether other accounts of this machine can get at a file or folder."""

from __future__ import annotations

import stat

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def open_to_others(mode: int) -> bool:
    """Tell whether a mode gives anybody but the owner a right of any kind.

    Args:
        mode: As in ``st_mode``, with or without the bits of the type.
    """
    return bool(mode & _OTHERS)
