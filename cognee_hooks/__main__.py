"""``python -m cognee_hooks``."""

from __future__ import annotations

import sys

from cognee_hooks.cli import main

if __name__ == "__main__":
    sys.exit(main())
