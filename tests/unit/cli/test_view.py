from __future__ import annotations

import os
from pathlib import Path

import pytest

from cognee_hooks.cli import main, view


@pytest.fixture
def served(monkeypatch):
    """What was to be served."""
    calls: list[dict[str, object]] = []

    def serve(port: int, **more: object) -> None:
        calls.append({"port": port, **more})
        more["on_ready"]("http://127.0.0.1:4321/open?token=abc")

    monkeypatch.setattr(view, "serve", serve)
    monkeypatch.setattr(view.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return calls


def test_one_line_tells_the_address_and_how_it_ends(served, capsys):
    assert main(["view"]) == 0
    assert capsys.readouterr().out == (
        "cognee-hooks view: http://127.0.0.1:4321/open?token=abc "
        "(opens once, within 5 minutes; Ctrl-C ends)\n"
    )
    (call,) = served
    assert (call["port"], call["cwd"]) == (0, Path.cwd())
    assert call["environ"] == dict(os.environ)


@pytest.mark.parametrize(
    ("display", "arguments", "expected"),
    [("", [], False), (":0", [], True), (":0", ["--no-browser"], False)],
)
def test_a_browser_is_opened_where_there_is_a_screen_and_it_is_wanted(
    served, monkeypatch, display, arguments, expected
):
    monkeypatch.setenv("DISPLAY", display)
    assert main(["view", *arguments]) == 0
    assert served[0]["browser"] is expected


@pytest.mark.parametrize("port", ["0", "1024", "8123", "65535"])
def test_a_port_can_be_chosen(served, port):
    assert main(["view", "--port", port]) == 0
    assert served[0]["port"] == int(port)


@pytest.mark.parametrize("port", ["80", "1023", "65536", "-1", "x", "", "1e4", "٣٣٣٣", "9" * 5000])
def test_what_is_no_port_is_refused(served, capsys, port):
    assert main(["view", "--port", port]) == 2
    assert "is no port: 0, or 1024 to 65535" in capsys.readouterr().err
    assert not served


def test_the_help_tells_how_long_it_is_served(capsys):
    with pytest.raises(SystemExit):
        main(["view", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "works once, within 5 minutes" in told
    assert "12 hours without any request" in told
