"""Checks of an installation: the core's own and every plugin's.

Looking changes nothing: no key is made or forgotten, no file written, and what the session believes
about the server stays as it is. Whatever hangs becomes a row of its own.
"""

from __future__ import annotations

from cognee_hooks.doctor.examine import examine, findings
from cognee_hooks.doctor.rows import Finding, Masker, worst

__all__ = ["Finding", "Masker", "examine", "findings", "worst"]
