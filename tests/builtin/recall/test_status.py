from __future__ import annotations

import pytest

from builtin_plugins.recall.settings import Counts, to_counts
from cognee_hooks import hookimpl
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Lane
from tests.support.scripted import RECALL, ScriptedClient, fails, remembers, scripted_host

PROMPT = UserPromptSubmit(session_id="s", prompt="which port does billing use?")


@pytest.fixture
def client():
    return ScriptedClient()


def host_with_lane(home, client: ScriptedClient, *found: str, **environ: str) -> Host:
    class Tickets:
        @hookimpl
        def cognee_register_lanes(self) -> Lane:
            async def search(query: str) -> list[str]:
                return list(found)

            return Lane(name="tickets", search=search)

    return Host(
        "claude-code",
        environ={"HOME": str(home), **environ},
        session_id="claude_s1",
        client=client,
        plugins={"tickets": Tickets()},
        entry_points=(),
    )


@pytest.mark.parametrize(
    ("word", "counts"),
    [
        ("full", Counts.FULL),
        (" FULL ", Counts.FULL),
        ("default", Counts.DEFAULT),
        ("true", Counts.DEFAULT),
        ("1", Counts.DEFAULT),
        ("off", Counts.OFF),
        ("false", Counts.OFF),
        ("0", Counts.OFF),
        ("no", Counts.OFF),
    ],
)
def test_the_words_of_the_other_plugins_are_understood(word, counts):
    assert to_counts(word) is counts


async def test_another_word_is_reported_and_the_default_used(isolated_environment, client):
    made = scripted_host(isolated_environment, client, COGNEE_STATUSLINE_COUNTS="some")
    (problem,) = made.settings.problems
    assert problem.message.startswith("COGNEE_STATUSLINE_COUNTS must be default, full or off")
    await made.user_prompt_submit(PROMPT)
    assert "memory warming up" in await made.status_line()


async def test_hits_are_told_by_source_where_that_is_wanted(isolated_environment, client):
    made = host_with_lane(isolated_environment, client, "a ticket", COGNEE_STATUSLINE_COUNTS="full")
    client.scripts[RECALL] = remembers("one", "two")
    await made.user_prompt_submit(PROMPT)
    assert " · recall 2g/1c · " in await made.status_line()


async def test_what_lanes_found_counts_although_the_server_failed(isolated_environment, client):
    made = host_with_lane(isolated_environment, client, "a ticket", "another")
    client.scripts[RECALL] = fails(FailureKind.SERVER_ERROR)
    await made.user_prompt_submit(PROMPT)
    assert " · 2 memory hits · 1/1 turns had hits this session · " in await made.status_line()


async def test_counts_go_on_in_the_next_process(isolated_environment, client):
    client.scripts[RECALL] = remembers("one", "two")
    await scripted_host(isolated_environment, client).user_prompt_submit(PROMPT)
    again = scripted_host(isolated_environment, client, COGNEE_STATUSLINE_COUNTS="full")
    assert " · recall 2g/0c · " in await again.status_line()


@pytest.mark.parametrize("known", ["3", True, -1, None, 10**400, [1]])
async def test_counts_that_a_damaged_file_holds_break_nothing(isolated_environment, client, known):
    made = scripted_host(isolated_environment, client)
    plugin = made.registry.manager.get_plugin("recall")
    plugin._context.state.write({"total": 2, "with_hits": known, "last_graph": known})
    again = scripted_host(isolated_environment, client)
    assert "turns" in await again.status_line()
