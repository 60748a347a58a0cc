from __future__ import annotations

import tempfile
import threading
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cognee_hooks.view.browser import can_open, opener
from tests.support.waiting import PATIENCE, wait_until

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


def test_the_token_is_not_in_the_browsers_command_line(opened):
    with opener(wanted=True) as open_address:
        open_address(ADDRESS)
        (started,) = wait_until(lambda: list(opened))
        assert "abc" not in started
        file = Path(urlsplit(started).path)
        assert f'content="0; url={ADDRESS}"' in file.read_text()
        assert [each.stat().st_mode & 0o077 for each in (file, file.parent)] == [0, 0]
    assert not file.parent.exists()


def test_where_no_browser_is_wanted_nothing_is_written_or_opened(opened, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opener(wanted=False) as open_address:
        open_address(ADDRESS)
        assert not list(tmp_path.iterdir())
    assert not opened


@pytest.mark.parametrize("error", [webbrowser.Error("none"), OSError("none")])
def test_where_no_browser_opens_nothing_else_happens(monkeypatch, error):
    asked = threading.Event()

    def fail(_: str) -> None:
        asked.set()
        raise error

    monkeypatch.setattr(webbrowser, "open", fail)
    with opener(wanted=True) as open_address:
        open_address(ADDRESS)
        assert asked.wait(PATIENCE)


def test_a_browser_that_keeps_its_caller_waiting_keeps_nobody(monkeypatch):
    ends = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda _: ends.wait(PATIENCE))
    with opener(wanted=True) as open_address:
        open_address(ADDRESS)
    ends.set()
