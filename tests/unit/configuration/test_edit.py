from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.configuration.edit import with_list
from cognee_hooks.errors import CogneeHooksError

BLOCK = ("plugins", "block")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "plugins:\n  block: [sync]\n"),
        ("# mine\n", "# mine\nplugins:\n  block: [sync]\n"),
        ("dataset: d", "plugins:\n  block: [sync]\ndataset: d"),
        ("dataset: d # why\n", "plugins:\n  block: [sync]\ndataset: d # why\n"),
        ("plugins:\n", "plugins:\n  block: [sync]\n"),
        ("plugins: # those\ndataset: d\n", "plugins: # those\n  block: [sync]\ndataset: d\n"),
        ("plugins: {}\n", "plugins: {block: [sync]}\n"),
        ("{plugins: null, x: 1}\n", "{plugins: {block: [sync]}, x: 1}\n"),
        (
            "plugins:\n    recall:\n        top_k: 3\n",
            "plugins:\n    block: [sync]\n    recall:\n        top_k: 3\n",
        ),
        ("plugins: {autoload: false}\n", "plugins: {block: [sync], autoload: false}\n"),
        ("{dataset: d}\n", "{plugins: {block: [sync]}, dataset: d}\n"),
        ("plugins:\n  block:\n", "plugins:\n  block: [sync]\n"),
        ("plugins:\n  block: []  # none\n", "plugins:\n  block: [sync]  # none\n"),
        ("plugins:\n  block: null\n", "plugins:\n  block: [sync]\n"),
        ("plugins:\n  block: [a] # x\n", "plugins:\n  block: [a, sync] # x\n"),
        ("plugins:\n  block: [\n    a,\n  ]\n", "plugins:\n  block: [a, sync]\n"),
        (
            "plugins:\n  block:\n  - a  # slow\n  # odd\n  - b\nx: 1\n",
            "plugins:\n  block:\n  - a  # slow\n  # odd\n  - b\n  - sync\nx: 1\n",
        ),
        ("plugins:\n  block:\n    - a", "plugins:\n  block:\n    - a\n    - sync\n"),
        ("plugins:\n  block: a\n", "plugins:\n  block: [a, sync]\n"),
    ],
)
def test_a_name_comes_into_a_list_and_the_rest_stays(before, after):
    known = yaml.safe_load(before) or {}
    block = (known.get("plugins") or {}).get("block") or []
    names = [*([block] if isinstance(block, str) else block), "sync"]
    assert with_list(before, BLOCK, names) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plugins:\n  block: [sync]\n", "plugins:\n  block: []\n"),
        ("plugins:\n  block: [a, sync] # x\n", "plugins:\n  block: [a] # x\n"),
        (
            "plugins:\n  block:\n    - a # keep\n    - sync # off\n    # end\ny: 1\n",
            "plugins:\n  block:\n    - a # keep\n    # end\ny: 1\n",
        ),
        (
            "plugins:\n  block: # those\n    - sync\ny: 1\n",
            "plugins:\n  block: [] # those\ny: 1\n",
        ),
        ("plugins:\n  block:\n    - sync", "plugins:\n  block: []\n"),
    ],
)
def test_a_name_goes_from_a_list_and_the_rest_stays(before, after):
    block = yaml.safe_load(before)["plugins"]["block"]
    assert with_list(before, BLOCK, [each for each in block if each != "sync"]) == after


def test_what_holds_already_is_not_written_anew():
    text = "plugins:  {block:   [ a ]}\n"
    assert with_list(text, BLOCK, ["a"]) == text


@pytest.mark.parametrize("name", ["no", "1", "a: b", "#x", "ünï", "with space", "'", "- x", "~"])
def test_a_name_is_written_so_that_it_is_read_as_itself(name):
    assert yaml.safe_load(with_list("", BLOCK, [name])) == {"plugins": {"block": [name]}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- a\n", "names and values"),
        ("a: [\n", "valid YAML"),
        ("plugins: &x {block: *x}\n", "valid YAML"),
        ("plugins: 7\n", "there is a value"),
        ("plugins:\n  block: [a]\nplugins: 7\n", "there is a value"),
        ("plugins:\n  block:\n  - a\n  - >-\n    two\n    lines\n", "cannot be changed safely"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text, why):
    with pytest.raises(CogneeHooksError, match=why):
        with_list(text, BLOCK, ["sync"])


@pytest.mark.parametrize(
    "text", ["plugins:\n  block: {a: 1}\n", "plugins:\n  block:\n    - a\n    - [b]\n"]
)
def test_what_is_no_list_of_names_becomes_one(text):
    assert yaml.safe_load(with_list(text, BLOCK, ["sync"])) == {"plugins": {"block": ["sync"]}}


_name = st.text(
    st.characters(max_codepoint=0x24F, exclude_categories=["C", "Z"]), min_size=1, max_size=6
)
_names = st.lists(_name, max_size=3, unique=True)
_scalars = st.none() | st.booleans() | st.integers() | _name
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_name, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), _values, max_size=3),
    st.none() | st.dictionaries(st.sampled_from(["recall", "autoload"]), _values, max_size=2),
    st.none() | _names,
    _names,
    st.sampled_from([True, False, None]),
    st.sampled_from([2, 4]),
)
def test_whatever_the_style_the_list_is_there_and_nothing_else_differs(
    others, plugins, listed, names, flow, indent
):
    values = {key: each for key, each in others.items() if key != "plugins"}
    if plugins is not None or listed is not None:
        values["plugins"] = {**(plugins or {}), **({} if listed is None else {"block": listed})}
    text = yaml.safe_dump(values, default_flow_style=flow, indent=indent, allow_unicode=True)
    changed = with_list(text, BLOCK, names)
    wanted = {**values, "plugins": {**(values.get("plugins") or {}), "block": names}}
    assert yaml.safe_load(changed) == wanted
