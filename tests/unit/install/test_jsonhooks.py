from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.install.jsonhooks import (
    HookTable,
    WrongShapeError,
    add,
    is_empty,
    remove,
    taken,
)
from cognee_hooks.install.jsontext import Dialect, JsonTextError
from tests.unit.install.documents import EVENTS, OURS, entry, settings, table, written

TABLE = table()
ELSEWHERE = table("/old/bin/python3.11 /old/site-packages/cognee_hooks/daemon/client.py")
JSONC = Dialect(comments=True, trailing_commas=True)
LINE = {"type": "command", "command": f"{OURS} agent statusLine"}


def merged(document: dict[str, Any], ours: HookTable = TABLE) -> dict[str, Any]:
    """What a document with our entries says."""
    result = deepcopy(document)
    hooks = result.setdefault("hooks", {})
    for event, each in ours.entries.items():
        hooks[event] = [*hooks.get(event, []), each]
    return result


def holds_nothing_empty(document: dict[str, Any]) -> bool:
    """Whether nothing in a document looks as if only our entries had been in it."""
    hooks = document.get("hooks", {"x": 1})
    return bool(document) and bool(hooks) and all(hooks.get(event, [1]) for event in EVENTS)


# -- for all documents -------------------------------------------------------------------------


@given(st.data())
def test_adding_says_what_was_said_and_our_entries(data):
    document = data.draw(settings)
    text = data.draw(written(document))
    added = add(text, TABLE)
    assert json.loads(added) == merged(document)
    assert list(json.loads(added)) == list(merged(document))


@given(st.data())
def test_adding_twice_changes_nothing_the_second_time(data):
    added = add(data.draw(written(data.draw(settings))), TABLE)
    assert add(added, TABLE) == added


@given(st.data())
def test_removing_undoes_adding_to_the_last_byte(data):
    document = data.draw(settings)
    text = data.draw(written(document))
    removed = remove(add(text, TABLE), TABLE)
    if holds_nothing_empty(document):
        assert removed == text
    else:
        hooks = {
            event: each
            for event, each in document.get("hooks", {}).items()
            if each or event not in EVENTS
        }
        rest = {key: value for key, value in document.items() if key != "hooks"}
        assert json.loads(removed) == rest | ({"hooks": hooks} if hooks else {})


@given(st.data())
def test_a_document_without_entries_of_ours_stays_as_it_is(data):
    text = data.draw(written(data.draw(settings)))
    assert remove(text, TABLE) == text


@given(st.data())
def test_entries_of_an_older_installation_are_replaced_in_place(data):
    document = data.draw(settings)
    old = merged(document, ELSEWHERE)
    for event in EVENTS:
        groups = old["hooks"][event]
        groups.insert(data.draw(st.integers(0, len(groups))), groups.pop())
    text = data.draw(written(old))
    added = json.loads(add(text, TABLE))
    for event in EVENTS:
        before, after = old["hooks"][event], added["hooks"][event]
        place = before.index(ELSEWHERE.entries[event])
        assert after == [*before[:place], entry(event), *before[place + 1 :]]
    assert json.loads(remove(text, TABLE)) == json.loads(remove(add(text, TABLE), TABLE))


@given(st.data())
def test_comments_and_trailing_commas_survive_where_the_agent_allows_them(data):
    lax = HookTable(entries=TABLE.entries, dialect=JSONC)
    end = data.draw(st.sampled_from(["", " ,", " // y\n", ", /* z */"]))
    pieces = ['"a": 1', '"b": /* c */ [1, 2]', f'"hooks": {{"Stop": [{{"x": 1}}{end}]}}']
    chosen = data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=3, unique=True))
    trivia = st.sampled_from(["", " ", "\n  ", " // note\n  ", "/* n */", "\n  // above\n  "])
    body = ""
    for number, piece in enumerate(chosen):
        comma = "," if number < len(chosen) - 1 or data.draw(st.booleans()) else ""
        body += data.draw(trivia) + piece + data.draw(trivia) + comma
    text = data.draw(trivia) + "{" + body + data.draw(trivia) + "}" + data.draw(trivia)
    added = add(text, lax)
    assert add(added, lax) == added
    assert remove(added, lax) == text


