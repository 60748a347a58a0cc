from __future__ import annotations

import pytest

from builtin_plugins.memory import texts
from cognee_hooks.services.documents import Updated


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            Updated("incremental", added=3, deleted=1, kept=12, reused=0),
            "+3/\u22121 chunks, 12 kept",
        ),
        (Updated("incremental", added=3, reused=2), "+3/\u22120 chunks, 2 reused"),
        (Updated("incremental", fallback="x"), "fallback: x"),
        (Updated("incremental"), "incremental"),
        (
            Updated("full_rebuild", fallback="no_baseline"),
            "memory dropped and rebuilt (fallback: no_baseline)",
        ),
        (Updated("full_rebuild"), "memory dropped and rebuilt"),
        (Updated("unchanged"), "no content change"),
        (Updated("odd"), "odd"),
    ],
)
def test_vectors_89_and_90_what_an_update_did(done, told):
    assert texts.changes(done) == told
