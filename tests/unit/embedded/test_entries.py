from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.embedded.entries import stored_trace

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=1100),
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(st.text(), inner, max_size=25),
    max_leaves=40,
)
TEXT = st.text(max_size=1100)


def longest(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case list():
            return max([len(value) * 50, *map(longest, value)])
        case dict():
            return max([len(value) * 50, *map(longest, value.values())])
        case _:
            return 0


@given(TEXT, TEXT, VALUES, st.sampled_from(["success", "error"]))
def test_storing_is_bounded_and_done_once(name: str, error: str, value: Any, status: str):
    given_trace = {
        "origin_function": name,
        "status": status,
        "memory_query": "",
        "memory_context": "",
        "method_params": {"value": value},
        "method_return_value": value,
        "error_message": error,
    }
    stored = stored_trace(given_trace)
    assert longest([stored["method_params"], stored["method_return_value"]]) <= 1000
    assert len(stored["origin_function"]) <= 1000
    # Cutting is idempotent, so a stored trace can be compared with one that is to be sent.
    again = stored_trace(stored)
    assert again["method_return_value"] == stored["method_return_value"]
