"""Redacted values for tests that send something."""

from __future__ import annotations

from typing import Any

from cognee_hooks.redaction import Redacted, RedactionPipeline


def redacted(value: Any) -> Redacted[Any]:
    """Put a value through the built-in rules."""
    return RedactionPipeline().redact_blocking(value)
