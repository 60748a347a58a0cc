"""P13 to P16: what people said is kept as they said it, and nothing that they did not say."""

from __future__ import annotations

import json

import pytest

from tests.cases.machine import ENTRY, RECALL, Machine
from tests.support.command import command, payload
from tests.support.daemon import folder_of, hook
from tests.support.fake_server import status

# -- P13 -----------------------------------------------------------------------------------------

COMMITS = "shipped via #1466, squash 0fda534e, merge 4c536992"
HASHES = "\n".join(f"{number:02d}" + "3f9ac1e57b2d" * 3 + "08" for number in range(12))


async def test_p13_commit_ids_are_kept_as_they_are(machine: Machine):
    machine.start()
    await machine.turn(f"Remember: {COMMITS}", f"Noted: {COMMITS}", 1)
    await machine.call("Bash", {"stdout": HASHES}, command="git log --format=%H")
    await machine.settled(2)
    turn, trace = machine.entries
    assert turn["question"] == f"Remember: {COMMITS}"
    assert turn["answer"] == f"Noted: {COMMITS}"
    assert trace["method_return_value"] == f"git log --format=%H\n{HASHES}"


async def test_p13_what_is_left_out_is_counted_and_shown(machine: Machine):
    machine.start()
    await machine.call("Read", {"stdout": "x"}, file_path="/p/.env")
    await machine.call("Bash", {"stdout": "x"}, command="cognee-hooks doctor")
    await machine.turn("What do you see there?")
    await machine.settled(1)
    shown = await command("ledger", "--json", **machine.environ)
    acts = [json.loads(line) for line in shown.out.splitlines()]
    dropped = {each["what"] for each in acts if each["act"] == "dropped"}
    assert dropped == {"denied_path", "own_tool"}


# -- P14 -----------------------------------------------------------------------------------------

OWN_CALLS = [
    ("cognee_search", {"query": "billing"}),
    ("mcp__cognee__cognee_remember", {"content": "billing"}),
    ("Bash", {"command": "cognee-hooks status && ls"}),
    ("Bash", {"command": "cd /srv && uvx cognee-hooks doctor --json | head -3"}),
    ("Bash", {"command": "python -m cognee_hooks ledger"}),
]


async def test_p14_fifty_rounds_of_our_own_calls_grow_nothing(machine: Machine):
    machine.start()
    await machine.turn("What do you know about billing?")
    await machine.settled(1)
    before = len(machine.server.requests)
    for number in range(50):
        tool, tool_input = OWN_CALLS[number % len(OWN_CALLS)]
        await machine.call(tool, {"stdout": "billing: port 7431"}, **tool_input)
    await machine.settled()
    assert [each["type"] for each in machine.entries] == ["qa"]
    written = {ENTRY, "/api/v1/remember"}
    assert written.isdisjoint(each.path for each in machine.server.requests[before:])


async def test_p14_hooks_of_an_agent_that_works_for_us_stop_at_once(machine: Machine):
    machine.environ["COGNEE_HOOKS_NESTED"] = "1"
    for _ in range(50):
        await machine.turn("Summarise this session for the memory.")
    assert set(machine.shown) == {""}
    assert machine.server.requests == []
    assert not folder_of(machine.environ).exists()


# -- P15 -----------------------------------------------------------------------------------------

BLOCK = (
    "=== Cognee memory ===\n- the billing service uses port 7431\n"
    "recall 1 · 1/1 turns had hits\n=== End Cognee memory ==="
)
OUTAGE = "=== Cognee memory: recall skipped (server unreachable) ==="
CODE = "=== Code graph facts ===\n- pay() calls charge()\n=== End Code graph facts ==="
OWN_WORDS = "Why is the port of billing another one now?"
CAME_BACK = {
    "at the beginning": f"{BLOCK}\n\n{OWN_WORDS}",
    "twice": f"{BLOCK}\n{CODE}\n\n{OWN_WORDS}",
    "in the middle": f"Why is the port\n{BLOCK}\nof billing another one now?",
    "at the end": f"{OWN_WORDS}\n{BLOCK}",
    "of an outage": f"{OUTAGE}\n{OWN_WORDS}",
    "with the line ends of Windows": f"{BLOCK}\n\n{OWN_WORDS}".replace("\n", "\r\n"),
}
QUOTED = "Which plugin writes the line === Cognee memory === above my prompt?"


