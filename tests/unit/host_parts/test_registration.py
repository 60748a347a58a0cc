"""What plugins register as data, and what is taken back from one that is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from cognee_hooks import Pattern, Redactor
from cognee_hooks._defaults import BUILT_INS
from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.faults import Faults
from cognee_hooks.host_parts.registration import Registered, declare_options, register
from cognee_hooks.registry import Registry
from cognee_hooks.results import Command, Lane, Tool
from cognee_hooks.settings import PluginSelection, Settings, option
from tests.support.plugins import fresh, plugin


async def act(_: Any) -> Any:
    return ""


@dataclass(frozen=True)
class Options:
    """Options of a plugin."""

    size: int = option(default=1, help="A size.")


class NamelessAgent:
    @property
    def name(self) -> str:
        raise RuntimeError


COMMAND = Command(name="note", help="", run=act)
LANE = Lane(name="notes", search=act)
TOOL = Tool(name="cognee_note", description="", parameters={}, run=act)


def registered(**plugins: object) -> tuple[Registered, Registry]:
    """Register plugins, the last one asked first."""
    registry = Registry(PluginSelection(block=frozenset(BUILT_INS)), entry_points=())
    registry.load(lambda _: None, plugins.items())
    dispatcher = Dispatcher(registry.manager, registry.policies, Faults())
    found = register(registry, dispatcher)
    dispatcher.close()
    return found, registry


def test_single_items_and_lists_are_taken():
    found, _ = registered(
        a=plugin(
            cognee_register_commands=lambda: COMMAND,
            cognee_register_lanes=lambda: [LANE],
            cognee_register_tools=lambda: (TOOL,),
            cognee_register_settings=lambda: Options,
            cognee_register_redactors=lambda: None,
        )
    )
    assert found.commands == {"note": COMMAND}
    assert found.lanes == {"notes": LANE}
    assert found.lane_owners == {"notes": "a"}
    assert found.tools == {"cognee_note": TOOL}
    assert found.options == [("a", Options)]
    assert found.closed_because == ""


@pytest.mark.expects_faults
def test_one_that_fails_late_takes_back_what_it_registered_before():
    found, registry = registered(
        good=plugin(cognee_register_settings=lambda: Options),
        bad=plugin(
            cognee_register_redactors=lambda: Redactor(name="ids"),
            cognee_register_lanes=lambda: LANE,
            cognee_register_tools=fresh("exits"),
            cognee_register_settings=lambda: Options,
        ),
    )
    assert not registry.is_active("bad")
    assert found.lanes == {}
    assert found.options == [("good", Options)]
    assert list(found.redactors) == ["ids"]
    assert found.closed_because == ""


def test_an_agent_whose_name_cannot_be_had_is_refused():
    found, registry = registered(a=plugin(cognee_register_agents=lambda: [NamelessAgent()]))
    assert found.agents == {}
    [record] = [each for each in registry.records if each.name == "a"]
    assert record.reason == "It registered a nameless NamelessAgent in cognee_register_agents."


def test_a_name_that_is_taken_refuses_the_plugin_with_all_its_items():
    commands = [Command(name=name, help="", run=act) for name in ("other", "note", "third")]
    found, registry = registered(
        second=plugin(cognee_register_commands=lambda: commands),
        first=plugin(cognee_register_commands=lambda: COMMAND),
    )
    assert found.commands == {"note": COMMAND}
    assert not registry.is_active("second")


def test_declared_options_become_known_and_other_sections_are_reported():
    settings = Settings.load({}, arguments={"a.size": 3, "nobody.size": 3})
    found, registry = registered(a=plugin(cognee_register_settings=lambda: Options))
    declare_options(registry, found, settings)
    assert [row.value for row in settings.rows() if row.section == "a"] == ["3"]
    assert "there is no plugin 'nobody'" in settings.problems[0].message
    assert registry.is_active("a")


def test_options_of_another_kind_refuse_their_plugin():
    found, registry = registered(a=plugin(cognee_register_settings=lambda: int))
    declare_options(registry, found, Settings.load({}))
    [record] = [each for each in registry.records if each.name == "a"]
    assert "'int' are no dataclass of option() fields" in record.reason


@pytest.mark.expects_faults
def test_the_first_reason_for_closing_is_the_one_that_is_told():
    found, _ = registered(
        b=plugin(cognee_register_redactors=fresh("exits")),
        a=plugin(cognee_register_redactors=fresh("raises")),
    )
    assert found.closed_because == (
        "Plugin a could not register its redactors: It failed in cognee_register_redactors "
        "(ValueError). Nothing is captured or sent; mend the plugin or block it."
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Redactor(name=3),
        lambda: Redactor(name="a", patterns="abc"),
        lambda: Redactor(name="a", patterns=("abc",)),
        lambda: Redactor(name="a", function="abc"),
        lambda: Pattern(regex=b"abc"),
        lambda: Lane(name="a", search=None),
        lambda: Tool(name="a", description="", parameters=[], run=act),
        lambda: Command(name="a", help="", run="echo"),
    ],
    ids=["name", "patterns", "pattern", "function", "regex", "search", "parameters", "run"],
)
def test_values_refuse_fields_of_a_wrong_type_where_they_are_made(make):
    with pytest.raises(TypeError):
        make()
