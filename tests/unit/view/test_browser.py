from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cognee_hooks.view.browser import can_open, open_address
from tests.support.waiting import wait_until

ADDRESS = "http://127.0.0.1:4321/open?token=abc"


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"BROWSER": "w3m"}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_only_where_it_is_seen(environ, platform, expected):
    assert can_open(environ, platform) is expected


@pytest.fixture
def opened(monkeypatch):
    """What a browser was started with."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_the_token_is_not_in_the_browsers_command_line(opened, tmp_path):
    open_address(ADDRESS, tmp_path)
    (started,) = wait_until(lambda: list(opened))
    assert "abc" not in started
    file = Path(urlsplit(started).path)
    assert file.parent == tmp_path
    assert f'content="0; url={ADDRESS}"' in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("error", [webbrowser.Error("none"), OSError("none")])
def test_where_no_browser_opens_nothing_else_happens(monkeypatch, tmp_path, error):
    asked = threading.Event()

    def fail(_: str) -> None:
        asked.set()
        raise error

    monkeypatch.setattr(webbrowser, "open", fail)
    open_address(ADDRESS, tmp_path)
    assert asked.wait(30)


def test_a_browser_that_keeps_its_caller_waiting_keeps_nobody(monkeypatch, tmp_path):
    ends = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda _: ends.wait(30))
    open_address(ADDRESS, tmp_path)
    ends.set()
