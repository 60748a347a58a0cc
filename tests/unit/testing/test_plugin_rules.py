"""The kit catches a bad plugin of every kind that it claims to catch, and lets good ones pass."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from cognee_hooks import Pattern, Redactor, hookimpl, hookspecs, option
from cognee_hooks.events import PostToolUse, Stop, UserPromptSubmit
from cognee_hooks.registry import declared_policies
from cognee_hooks.results import AdditionalContext, CheckResult, CheckStatus, Lane, Tool
from cognee_hooks.testing import Sample, assert_plugin, check_plugin, plugin_rules

pytestmark = pytest.mark.expects_faults


@dataclass(frozen=True)
class Options:
    note: str = option(default="hello", env="MY_NOTE", help="What to say.")


class Good:
    """Does a little of everything, as it should be done."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._note = context.settings(Options).note

    @hookimpl
    def cognee_register_settings(self) -> type:
        return Options

    @hookimpl
    def cognee_register_redactors(self) -> list[Redactor]:
        return [Redactor(name="ids", patterns=(Pattern(regex=r"\bEMP-\d{6}\b", label="employee"),))]

    @hookimpl
    def cognee_register_lanes(self) -> Lane:
        async def search(query: str) -> list[str]:
            return [f"{self._note}: {query[:20]}"]

        return Lane(name="mine", search=search)

    @hookimpl
    async def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> AdditionalContext:
        await asyncio.sleep(0)
        return AdditionalContext(text=f"{self._note}, {len(event.prompt)}")

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult:
        return CheckResult(name="mine", status=CheckStatus.OK, detail="fine")

    @hookimpl(wrapper=True)
    def cognee_stop(self) -> Any:
        return (yield)


async def run_tool(_: Any) -> str:
    return ""


def raises(event: Any) -> None:
    raise ValueError("a secret")


def returns_text(event: Any) -> Any:
    return "text"


def prints(event: Any) -> None:
    print("shown")


def sleeps(event: Any) -> None:
    time.sleep(0.7)


async def blocks(event: Any) -> None:
    sleeps(event)


def wrong_event(event: Stop) -> None: ...


def wrong_result_type() -> AdditionalContext: ...


def changes_environment(event: Any) -> None:
    os.environ["SET_BY_A_PLUGIN"] = "1"


def changes_folder(event: Any) -> None:
    os.chdir("/")


def changes_log(event: Any) -> None:
    logging.getLogger().setLevel(logging.DEBUG)


OVER = threading.Event()


def leaves_a_thread(event: Any) -> None:
    threading.Thread(target=OVER.wait, args=(30.0,), name="left", daemon=False).start()


def fails_on_odd_text(event: UserPromptSubmit) -> None:
    event.prompt.encode()


def expects_text(event: PostToolUse) -> None:
    event.tool_input["command"].strip()


def bad_regex() -> Redactor:
    return Redactor(name="bad", patterns=(Pattern(regex="(?=x)"),))


def cuts_prose() -> Redactor:
    return Redactor(name="greedy", patterns=(Pattern(regex=r"\bthe\b"),))


def misses_its_own() -> Redactor:
    return Redactor(name="blind", patterns=(Pattern(regex=r"NOTHING-LIKE-IT"),))


def quadratic() -> Redactor:
    def slow(text: str) -> str:
        for start in range(len(text)):
            for wanted in ("zz", "qq", "xx", "yy"):
                text.count(wanted, start)
        return text

    return Redactor(name="slow", function=slow)


def unknown_tool_name() -> Tool:
    return Tool(name="mine", description="d", parameters={"type": "object"}, run=run_tool)


def tool_without_schema() -> Tool:
    parameters = {"type": object()}
    return Tool(name="cognee_mine", description="d", parameters=parameters, run=run_tool)


def tool_of_another_type() -> Tool:
    return Tool(name="cognee_mine", description="d", parameters={"type": "string"}, run=run_tool)


def no_options() -> type:
    return int


