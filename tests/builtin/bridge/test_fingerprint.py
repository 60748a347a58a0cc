from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.bridge.fingerprint import digest, fingerprint
from cognee_hooks.embedded.entries import stored_trace
from tests.support.bridged import entry, trace

BASH = {"type": "trace", "origin_function": "bash", "status": "success"}
X_VECTORS = {
    "X1": ("qa", {"question": "q", "answer": "a", "context": "c"}, "qa\0q\0a\0c"),
    "X2": ("qa", {"question": "q", "answer": None}, "qa\0q\0\0"),
    "X3": (
        "trace",
        {**BASH, "method_params": {"cwd": "/r", "command": "x"}, "method_return_value": "ok"},
        'trace\0bash\0success\0{"command":"x","cwd":"/r"}\0"ok"\0',
    ),
    "X4": (
        "trace",
        {**BASH, "method_params": {"command": "x", "cwd": "/r"}, "method_return_value": "ok"},
        'trace\0bash\0success\0{"command":"x","cwd":"/r"}\0"ok"\0',
    ),
    "X5": ("trace", {"type": "trace"}, "trace\0\0\0{}\0null\0"),
    "X6": ("other", {"question": "q"}, ""),
}


@pytest.mark.parametrize(("kind", "content", "expected"), X_VECTORS.values(), ids=X_VECTORS)
def test_fingerprints_are_those_of_the_reference(kind, content, expected):
    assert fingerprint(kind, content) == expected
    assert bool(digest(kind, content)) is bool(expected)


def test_a_question_is_kept_as_it_is():
    content = entry("x", question=" \r\n\0" + "q" * 5000)
    assert content["question"] in fingerprint("qa", content)


def test_fields_of_another_type_are_no_fault():
    assert (
        fingerprint("qa", {"question": 7, "answer": ["a"], "context": None}) == 'qa\x007\0["a"]\0'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)
LONG = st.text("ab \n😀", max_size=4) | st.sampled_from(
    ["x" * 999, "x" * 1000, "x" * 1001, " y" * 900]
)


@given(
    origin=LONG,
    params=st.dictionaries(st.text(max_size=5), JSON | LONG, max_size=25),
    value=JSON | LONG,
    error=LONG,
)
def test_a_tool_call_is_recognised_in_the_form_that_servers_keep(origin, params, value, error):
    sent = trace(
        origin_function="b" + origin,
        method_params=params,
        method_return_value=value,
        error_message=error,
    )
    listed = stored_trace({"memory_query": "", "memory_context": "", **sent})
    assert digest("trace", listed) == digest("trace", sent)


def test_numbers_that_are_none_and_a_status_that_is_left_out_are_what_a_server_makes_of_them():
    sent = trace(method_return_value=[math.nan, math.inf, 1.5])
    assert digest("trace", sent) == digest("trace", trace(method_return_value=[None, None, 1.5]))
    without = {key: value for key, value in trace().items() if key != "status"}
    assert digest("trace", without) == digest("trace", trace())
