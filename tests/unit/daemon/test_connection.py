"""What the person at an agent is told when memory comes and goes."""

from __future__ import annotations

from typing import Any

import pytest

from cognee_hooks.daemon.connection import CONNECTED, ConnectionNews
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.host import Host
from tests.support.scripted import ScriptedClient

REFUSED = ServerFailure(FailureKind.REFUSED, "nothing listens there")


@pytest.fixture
def host(tmp_path):
    return Host(
        "pi",
        environ={"HOME": str(tmp_path), "COGNEE_HOOKS_PLUGINS": ""},
        client=ScriptedClient(),
        entry_points=(),
    )


def told(news: ConnectionNews, host: Host, failure: ServerFailure | None) -> Any:
    host.services.health.note(failure)
    notice = news.take(host)
    return notice and (notice.level.value, notice.text)


def test_before_anything_is_known_nothing_is_told(host):
    assert ConnectionNews().take(host) is None


def test_connected_is_told_once_w23(host):
    news = ConnectionNews()
    assert told(news, host, None) == ("info", CONNECTED)
    assert told(news, host, None) is None


def test_an_outage_is_told_once_and_its_end_too(host):
    news = ConnectionNews()
    level, text = told(news, host, REFUSED)
    assert level == "warning"
    assert text.startswith("Cognee memory offline (nothing listens there). Prompts work as usual")
    assert text.endswith("Run /cognee-doctor to diagnose.")
    assert told(news, host, REFUSED) is None
    assert told(news, host, None) == ("info", CONNECTED)
    assert told(news, host, REFUSED) is not None


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        (FailureKind.AUTH, "Cognee memory: the server refuses the key (why)."),
        (FailureKind.SERVER_ERROR, "Cognee memory: the server does not work (why)."),
    ],
)
def test_other_troubles_are_called_by_their_names(host, kind, head):
    text = told(ConnectionNews(), host, ServerFailure(kind, "why"))[1]
    assert text.startswith(head)


def test_a_server_that_is_there_and_fails_now_and_then_is_told_once_a_session(host):
    news = ConnectionNews()
    broken = ServerFailure(FailureKind.SERVER_ERROR, "why")
    heard = [told(news, host, failure) for failure in (None, broken, None, broken, None, broken)]
    assert [each and each[0] for each in heard] == ["info", "warning", "info", None, None, None]


def test_a_cloud_without_an_address_is_said_to_lack_it(tmp_path):
    environ = {"HOME": str(tmp_path), "COGNEE_HOOKS_PLUGINS": "", "COGNEE_BACKEND": "cloud"}
    host = Host("pi", environ=environ, client=ScriptedClient(), entry_points=())
    text = told(ConnectionNews(), host, REFUSED)[1]
    assert text.startswith("Cognee memory offline (COGNEE_BASE_URL missing for forced cloud mode)")
