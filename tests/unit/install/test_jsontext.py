from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.install.jsontext import (
    Dialect,
    JsonKind,
    JsonTextError,
    Node,
    equals,
    line_and_column,
    parse,
    strings,
)

COMMENTS = Dialect(comments=True)
LAX = Dialect(comments=True, trailing_commas=True)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def decoded(text: str, node: Node) -> object:
    """What a tree of positions says, without looking at the text between."""
    if node.kind is JsonKind.OBJECT:
        return {item.key: decoded(text, item.value) for item in node.items}
    if node.kind is JsonKind.ARRAY:
        return [decoded(text, item.value) for item in node.items]
    return json.loads(text[node.start : node.end])


@given(values, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_positions_are_those_of_the_values(value, indent, ascii_only):
    text = f" {json.dumps(value, indent=indent, ensure_ascii=ascii_only)}\n"
    root = parse(text)
    assert decoded(text, root) == value
    assert equals(text, root, value)


@given(st.text(alphabet='{}[]",:\\ \n10-.eEtrufalsn/*x\x01é', max_size=30))
def test_what_is_json_is_decided_as_the_standard_library_does(text):
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        with pytest.raises(JsonTextError):
            parse(text)
    else:
        parse(text)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "the text ends in the middle"),
        ('{"a": 1', 1, 8, "the text ends in the middle"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or '}' is expected"),
        ("[1,\r\n 2 3]", 2, 4, "a comma or ']' is expected"),
        ('{"a": 1,\n}', 2, 1, "a member name in double quotes is expected"),
        ("{'a': 1}", 1, 2, "a member name in double quotes is expected"),
        ('{"a" 1}', 1, 6, "a colon is expected"),
        ("[01]", 1, 3, "a comma or ']' is expected"),
        ("[NaN]", 1, 2, "a value is expected"),
        ('["a\n"]', 1, 2, "this string is not closed or holds a character that must be escaped"),
        ("{} x", 1, 4, "there is something behind the end of the document"),
        ('{\n// why\n"a": 1}', 2, 1, "a comment stands here"),
        ("{} // why", 1, 4, "a comment stands here"),
    ],
)
def test_an_error_says_where_and_what(text, line, column, reason):
    with pytest.raises(JsonTextError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.reason) == (line, column, reason)
    assert str(caught.value) == f"line {line}, column {column}: {reason}"


def test_comments_are_white_space_where_the_agent_allows_them():
    text = '// a\n{ /* b */ "x" /**/ : [1, // c\n 2] /* } */ } // d'
    assert decoded(text, parse(text, COMMENTS)) == {"x": [1, 2]}


def test_a_comment_that_is_never_closed_is_named():
    with pytest.raises(JsonTextError, match="never closed"):
        parse("{ /* x }", COMMENTS)


def test_trailing_commas_are_read_where_the_agent_allows_them():
    text = '{"a": [1, 2,], "b": {"c": 3 , // x\n},}'
    assert decoded(text, parse(text, LAX)) == {"a": [1, 2], "b": {"c": 3}}
    with pytest.raises(JsonTextError):
        parse(text, COMMENTS)
    with pytest.raises(JsonTextError):
        parse("[,]", LAX)


def test_a_document_may_be_deeper_than_the_stack():
    text = "[" * 100_000 + '"x"' + "]" * 100_000
    assert list(strings(text, parse(text))) == ["x"]
    assert not equals(text, parse(text), [["y"]])


def test_of_names_that_occur_twice_the_last_counts():
    text = '{"a": 1, "\\u0061": 2}'
    root = parse(text)
    node = root.last("a")
    assert node is not None
    assert text[node.start : node.end] == "2"
    assert root.last("b") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("1", True), ("[1]", {}), ("{}", []), ("[]", ""), ('{"a":1}', {"b": 1})],
)
def test_values_of_another_type_are_not_equal(text, value):
    assert not equals(text, parse(text), value)


def test_lines_end_as_any_editor_ends_them():
    assert line_and_column("a\rb\r\nc\nd", 7) == (4, 1)
