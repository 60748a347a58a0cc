"""Takes secrets out of everything that leaves the process, or lets nothing leave."""

from __future__ import annotations

from cognee_hooks.redaction.names import names_secret
from cognee_hooks.redaction.pipeline import RedactionPipeline
from cognee_hooks.redaction.shapes import labels_in, masked
from cognee_hooks.redaction.text import cut, sanitise, strip_private
from cognee_hooks.redaction.types import Hit, Pattern, Redacted, Redactor

__all__ = [
    "Hit",
    "Pattern",
    "Redacted",
    "RedactionPipeline",
    "Redactor",
    "cut",
    "labels_in",
    "masked",
    "names_secret",
    "sanitise",
    "strip_private",
]