BAD: dict[str, tuple[str, Any, str]] = {
    "a hook that there is not": ("cognee_stopped", raises, "There is no hook"),
    "an argument that there is not": ("cognee_stop", lambda prompt: None, "asks for 'prompt'"),
    "an event of another hook": ("cognee_user_prompt_submit", wrong_event, "event is Stop"),
    "a result of another type": ("cognee_doctor_checks", wrong_result_type, "return is"),
    "options that are none": ("cognee_register_settings", no_options, "option()"),
    "an exception": ("cognee_stop", raises, "ValueError (test_plugin_rules.py:"),
    "rubbish": ("cognee_user_prompt_submit", returns_text, "rubbish"),
    "output": ("cognee_stop", prints, "it prints"),
    "slowness": ("cognee_stop", sleeps, "of the 0.05 s"),
    "a blocked loop": ("cognee_stop", blocks, "blocks the event loop in test_plugin_rules.py:"),
    "a changed environment": ("cognee_stop", changes_environment, "environment"),
    "a changed folder": ("cognee_stop", changes_folder, "working directory"),
    "a changed log": ("cognee_stop", changes_log, "root logger"),
    "a thread that stays": ("cognee_session_start", leaves_a_thread, "threads"),
    "failure on odd text": ("cognee_user_prompt_submit", fails_on_odd_text, "UnicodeEncodeError"),
    "failure on odd input": ("cognee_post_tool_use", expects_text, "Error"),
    "a redactor that cannot work": ("cognee_register_redactors", bad_regex, "cannot be used"),
    "a redactor that cuts prose": ("cognee_register_redactors", cuts_prose, "harmless text"),
    "a redactor that misses": ("cognee_register_redactors", misses_its_own, "still there"),
    "a redactor that grows": ("cognee_register_redactors", quadratic, "again"),
    "a tool with a strange name": ("cognee_register_tools", unknown_tool_name, "cognee_"),
    "a tool without a schema": ("cognee_register_tools", tool_without_schema, "no JSON schema"),
    "a tool that takes no object": ("cognee_register_tools", tool_of_another_type, "type object"),
}
OWN = (Sample("own id", "ask EMP-123456", "EMP-123456"), Sample("like one", "ask TEMP-123456"))


def plugin(hook: str, function: Any) -> object:
    return type("Plugin", (), {hook: staticmethod(hookimpl(function))})()


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch):
    folder, level = Path.cwd(), logging.getLogger().level
    monkeypatch.setenv("SET_BY_A_PLUGIN", "")
    monkeypatch.delenv("SET_BY_A_PLUGIN")
    OVER.clear()
    yield
    OVER.set()
    os.chdir(folder)
    logging.getLogger().setLevel(level)


def test_a_good_plugin_has_no_problems(tmp_path):
    assert check_plugin(Good, tmp_path, samples=OWN, options={"note": "hi"}) == []


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_plugin_is_caught(kind, tmp_path):
    hook, function, message = BAD[kind]
    problems = check_plugin(plugin(hook, function), tmp_path, samples=OWN)
    assert any(message in str(each) for each in problems), problems
    assert "secret" not in str(problems)


def test_what_a_redactor_is_for_may_be_allowed(tmp_path):
    cuts = plugin("cognee_register_redactors", cuts_prose)
    problems = check_plugin(cuts, tmp_path, allowed=["prose", "other alphabets"])
    assert [each for each in problems if "prose" in each.message] == []


def test_all_problems_are_told_at_once(tmp_path):
    bad = type(
        "Bad",
        (),
        {
            "cognee_stop": staticmethod(hookimpl(raises)),
            "cognee_user_prompt_submit": staticmethod(hookimpl(returns_text)),
        },
    )()
    with pytest.raises(AssertionError, match=r"(?s)ValueError.*") as caught:
        assert_plugin(bad, tmp_path)
    assert "rubbish" in str(caught.value)


def test_a_plugin_that_cannot_be_loaded_says_why(tmp_path):
    def fails(context: Any) -> object:
        raise ImportError("No module named 'left_pad'")

    (problem,) = check_plugin(fails, tmp_path)
    assert "left_pad" in problem.message


def test_the_kit_knows_all_types_that_hooks_name():
    for name in declared_policies():
        get_type_hints(getattr(hookspecs, name), {**vars(hookspecs), **plugin_rules._TYPES})
