from __future__ import annotations

import json

import pytest

from cognee_hooks.install.codex_hooks import hooks_of, moved_keys, snake_case

PATH = "/home/user/.codex/hooks.json"
OURS = "/v/bin/python -I -S /v/cognee_hooks/daemon/client.py codex Stop"

# Hashes as Codex 0.171.0 lists them for these handlers.
LISTED = [
    (
        "Stop",
        None,
        {"command": "a"},
        "sha256:c75a850480544f28d4a0e3e73be3b2659a93058c0746b3a82ad494187e86ecbc",
    ),
    (
        "SubagentStop",
        None,
        {"command": "/x/py -I", "timeout": 10},
        "sha256:a51a876a4ae99816b75ab84f0ebb9757237bc6ec1b41ed22b7a6019692557754",
    ),
    (
        "Stop",
        "ignored",
        {"command": "/x/py -I", "timeout": 10, "args": ["ignored"]},
        "sha256:2b10df0e1fd556ecd11dcf961407a270bc658550553fee0294ec8d9468c72612",
    ),
    (
        "PostToolUse",
        "Bash|é",
        {"command": '/x/py "é" <&>', "timeout": 40, "statusMessage": "hey"},
        "sha256:6a540d0491892362c6fcb8bcb924d97e8f9b5cddb26d930e4e6687614aa4e186",
    ),
    (
        "SessionEnd",
        None,
        {"command": "a"},
        "sha256:8b47c669efb678f9ecd382ad5ec1491f150fbdec99869d82d560722c28933c93",
    ),
    (
        "Interrupt",
        None,
        {"command": "a", "timeout": 3},
        "sha256:371fe7ccba440764807e7e9a8f2e604ec8a637b59ba9b8fbd94fe3e5ba8652ce",
    ),
    (
        "SessionStart",
        "",
        {"command": "a"},
        "sha256:e5735807a52658a11c38cd19d6842563ac0c0301d912651e543633adc97088f2",
    ),
    (
        "UserPromptSubmit",
        "x",
        {"command": "a", "async": True},
        "sha256:545ed53cb7d16bfc31019b716ad50fb916b9d1aa07a677a02edb246717b8be0a",
    ),
]


@pytest.mark.parametrize(("event", "matcher", "handler", "expected"), LISTED)
def test_hashes_are_those_of_codex(event, matcher, handler, expected):
    group = {"hooks": [{"type": "command", **handler}]}
    if matcher is not None:
        group["matcher"] = matcher
    [hook] = hooks_of(json.dumps({"hooks": {event: [group]}}), PATH)
    assert hook.hash == expected


def test_keys_name_file_event_and_places():
    groups = [{"hooks": []}, {"hooks": [{"command": "a"}, {"command": OURS}]}]
    text = json.dumps({"hooks": {"SessionEnd": groups}})
    assert [(hook.key, hook.event, hook.ours) for hook in hooks_of(text, PATH)] == [
        (f"{PATH}:session_end:1:0", "SessionEnd", False),
        (f"{PATH}:session_end:1:1", "SessionEnd", True),
    ]


def test_event_names_are_written_in_snake_case():
    assert snake_case("UserPromptSubmit") == "user_prompt_submit"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"hooks": []}',
        '{"hooks": {"Stop": 1}}',
        '{"hooks": {"Stop": [1, {}, {"hooks": 1}, {"hooks": [1]}]}}',
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_no_table_of_hooks_holds_none(text):
    assert hooks_of(text, PATH) == []


def test_hooks_of_others_that_move_up_are_found():
    def hooks(*commands: str):
        groups = [{"hooks": [{"command": each}]} for each in commands]
        return hooks_of(json.dumps({"hooks": {"Stop": groups}}), PATH)

    moved = moved_keys(hooks("a", OURS, "b", "c"), hooks("a", "b", "c"))
    assert moved == {f"{PATH}:stop:2:0": f"{PATH}:stop:1:0", f"{PATH}:stop:3:0": f"{PATH}:stop:2:0"}
