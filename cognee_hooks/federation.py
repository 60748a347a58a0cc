"""What people are told about datasets that are read instead of the session's own."""

from __future__ import annotations

from collections.abc import Collection

VARIABLE = "COGNEE_PLUGIN_READ_DATASET_IDS"
"""Holds a JSON list of UUIDs; read by all cognee plugins."""
OPTION = "read_dataset_ids"
"""The core's option that it sets."""
OFF = f"off (set {VARIABLE} to federate graph recall)"


def described(read: Collection[str], source: str, problem: str, dataset: str) -> str:
    """Say in one line which datasets are read.

    Args:
        read: UUIDs of the datasets that are read.
        source: Where they were set.
        problem: Why the setting is not used, or "".
        dataset: The session's own dataset.
    """
    if read:
        return (
            f"{len(read)} read dataset(s) via {VARIABLE} ({source}); graph reads only, writes stay "
            f"on {dataset}"
        )
    return f"✕ {problem} Graph reads stay on {dataset}." if problem else OFF
