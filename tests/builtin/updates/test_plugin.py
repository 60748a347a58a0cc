from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest

from builtin_plugins.updates import plugin
from builtin_plugins.updates.record import AGAIN_SECONDS, EVERY_SECONDS
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionStart
from cognee_hooks.host import Host
from cognee_hooks.results import CheckResult, CheckStatus
from tests.support.fake_server import FakeServer, body, drip, huge, redirect, stall, status
from tests.support.waiting import PATIENCE, until

PAGE = "/simple/cognee-hooks/"
START = SessionStart(session_id="claude_1", agent="claude-code")


def releases(*versions: str) -> object:
    return {"files": [{"filename": f"cognee_hooks-{each}.tar.gz"} for each in versions]}


@pytest.fixture
async def index():
    async with FakeServer() as server:
        server.on(PAGE, status(200, releases("0.0.1", "99.1.0")))
        yield server


class Machine:
    """Sessions on one machine, on a clock that tests set."""

    def __init__(self, home: Path, index: FakeServer) -> None:
        self.now = 1_750_000_000.0
        self.environ = {
            "HOME": str(home),
            "COGNEE_BASE_URL": index.url,
            "COGNEE_HOOKS_UPDATE_CHECK": f"{index.url}/simple",
        }
        self.file = home / ".cognee-plugin" / "hooks" / "updates.json"

    def host(self) -> Host:
        host = Host("claude-code", environ=self.environ)
        context = host.registry.manager.get_plugin("updates")._context
        object.__setattr__(context, "now", lambda: self.now)
        return host

    async def look(self) -> Host:
        """Have a session start, and wait for its look, if there is one."""
        host = self.host()
        await host.registry.manager.get_plugin("updates")._look()
        return host

    def row(self, host: Host) -> CheckResult | None:
        return host.registry.manager.get_plugin("updates").cognee_doctor_checks()


@pytest.fixture
def machine(isolated_environment, index) -> Machine:
    return Machine(isolated_environment, index)


def asked(index: FakeServer) -> int:
    return index.paths().count(PAGE)


async def test_it_is_off_unless_the_person_wants_it(isolated_environment):
    host = Host("claude-code", environ={"HOME": str(isolated_environment)})
    made = host.registry.manager.get_plugin("updates")
    made.cognee_session_start()  # which would fail here, without an event loop that runs its work
    assert made._index == ""
    assert made.cognee_doctor_checks() is None
    assert made.cognee_status_rows() is None


async def test_a_session_looks_in_the_background_and_says_nothing_in_the_agent(machine, index):
    host = machine.host()
    await host.start()
    await host.session_start(START)
    await until(lambda: machine.file.exists() and "latest" in machine.file.read_text(), "a look")
    assert "99.1.0 is there" in machine.row(host).detail
    assert host.notices.take() == []
    assert "99.1.0" not in await host.status_line()
    await host.close(Deadline.after(PATIENCE))


async def test_no_key_goes_to_the_index(machine, index):
    machine.environ["COGNEE_API_KEY"] = "of-the-memory-server"
    await machine.look()
    (request,) = (each for each in index.requests if each.path == PAGE)
    assert "x-api-key" not in {name.lower() for name in request.headers}
    assert request.headers["accept"] == "application/vnd.pypi.simple.v1+json"


async def test_a_newer_release_is_named_where_people_ask_how_things_are(machine):
    host = await machine.look()
    row = machine.row(host)
    assert (row.name, row.status) == ("update", CheckStatus.INFO)
    assert "99.1.0 is there" in row.detail
    assert "upgrade" in row.remedy
    assert host.registry.manager.get_plugin("updates").cognee_status_rows().label == "Update"


async def test_the_newest_release_is_fine(machine, index):
    index.on(PAGE, status(200, releases("0.0.1")))
    host = await machine.look()
    assert machine.row(host).status is CheckStatus.OK
    assert host.registry.manager.get_plugin("updates").cognee_status_rows() is None


async def test_it_looks_once_a_day_whatever_it_finds_and_however_many_sessions_start(
    machine, index
):
    await asyncio.gather(*(machine.look() for _ in range(3)))
    machine.now += EVERY_SECONDS - 1
    await machine.look()
    assert asked(index) == 1
    machine.now += 1
    await machine.look()
    assert asked(index) == 2


