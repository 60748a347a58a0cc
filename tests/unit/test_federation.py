from __future__ import annotations

from cognee_hooks.federation import OFF, described

ID = "3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"
PROBLEM = "COGNEE_PLUGIN_READ_DATASET_IDS must be a nonempty JSON list of UUIDs."


def test_datasets_that_are_read_are_counted_with_where_they_were_set():
    assert described((ID,), "shell env", "", "mine") == (
        "1 read dataset(s) via COGNEE_PLUGIN_READ_DATASET_IDS (shell env); graph reads only, "
        "writes stay on mine"
    )


def test_without_any_it_says_how_to_name_some():
    assert described((), "default", "", "mine") == OFF


def test_a_setting_that_is_not_used_is_told_with_its_reason():
    assert described((), "default", PROBLEM, "mine") == f"✕ {PROBLEM} Graph reads stay on mine."
