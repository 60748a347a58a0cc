"""What a plugin is given to work with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from cognee_hooks import Redactor, hookimpl
from cognee_hooks.context import PluginContext
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure, UsageError
from cognee_hooks.host import Host
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef
from tests.support.scripted import ScriptedClient

UUID = "42391ba7-2487-5312-8912-589684ac04d2"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Redacting:
    """A plugin that brings redactors."""

    def __init__(self, redactors: Sequence[Redactor]) -> None:
        self._redactors = list(redactors)

    @hookimpl
    def cognee_register_redactors(self) -> list[Redactor]:
        return self._redactors


@pytest.fixture
async def context_of(tmp_path) -> Callable[..., PluginContext]:
    hosts: list[Host] = []
    given: list[PluginContext] = []

    def build(*redactors: Redactor, **environ: str) -> PluginContext:
        host = Host(
            "pi",
            environ={"HOME": str(tmp_path), **environ},
            session_id="pi_s1",
            client=ScriptedClient(),
            entry_points=(),
            plugins={"asks": given.append, "redacts": Redacting(redactors)},
        )
        hosts.append(host)
        return given[-1]

    yield build
    for host in hosts:
        await host.close(Deadline.after(1.0))


def test_memory_is_read_in_the_sessions_dataset_or_in_those_that_the_user_named(context_of: Any):
    context = context_of(COGNEE_PLUGIN_DATASET="mine")
    assert context.reads() == [DatasetRef(name="mine")]
    assert context.reads(replace(context.session, dataset="left")) == [DatasetRef(name="left")]
    named = context_of(COGNEE_PLUGIN_READ_DATASET_IDS=f'["{UUID}"]')
    assert named.reads() == named.reads(named.session) == [DatasetRef(id=UUID)]


@pytest.mark.parametrize(
    ("error", "count"),
    [
        (None, 1),
        (ServerFailure(FailureKind.TIMED_OUT), 1),
        (ServerFailure(FailureKind.REFUSED, sent=False), 0),
        (RedactionFailed("custom", "ValueError"), 0),
        (asyncio.CancelledError(), 1),
    ],
)
def test_what_leaves_is_in_the_ledger_unless_it_surely_did_not(context_of: Any, error, count):
    context = context_of()
    with (
        suppress(ServerFailure, RedactionFailed, asyncio.CancelledError),
        context.sending(Act.REMEMBERED, "text", "Tabs."),
    ):
        if error is not None:
            raise error
    assert context.totals().get(Act.REMEMBERED, 0) == count
    assert context.ledger.sizes("pi_s1").get(Act.REMEMBERED, 0) == count * 5


async def test_a_name_leaves_as_it_is_or_not_at_all(context_of: Any):
    context = context_of()
    assert (await context.redact_name("my code", "the name")).value == "my code"
    assert (await context.redact_name("", "the name")).value == ""
    for name in (f"a-{TOKEN}", "half \ud800"):
        with pytest.raises(UsageError, match="the name holds what looks like a secret"):
            await context.redact_name(name, "the name")


async def test_what_is_made_safe_is_not_counted_as_dropped(context_of: Any):
    context = context_of()
    safe = await context.redact_or_drop([f"my token is {TOKEN}"], max_bytes=40)
    assert safe.value == ["my token is [redacted:github]"]
    assert not context.totals()


@pytest.mark.expects_faults
async def test_what_cannot_be_made_safe_is_dropped_and_counted(context_of: Any):
    context = context_of(Redactor(name="broken", function=lambda text: text[10**9]))
    assert await context.redact_or_drop("whatever it is") is None
    assert context.totals() == {Act.DROPPED: 1}