@pytest.mark.parametrize(
    "behaviour",
    [
        status(404),
        status(500),
        body(b"<html>", kind="text/html"),
        redirect("/elsewhere"),
        huge,
        status(200, ["no", "page"]),
    ],
    ids=["404", "500", "html", "redirect", "huge", "list"],
)
async def test_an_index_that_does_not_serve_us_is_asked_again_tomorrow(machine, index, behaviour):
    index.on(PAGE, behaviour)
    host = await machine.look()
    row = machine.row(host)
    assert row.status is CheckStatus.INFO
    assert "not looked up" in row.detail
    await machine.look()
    assert asked(index) == 1
    assert "/elsewhere" not in index.paths()


@pytest.mark.parametrize("behaviour", [stall, drip])
async def test_an_index_that_stands_still_is_given_up(machine, index, behaviour, monkeypatch):
    monkeypatch.setattr(plugin, "SECONDS", 0.2)
    index.on(PAGE, behaviour)
    host = await machine.look()
    assert "timed_out" in machine.row(host).detail


async def test_what_was_found_before_outlives_a_failure(machine, index):
    await machine.look()
    machine.now += EVERY_SECONDS
    index.on(PAGE, status(500))
    assert "99.1.0 is there" in machine.row(await machine.look()).detail


async def test_a_look_that_a_session_did_not_live_to_see_is_made_up_for_later(machine, index):
    index.on(PAGE, stall)
    look = asyncio.create_task(machine.look())
    await until(lambda: asked(index) == 1, "the question")
    look.cancel()
    await asyncio.wait({look})
    index.on(PAGE, status(200, releases("99.1.0")))
    await machine.look()
    assert asked(index) == 1
    machine.now += AGAIN_SECONDS
    await machine.look()
    assert asked(index) == 2


async def test_a_clock_that_was_set_back_does_not_end_the_looks(machine, index):
    await machine.look()
    machine.now -= 30 * EVERY_SECONDS
    await machine.look()
    assert asked(index) == 2


async def test_what_was_found_is_for_its_owner_only(machine):
    await machine.look()
    assert stat.S_IMODE(machine.file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "[]", "{", '{"latest": 3, "checked_at": "x"}'])
async def test_a_torn_or_alien_file_counts_as_none(machine, index, content):
    machine.file.parent.mkdir(parents=True, exist_ok=True)
    machine.file.write_text(content)
    assert "not looked up yet" in machine.row(machine.host()).detail
    await machine.look()
    assert asked(index) == 1


async def test_what_the_file_says_cannot_reach_the_terminal_as_a_command(machine):
    machine.file.parent.mkdir(parents=True, exist_ok=True)
    found = {"checked_at": machine.now, "problem": "\x1b[2J\nx", "latest": "\x1b[2J99"}
    machine.file.write_text(json.dumps(found))
    assert "\x1b" not in machine.row(machine.host()).detail


async def test_a_disk_that_takes_nothing_costs_the_look_only(machine, index):
    machine.file.parent.parent.mkdir(parents=True, exist_ok=True)
    machine.file.parent.write_text("")
    await machine.look()
    assert asked(index) == 0


async def test_an_address_with_a_password_is_not_used(machine, index):
    password = "in-the-clear"
    machine.environ["COGNEE_HOOKS_UPDATE_CHECK"] = index.url.replace("//", f"//me:{password}@")
    host = await machine.look()
    assert index.requests == []
    assert password not in machine.row(host).detail + machine.file.read_text()


@pytest.mark.parametrize(
    ("raw", "index_url"),
    [
        ("true", "https://pypi.org/simple"),
        ("ON", "https://pypi.org/simple"),
        ("off", ""),
        ("", ""),
        ("https://pypi.example/simple/", "https://pypi.example/simple"),
        ("sometimes", ""),
        ("file:///etc", ""),
    ],
)
def test_the_setting_is_a_switch_or_an_address(isolated_environment, raw, index_url):
    environ = {"HOME": str(isolated_environment), "COGNEE_HOOKS_UPDATE_CHECK": raw}
    host = Host("claude-code", environ=environ)
    assert host.registry.manager.get_plugin("updates")._index == index_url
    assert bool(host.settings.problems) is (raw in {"sometimes", "file:///etc"})


def test_a_project_cannot_have_us_ask_anybody(isolated_environment, tmp_path):
    (tmp_path / ".cognee-hooks.yaml").write_text("plugins:\n  updates:\n    check: 'true'\n")
    host = Host("claude-code", environ={"HOME": str(isolated_environment)}, cwd=str(tmp_path))
    assert host.registry.manager.get_plugin("updates")._index == ""
