"""What only the reader of files knows; the rest shows through `Settings`, in test_settings.py."""

from __future__ import annotations

from cognee_hooks.configuration.files import _readable_by_others


def test_a_file_that_is_gone_meanwhile_is_read_by_nobody(tmp_path):
    assert _readable_by_others(tmp_path / "gone") is False