@pytest.mark.parametrize("place", CAME_BACK)
async def test_p15_a_block_of_ours_is_cut_and_the_persons_words_stay(machine: Machine, place: str):
    machine.start()
    await machine.turn(CAME_BACK[place])
    await machine.settled(1)
    (question,) = machine.questions
    assert question.split() == OWN_WORDS.split()
    (query,) = machine.queries
    assert query.split() == OWN_WORDS.split()


async def test_p15_a_person_who_quotes_us_is_left_alone(machine: Machine):
    machine.start()
    await machine.turn(QUOTED)
    await machine.settled(1)
    assert machine.questions == [QUOTED]


async def test_p15_a_prompt_that_is_nothing_but_a_block_is_not_kept(machine: Machine):
    machine.start()
    await machine.turn(BLOCK, "There is nothing to do.", 1)
    await machine.turn(OWN_WORDS, "It was moved.", 2)
    await machine.settled(1)
    assert machine.questions == [OWN_WORDS]


# -- P16 -----------------------------------------------------------------------------------------

HOST_MADE = {
    "claude-code": [
        "<task-notification>\n<task-id>b1</task-id>\nIt has finished.\n</task-notification>",
        "<system-reminder>\nThe todo list changed.\n</system-reminder>",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
        "<local-command-caveat>Caveat: made by local commands</local-command-caveat>",
        "<bash-input>ls -la</bash-input>",
        "<bash-stdout>total 4</bash-stdout><bash-stderr></bash-stderr>",
        "  \n<task-notification>indented</task-notification>",
    ],
    "codex": [
        "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>",
        "<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>",
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
        "<subagent_notification>done</subagent_notification>",
    ],
}


@pytest.mark.parametrize("agent", HOST_MADE)
async def test_p16_what_the_agent_made_itself_is_no_prompt(machine: Machine, agent: str):
    machine.start()
    for text in HOST_MADE[agent]:
        document = payload("UserPromptSubmit", prompt=text, session_id="s1", prompt_id="p0")
        assert await machine.event("UserPromptSubmit", document, agent) == ""
    assert RECALL not in machine.server.paths() or machine.queries == ["session start"]
    real = payload("UserPromptSubmit", prompt=OWN_WORDS, session_id="s1", prompt_id="p1")
    shown = json.loads(await machine.event("UserPromptSubmit", real, agent))
    assert "port 7431" in shown["hookSpecificOutput"]["additionalContext"]
    # Of those before none counts as a turn without a hit.
    assert "1/1" in shown["hookSpecificOutput"]["additionalContext"]
    end = payload("Stop", last_assistant_message="Moved.", session_id="s1", prompt_id="p1")
    await machine.event("Stop", end, agent)
    await machine.settled(1)
    assert machine.questions == [OWN_WORDS]
    assert OWN_WORDS in machine.queries


async def test_p16_a_notice_between_a_prompt_and_its_answer_does_not_take_its_place(
    machine: Machine,
):
    machine.start()
    await machine.prompt(OWN_WORDS)
    for text in HOST_MADE["claude-code"]:
        await machine.prompt(text)
    await machine.answer("It was moved.")
    await machine.settled(1)
    assert machine.questions == [OWN_WORDS]


# -- their neighbours ----------------------------------------------------------------------------


async def test_p14_our_own_calls_are_not_buffered_either(machine: Machine):
    machine.server.always(status(503, {"detail": "starting"}))
    machine.start()
    for tool, tool_input in OWN_CALLS:
        await machine.call(tool, {"stdout": "zqbillingzq"}, **tool_input)
    done = await hook("SessionEnd", payload("SessionEnd.other", session_id="s1"), machine.environ)
    assert done.code == 0
    await machine.settled()
    shown = await command("status", "--json", **machine.environ)
    assert json.loads(shown.out)["waiting"] == []
    assert machine.places_of("zqbillingzq") == []
