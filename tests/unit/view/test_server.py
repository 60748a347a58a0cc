"""The page as the process that ``cognee-hooks view`` is."""

from __future__ import annotations

import builtins
import importlib
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import cognee_hooks.view
from cognee_hooks.errors import UsageError
from cognee_hooks.view.changes import MAX_LISTENERS
from tests.support.waiting import PATIENCE, wait_until

ENDS_BY_ITSELF = """
import os
from pathlib import Path
from cognee_hooks.view import serve
serve(0, environ=dict(os.environ), cwd=Path.cwd(), browser=False, idle_seconds=0.2, on_ready=print)
print("ended")
"""
OPENS = """
import os, webbrowser
from pathlib import Path
from cognee_hooks.view import serve
webbrowser.open = lambda address: print(f"opened {address}", flush=True)
serve(0, environ=dict(os.environ), cwd=Path.cwd(), browser=True, on_ready=lambda _: None)
"""


class Page:
    """A process that serves the page."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.process = process
        self.line = process.stdout.readline()
        (self.address,) = re.findall(r"http://\S+", self.line)
        self.base, _, self.token = self.address.partition("/open?token=")
        self.port = int(self.base.split("/")[2].rpartition(":")[2])


@pytest.fixture
def page(isolated_environment: Path) -> Iterator[Page]:
    with subprocess.Popen(
        [sys.executable, "-m", "cognee_hooks", "view", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Page(process)
        finally:
            process.terminate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_address_opens_the_page_and_a_signal_ends_it_cleanly(page, number):
    with httpx.Client(base_url=page.base, follow_redirects=True) as browser:
        assert "<title>" in browser.get(page.address).text
        assert browser.get("/api/summary").json()["daemon"]["running"] is False
        with browser.stream("GET", "/api/events") as stream:
            lines = stream.iter_lines()
            assert "event: changed" in lines
            page.process.send_signal(number)
            assert page.process.wait(PATIENCE) == 0
            assert not [each for each in lines if each.startswith("event")]  # it ended whole
    out, err = page.process.communicate()
    assert (out, err) == ("", "")


def test_pages_that_are_closed_make_room_for_others(page):
    with httpx.Client(base_url=page.base, follow_redirects=True) as browser:
        browser.get(page.address)
        for _ in range(2 * MAX_LISTENERS):
            wait_until(lambda: _listens(browser), "a stream")


def _listens(browser: httpx.Client) -> bool:
    with browser.stream("GET", "/api/events") as stream:
        return stream.status_code == 200 and "event: changed" in stream.iter_lines()


def test_it_listens_on_loopback_only(page):
    with socket.create_connection(("127.0.0.1", page.port), PATIENCE):
        pass
    # Every address from 127.0.0.2 on is loopback as well, and reached where all are listened on.
    with socket.socket() as other:
        other.settimeout(PATIENCE)
        assert other.connect_ex(("127.0.0.2", page.port)) != 0


def test_neither_token_nor_cookie_is_where_others_see_it(page, isolated_environment):
    cookie = httpx.get(page.address).cookies[f"cognee-hooks-view-{page.port}"]
    command = Path(f"/proc/{page.process.pid}/cmdline")
    if command.exists():
        assert page.token not in command.read_text()
    httpx.get(f"{page.base}/open?token=wrong")
    page.process.send_signal(signal.SIGTERM)
    out, err = page.process.communicate(timeout=PATIENCE)
    files = [each for each in isolated_environment.rglob("*") if each.is_file()]
    written = [out, err, *(each.read_text("utf-8", "replace") for each in files)]
    assert not [text for text in written if page.token in text or cookie in text]


@pytest.mark.parametrize("sent", [b"\0\1\r\n\r\n", b"GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n"])
def test_what_strangers_send_to_the_port_is_not_in_the_persons_terminal(page, sent):
    with socket.create_connection(("127.0.0.1", page.port), PATIENCE) as stranger:
        stranger.sendall(sent)
        assert stranger.recv(100).startswith(b"HTTP/1.1 4")
    page.process.send_signal(signal.SIGTERM)
    assert page.process.communicate(timeout=PATIENCE) == ("", "")


def test_it_writes_nothing_into_the_persons_folders(page, isolated_environment):
    with httpx.Client(base_url=page.base, follow_redirects=True) as browser:
        browser.get(page.address)
        browser.get("/api/summary")
    assert not [each for each in isolated_environment.rglob("*") if each.is_file()]


def test_a_port_that_is_taken_is_told_and_what_to_do(isolated_environment):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "cognee_hooks", "view", "--no-browser", "--port", port],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 2
    assert f"Cannot listen on 127.0.0.1 port {port}" in done.stderr


def test_it_ends_by_itself_when_nobody_asks_for_long(isolated_environment):
    done = subprocess.run(
        [sys.executable, "-c", ENDS_BY_ITSELF],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert re.fullmatch(r"http://127.0.0.1:\d+/[\w-]{22}/open\?token=\S+\nended\n", done.stdout)


def test_the_browser_is_started_with_a_private_file_that_goes_with_the_server(
    isolated_environment,
):
    with subprocess.Popen(
        [sys.executable, "-c", OPENS], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        file = Path(process.stdout.readline().removeprefix("opened file://").strip())
        assert "/open?token=" in file.read_text()
        assert file.parent.stat().st_mode & 0o077 == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    wait_until(lambda: not file.parent.exists())


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    original = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "uvicorn":
            raise ImportError("no", name=name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        UsageError, match=r"missing: uvicorn.*pip install 'cognee-hooks\[embedded\]'"
    ):
        importlib.reload(cognee_hooks.view)
    monkeypatch.undo()
    importlib.reload(cognee_hooks.view)
