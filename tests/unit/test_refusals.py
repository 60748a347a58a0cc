"""Each rule that a plugin must keep, and the sentence that its author reads."""

from __future__ import annotations

from typing import Any

import pluggy
import pytest

from cognee_hooks import hookimpl, hookspecs
from cognee_hooks.errors import PluginRefused
from cognee_hooks.markers import PROJECT
from cognee_hooks.refusals import accepted_hooks


@pytest.fixture(scope="module")
def manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def event_wrapper(event: Any) -> Any:
    return (yield)


async def async_wrapper(event: Any) -> Any:
    yield


async def async_generator(event: Any) -> Any:
    yield


def takes_default(event: Any = None) -> None: ...


def takes_keyword(*, event: Any) -> None: ...


def takes_rest(*event: Any) -> None: ...


def takes_unknown(evnt: Any) -> None: ...


def takes_event(event: Any) -> None: ...


def takes_nothing() -> None: ...


OLD_WRAPPER = hookimpl(hookwrapper=True)(lambda event: (yield))

RULES = {
    "unmarked": ({"cognee_stop": takes_event}, "is not marked with @hookimpl"),
    "no hooks": ({"other": takes_event}, "has no hook implementations"),
    "near miss": (
        {"cognee_stopp": hookimpl(lambda event: None)},
        "There is no hook 'cognee_stopp'; did you mean 'cognee_stop'?",
    ),
    "stranger": ({"zzz": hookimpl(lambda: None)}, "There is no hook 'zzz'."),
    "no spec": ({"Any": hookimpl(lambda: None)}, "There is no hook 'Any'."),
    "old wrapper": ({"cognee_stop": OLD_WRAPPER}, "old-style wrapper"),
    "wrapped redaction": (
        {"cognee_register_redactors": hookimpl(wrapper=True)(lambda: (yield))},
        "cannot be wrapped",
    ),
    "forgotten wrapper": ({"cognee_stop": hookimpl(event_wrapper)}, "mark it with wrapper=True"),
    "async generator": ({"cognee_stop": hookimpl(async_generator)}, "nobody would run its body"),
    "async wrapper": (
        {"cognee_stop": hookimpl(wrapper=True)(async_wrapper)},
        "must be a plain generator function",
    ),
    "default": ({"cognee_stop": hookimpl(takes_default)}, "gives 'event' a default"),
    "keyword only": ({"cognee_stop": hookimpl(takes_keyword)}, "in a special way"),
    "rest": ({"cognee_stop": hookimpl(takes_rest)}, "in a special way"),
    "unknown argument": (
        {"cognee_stop": hookimpl(takes_unknown)},
        "asks for 'evnt', but the hook offers event, deadline.",
    ),
    "argument of none": (
        {"cognee_register_lanes": hookimpl(takes_unknown)},
        "but the hook offers no arguments.",
    ),
}


def plugin_of(members: dict[str, Any]) -> object:
    return type("Plugin", (), {name: staticmethod(each) for name, each in members.items()})()


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_refused_with_its_sentence(manager, rule):
    members, sentence = RULES[rule]
    with pytest.raises(PluginRefused) as refused:
        accepted_hooks("mine", plugin_of(members), manager)
    assert sentence in str(refused.value)
    assert refused.value.plugin == "mine"
    assert str(refused.value).endswith((".", "?"))


def test_good_plugins_pass_and_their_hooks_are_named(manager):
    class Good:
        unrelated = 3

        @property
        def dangerous(self) -> None:
            raise AssertionError("a property was read")

        def helper(self) -> None: ...

        @hookimpl
        def cognee_stop(self, event: Any, deadline: Any) -> None: ...

        @hookimpl(specname="cognee_pre_compact", tryfirst=True)
        async def before_compaction(self) -> None: ...

        @hookimpl(optionalhook=True)
        def cognee_of_the_future(self, whatever: Any) -> None: ...

        @hookimpl(wrapper=True)
        def cognee_session_start(self) -> Any:
            return (yield)

        @classmethod
        @hookimpl
        def cognee_session_end(cls, event: Any) -> None: ...

        @staticmethod
        @hookimpl
        def cognee_status_segments() -> None: ...

    hooks = accepted_hooks("mine", Good(), manager)
    assert set(hooks) >= {
        "cognee_of_the_future",
        "cognee_pre_compact",
        "cognee_session_start",
        "cognee_status_segments",
        "cognee_stop",
    }
