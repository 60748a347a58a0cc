"""Whatever is blocked, one built-in or two, the rest is a working product without that feature."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from cognee_hooks._defaults import BUILT_INS
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.events import (
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Turn,
    UserPromptSubmit,
)
from cognee_hooks.results import CheckStatus
from cognee_hooks.testing import PluginSession

WHO = {"session_id": "claude_test", "agent": "claude-code"}
FACT = "the billing service uses port 7431"
QUESTION = "Which port does the billing service use?"
COMMANDS = {
    "bootstrap": {"up", "down", "logs"},
    "code_lane": {"code", "index"},
    "datasets": {"datasets"},
    "memory": {"remember", "search", "forget"},
    "provisioning": {"access"},
    "sync": {"sync"},
}
"""What each brings to the command line."""
BLOCKED = [
    *[()],
    *[(name,) for name in BUILT_INS],
    *combinations(BUILT_INS, 2),
]


@pytest.fixture(params=BLOCKED, ids=lambda names: "-".join(names) or "none")
def blocked(request: pytest.FixtureRequest) -> frozenset[str]:
    return frozenset(request.param)


@pytest.fixture
def session(blocked: frozenset[str], tmp_path: Path) -> Iterator[PluginSession]:
    environ = {"COGNEE_HOOKS_DISABLE": ",".join(blocked), "COGNEE_LOCAL_BOOTSTRAP": "false"}
    with PluginSession(tmp_path, {}, environ=environ) as made:
        made.remember(FACT)
        yield made


def test_a_whole_session_goes_well_without_them(session: PluginSession, blocked: frozenset[str]):
    session.fire(SessionStart(**WHO))
    context = session.prompt(QUESTION)
    session.tool("Bash", {"stdout": "port = 7431"}, command="grep -rn port config")
    session.fire(PostToolUseFailure(**WHO, tool_name="Bash", error="exit code 2"))
    session.stop("It uses port 7431.")
    session.fire(UserPromptSubmit(**WHO, prompt="<task-notification>x", machine_made=True))
    session.fire(PreCompact(**WHO, turns=(Turn(question=QUESTION, answer="7431."),)))
    after = session.prompt("And which one does the shop use?")
    line = session.run(session.host.status_line(200))
    rows = session.run(examine(session.host, Deadline.after(20)))
    session.fire(SessionEnd(**WHO))

    assert session.faults == []
    assert (FACT in context) is ("recall" not in blocked)
    assert ("7431" in after) is not ({"recall", "compaction"} <= blocked)
    turns = [each for each in session.server.entries if each.get("question") == QUESTION]
    traces = [each for each in session.server.entries if each["type"] == "trace"]
    assert len(turns) == (0 if "capture" in blocked else 1)
    assert len(traces) == (0 if "capture" in blocked else 2)
    assert bool(line) is ("statusline" not in blocked)
    assert not [row for row in rows if row.name.startswith("plugin ")]
    assert {row.status for row in rows if row.name == "redaction"} == {CheckStatus.OK}


def test_what_they_bring_is_gone_and_nothing_else(session: PluginSession, blocked: frozenset[str]):
    commands = session.host.registered.commands.keys()
    for name, brought in COMMANDS.items():
        if name in blocked:
            assert not brought & commands
        else:
            assert brought <= commands
    assert {each.name for each in session.host.registry.records if each.reason} == blocked