# -- style -------------------------------------------------------------------------------------


def small(event: str = "Stop") -> HookTable:
    return HookTable(entries={event: {"command": OURS}})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "{|  'hooks': {|    'Stop': [|      {|        'command': '@'|      }|    ]|  }|}|"),
        ("{'a':1}", "{'a':1,'hooks':{'Stop':[{'command':'@'}]}}"),
        ("{'a': 1}", "{'a': 1, 'hooks': {'Stop': [{'command': '@'}]}}"),
        ("{ 'hooks': {} }", "{ 'hooks': {'Stop': [{'command': '@'}]} }"),
        (
            "{|>'a': {}|}",
            "{|>'a': {},|>'hooks': {|>>'Stop': [|>>>{|>>>>'command': '@'|>>>}|>>]|>}|}",
        ),
        ("{|>'hooks': {|>}|}", "{|>'hooks': {|>>'Stop': [|>>>{|>>>>'command': '@'|>>>}|>>]|>}|}"),
        (
            "{| 'hooks': {'Stop': [1,| 2]}}",
            "{| 'hooks': {'Stop': [1,| 2,| {|  'command': '@'| }]}}",
        ),
        ("{|'a': 1|}", "{|'a': 1,|'hooks': {|'Stop': [|{|'command': '@'|}|]|}|}"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_additions_are_written_in_the_style_of_the_document(text, expected, newline):
    """Line ends are written as ``|``, tabs as ``>``, double quotes as single ones."""

    def real(shown: str) -> str:
        return shown.replace("|", newline).replace(">", "\t").replace("'", '"')

    added = add(real(text), small())
    if not text:
        newline = "\n"
    assert added.replace(OURS, "@") == real(expected)


def test_a_line_comment_does_not_swallow_what_is_added():
    lax = HookTable(entries={"Stop": {"command": OURS}}, dialect=JSONC)
    text = '{"hooks": {"Stop": [1 // one\n]}}'
    added = add(text, lax)
    assert added == f'{{"hooks": {{"Stop": [1, // one\n {{"command": "{OURS}"}}\n]}}}}'
    assert remove(added, lax) == text


def test_a_comment_in_an_empty_object_stays():
    lax = HookTable(entries={"Stop": {"command": OURS}}, dialect=JSONC)
    added = add("{\n  // mine\n}", lax)
    assert "// mine" in added
    assert remove(added, lax) == "{\n  // mine\n}"


# -- entries -----------------------------------------------------------------------------------


def test_only_one_of_several_entries_of_ours_is_left():
    text = json.dumps({"hooks": {"Stop": [entry("Stop"), {"hooks": []}, entry("Stop")]}})
    added = json.loads(add(text, table()))
    assert added["hooks"]["Stop"] == [entry("Stop"), {"hooks": []}]


def test_entries_for_events_that_we_no_longer_use_go():
    text = json.dumps({"hooks": {"Setup": [entry("Setup")], "Stop": [1]}})
    assert "Setup" not in json.loads(add(text, table()))["hooks"]


def test_a_command_of_ours_in_a_group_of_others_moves_to_a_group_of_its_own():
    mixed = {"matcher": "x", "hooks": [{"command": "theirs"}, *entry("Stop")["hooks"]]}
    text = json.dumps({"hooks": {"Stop": [mixed]}}, indent=2)
    theirs = {"matcher": "x", "hooks": [{"command": "theirs"}]}
    assert json.loads(add(text, table()))["hooks"]["Stop"] == [theirs, entry("Stop")]
    assert json.loads(remove(text, table()))["hooks"]["Stop"] == [theirs]


def test_commands_with_separate_arguments_are_known_as_ours():
    group = {
        "hooks": [{"command": "/bin/python", "args": ["-I", "/x/cognee_hooks/daemon/client.py"]}]
    }
    assert json.loads(remove(json.dumps({"a": 1, "hooks": {"Stop": [group]}}), TABLE)) == {"a": 1}


def test_entries_without_an_inner_array_are_known_as_ours():
    flat = {"command": f"{OURS} stop"}
    text = json.dumps({"hooks": {"stop": [flat, {"command": "theirs"}]}})
    assert json.loads(remove(text, TABLE)) == {"hooks": {"stop": [{"command": "theirs"}]}}


def test_of_names_that_occur_twice_the_last_gets_our_entries():
    text = '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2], "Stop": [3]}}'
    added = add(text, small())
    assert json.loads(added)["hooks"]["Stop"] == [3, {"command": OURS}]
    assert '{"Stop": [1]}' in added
    assert remove(added, small()) == text


def test_an_emptied_object_stays_where_an_earlier_one_would_come_back_to_life():
    text = '{"hooks": {"Stop": [1]}, "hooks": {}}'
    assert remove(add(text, small()), small()) == text
    text = '{"a": 1, "hooks": {"Stop": [1], "Stop": []}}'
    assert remove(add(text, small()), small()) == text


# -- further members ---------------------------------------------------------------------------


def test_a_member_is_set_where_there_is_none_and_goes_with_us():
    with_line = table(members={"statusLine": LINE})
    added = add('{"a": 1}', with_line)
    assert json.loads(added)["statusLine"] == LINE
    assert remove(added, with_line) == '{"a": 1}'
    assert taken(added, with_line) == []


def test_a_member_of_somebody_else_is_left_alone():
    with_line = table(members={"statusLine": LINE})
    text = '{"statusLine": {"command": "mine"}}'
    added = add(text, with_line)
    assert json.loads(added)["statusLine"] == {"command": "mine"}
    assert taken(added, with_line) == ["statusLine"]
    assert remove(added, with_line) == text


def test_a_member_of_ours_is_brought_up_to_date():
    old = add('{\n  "a": 1\n}\n', table(members={"statusLine": LINE | {"padding": 0}}))
    with_line = table(members={"statusLine": LINE})
    assert add(old, with_line) == add('{\n  "a": 1\n}\n', with_line)


def test_what_an_agent_demands_is_set_and_goes_when_nothing_else_is_left():
    versioned = table(scaffold={"version": 1})
    added = add("", versioned)
    assert json.loads(added)["version"] == 1
    assert is_empty(remove(added, versioned))
    kept = remove(add('{"version": 1, "a": 2}', versioned), versioned)
    assert kept == '{"version": 1, "a": 2}'
    assert remove('{"version": 1}', versioned) == '{"version": 1}'
    assert json.loads(add('{"version": 2}', versioned))["version"] == 2


# -- shapes that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("[]", "the document is not an object", 0),
        ('{"hooks": []}', '"hooks" is not an object', 10),
        ('{"hooks": null}', '"hooks" is not an object', 10),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not an array', 19),
    ],
)
def test_a_wrong_shape_is_refused(text, reason, position):
    with pytest.raises(WrongShapeError, match=reason) as caught:
        add(text, TABLE)
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["[]", '{"hooks": []}', '{"hooks": {"Stop": {}, "x": 1}}'])
def test_nothing_is_removed_from_a_wrong_shape(text):
    assert remove(text, TABLE) == text


def test_events_of_others_may_have_any_shape():
    added = add('{"hooks": {"Other": 1}}', TABLE)
    assert json.loads(added)["hooks"]["Other"] == 1


def test_broken_text_is_refused():
    with pytest.raises(JsonTextError):
        add("{", TABLE)
    with pytest.raises(JsonTextError):
        remove("{", TABLE)
