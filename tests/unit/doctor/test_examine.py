from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import configuration, examine, machine, worst
from cognee_hooks.doctor.rows import MAX_TEXT
from cognee_hooks.faults import DropReason
from cognee_hooks.host import Host
from cognee_hooks.results import Act, CheckResult, CheckStatus
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.settings import MASK
from tests.support.fake_server import FakeServer
from tests.support.plugins import HANG
from tests.support.servers import Server

CLOSED = "http://127.0.0.1:9"
PATIENCE = 20.0
KEY = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8i9J0" * 3
SHAPELESS = "correcthorse" + "batterystaple"


@pytest.fixture
def make(isolated_environment: Path):
    def build(*, plugins=None, agent="claude-code", **environ: str) -> Host:
        everything = {"HOME": str(isolated_environment), "COGNEE_LOCAL_API_URL": CLOSED} | environ
        return Host(agent, environ=everything, plugins=plugins, entry_points=())

    return build


async def rows_of(host: Host, seconds: float = PATIENCE) -> dict[str, CheckResult]:
    rows = await examine(host, Deadline.after(seconds))
    await host.close(Deadline.after(1.0))
    return {row.name: row for row in rows}


def saying(**checks):
    """A plugin whose own check does something."""

    class Plugin:
        @hookimpl
        def cognee_doctor_checks(self):
            return CheckResult(**{"name": "mine", "status": CheckStatus.OK, "detail": "x"} | checks)

    return Plugin()


# -- nothing is changed --------------------------------------------------------------------------


def snapshot(home: Path) -> dict[str, object]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else None
        for path in home.rglob("*")
        if path.suffix != ".lock"
    }


async def test_a_look_at_a_machine_with_nothing_on_it_leaves_nothing(make, isolated_environment):
    before = snapshot(isolated_environment)
    await rows_of(make())
    assert snapshot(isolated_environment) == before


async def test_a_look_changes_no_file_and_makes_no_key(
    make, isolated_environment, embedded_server: Server
):
    host = make(COGNEE_LOCAL_API_URL=embedded_server.url)
    paths = host.paths
    Sealer.of(paths.key_file)
    for path in (paths.env_file, paths.breaker_file, paths.bridge_dir / f"{'0' * 40}.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        path.chmod(0o644)
    before = snapshot(isolated_environment)
    rows = await rows_of(host)
    assert snapshot(isolated_environment) == before
    assert not paths.api_key_cache.exists()
    assert rows["key"].detail.startswith("none yet")
    assert rows["key"].status is CheckStatus.INFO


async def test_the_note_of_a_server_that_is_gone_stays(make, isolated_environment):
    host = make(LLM_API_KEY="any-text-will-do", COGNEE_LOCAL_API_URL="")
    note = host.paths.shared_dir / "server-8011.pid"
    note.parent.mkdir(parents=True)
    note.write_text('{"pid": 4194304, "port": 8011, "version": "1.6.0", "created_at": 1}')
    rows = await rows_of(host)
    assert rows["server pidfile"].detail == f"{note}: 4194304, stale"
    assert note.exists()


async def test_a_cached_key_that_is_refused_is_not_thrown_away(make, embedded_server: Server):
    host = make(COGNEE_LOCAL_API_URL=embedded_server.url)
    cache = host.paths.api_key_cache
    cache.parent.mkdir(parents=True)
    content = json.dumps({"base_url": embedded_server.url, "api_key": "0" * 64})
    cache.write_text(content)
    cache.chmod(0o600)
    rows = await rows_of(host)
    assert rows["key"].status is CheckStatus.FAILED
    assert cache.read_text() == content


# -- time ----------------------------------------------------------------------------------------


@pytest.mark.expects_faults
async def test_what_hangs_becomes_a_row_and_costs_no_other_row(make, monkeypatch):
    class Hanging:
        @hookimpl
        async def cognee_doctor_checks(self):
            await asyncio.sleep(HANG)

    class Blocking:
        @hookimpl
        def cognee_doctor_checks(self):
            time.sleep(5)

    monkeypatch.setattr(machine, "checks", lambda _: time.sleep(5))
    host = make(plugins={"hanging": Hanging(), "blocking": Blocking(), "fine": saying()})
    began = time.monotonic()
    rows = await rows_of(host, 3.0)
    assert time.monotonic() - began < 4.8
    for name in ("plugin hanging", "plugin blocking"):
        assert rows[name].status is CheckStatus.FAILED
        assert rows[name].detail == "its own check did not answer in time"
    assert rows["machine"].detail == "its checks were not done in time"
    assert rows["mine"].detail == "x"
    assert "mode" in rows
    assert "bridge" in rows


@pytest.mark.expects_faults
async def test_a_server_that_never_answers_leaves_time_for_plugins(make):
    async def silent(connection, request):
        await asyncio.sleep(HANG)

    async with FakeServer() as server:
        server.always(silent)
        began = time.monotonic()
        rows = await rows_of(make(COGNEE_LOCAL_API_URL=server.url), 8.0)
    assert time.monotonic() - began < 8.5
    assert rows["server"].status is CheckStatus.FAILED
    assert rows["bridge"].status is CheckStatus.OK
    assert rows["datasets"].detail.startswith("unavailable (")


# -- secrets -------------------------------------------------------------------------------------


async def test_no_secret_is_in_any_row(make):
    host = make(
        plugins={"leaky": saying(name=KEY, detail=f"{SHAPELESS} {KEY}", remedy=f"use {SHAPELESS}")},
        COGNEE_BASE_URL=f"http://me:{SHAPELESS}x@127.0.0.1:9",
        COGNEE_PLUGIN_DATASET=KEY,
        LLM_API_KEY=SHAPELESS,
        COGNEE_API_KEY=KEY,
        HTTPS_PROXY=f"http://{SHAPELESS}@proxy",
    )
    host.paths.env_file.parent.mkdir(parents=True)
    rows = await rows_of(host)
    shown = str(list(rows.values()))
    assert KEY not in shown
    assert SHAPELESS not in shown
    assert MASK in shown


async def test_ordinary_rows_are_not_taken_for_secrets(make):
    rows = await rows_of(make(COGNEE_CAPTURE="false", COGNEE_RECALL="false"))
    shown = str(list(rows.values()))
    assert "[redacted" not in shown
    assert MASK not in shown


async def test_a_plugins_row_is_one_line_of_bounded_length(make):
    text = "\x1b[31mred\n" * 500
    rows = await rows_of(make(plugins={"long": saying(name="long", detail=text)}))
    assert "\n" not in rows["long"].detail
    assert "\x1b" not in rows["long"].detail
    assert len(rows["long"].detail) <= MAX_TEXT


# -- all rows ------------------------------------------------------------------------------------

REFERENCE = (
    "mode",
    "server url",
    "server",
    "key",
    "env file",
    "shell env",
    "LLM_API_KEY",
    "dataset",
    "federation",
    "agent memory",
    "provisioning",
    "session",
    "datasets",
    "capture",
    "capture policy",
    "breaker",
    "timeouts",
    "code graph",
    "local runtime",
)
"""What pi-cognee's doctor tells, by our names."""


async def test_every_row_of_the_reference_has_one_here(make, embedded_server: Server):
    host = make(
        agent="pi", COGNEE_LOCAL_API_URL=embedded_server.url, COGNEE_API_KEY=embedded_server.key
    )
    await host.start()
    rows = await rows_of(host)
    assert set(REFERENCE) <= rows.keys()
    assert all(row.remedy for row in rows.values() if row.status is CheckStatus.FAILED)
    assert all(row.remedy for row in rows.values() if row.status is CheckStatus.WARNING)


# -- single rows ---------------------------------------------------------------------------------


async def test_variables_are_told_by_name_only(make, isolated_environment):
    path = isolated_environment / ".cognee" / ".env"
    path.parent.mkdir()
    path.write_text("LLM_MODEL=gpt-9\nEMBEDDING_DIMENSIONS=384\n")
    path.chmod(0o644)
    rows = await rows_of(make(COGNEE_CAPTURE="true", DEFAULT_USER_EMAIL="a@b.example"))
    env = rows["env file"]
    assert "2 keys: EMBEDDING_DIMENSIONS, LLM_MODEL" in env.detail
    assert env.status is CheckStatus.WARNING
    assert env.remedy.startswith(f"`chmod 600 {path}`")
    shell = rows["shell env"].detail
    assert shell == "3 names: COGNEE_CAPTURE, COGNEE_LOCAL_API_URL, DEFAULT_USER_EMAIL"
    assert rows["embedding"].detail == "model default, 384 dimensions"
    assert rows["LLM_API_KEY"].status is CheckStatus.INFO


async def test_timeouts_and_breaker_are_told_with_their_limits(make):
    host = make(COGNEE_RECALL_TIMEOUT_MS="1500", COGNEE_BREAKER_THRESHOLD="2")
    rows = await rows_of(host)
    assert rows["timeouts"].detail == "recall 1500 ms · request 10000 ms · health 2500 ms"
    assert rows["breaker"].detail.startswith("closed; 2 failed recalls within 300 s")


async def test_a_live_session_tells_what_became_of_its_entries(make):
    host = make()
    assert "session" not in await rows_of(host)
    host = make()
    await host.start()
    session = host.session.session_id
    for act, count in ((Act.DELIVERED, 3), (Act.REPLAYED, 1), (Act.DEDUPLICATED, 2)):
        host.ledger.record(session, act, "qa", count=count)
    rows = {row.name: row for row in await examine(host, Deadline.after(PATIENCE))}
    assert rows["session"].detail == session
    assert rows["entries"].detail == "6 stored · 0 waiting"
    host.drop(DropReason.OWN_TOOL)
    rows = {row.name: row for row in await examine(host, Deadline.after(PATIENCE))}
    assert rows["entries"].detail == "6 stored · 0 waiting · 1 left out by rule"
    assert rows["entries"].status is CheckStatus.OK
    host.drop(DropReason.REJECTED)
    rows = await rows_of(host)
    assert rows["entries"].status is CheckStatus.WARNING
    assert rows["entries"].detail.endswith("1 given up")


@pytest.mark.parametrize(
    ("explicit", "remedy"), [(True, "correct COGNEE_BASE_URL"), (False, "another program holds")]
)
async def test_a_stranger_at_the_address_is_told_by_who_chose_it(make, explicit, remedy):
    async def page(connection, request):
        await connection.answer(200, body=b"<html>It works!</html>")

    async with FakeServer() as server:
        server.always(page)
        host = make(COGNEE_LOCAL_API_URL=server.url)
        host.mode = replace(host.mode, explicit_url=explicit)
        row = (await rows_of(host))["server"]
    assert row.status is CheckStatus.FAILED
    assert remedy in row.remedy


async def test_a_clock_that_is_wrong_is_told(make):
    async def yesterday(connection, request):
        headers = {"Date": "Tue, 15 Nov 1994 08:12:31 GMT"}
        await connection.answer(200, {"status": "ready", "version": "1.6.5"}, headers=headers)

    async with FakeServer() as server:
        server.always(yesterday)
        rows = await rows_of(make(COGNEE_LOCAL_API_URL=server.url))
    assert rows["clock"].status is CheckStatus.WARNING
    assert "behind of ours" in rows["clock"].detail


async def test_a_right_clock_and_readable_datasets_are_told(make, embedded_server: Server):
    host = make(COGNEE_LOCAL_API_URL=embedded_server.url, COGNEE_API_KEY=embedded_server.key)
    rows = await rows_of(host)
    assert rows["clock"].status is CheckStatus.OK
    assert rows["datasets"].status in {CheckStatus.OK, CheckStatus.INFO}
    assert "unavailable" not in rows["datasets"].detail


def test_plain_http_to_another_machine_is_a_warning_and_proxies_are_told(make):
    def told(**environ):
        return {row.name: row for row in configuration.checks(make(**environ))}

    rows = told(COGNEE_BASE_URL="http://192.0.2.1:1", HTTPS_PROXY="http://proxy.example")
    assert rows["tls"].status is CheckStatus.WARNING
    assert rows["proxy"].detail.startswith("HTTPS_PROXY set, and not used")
    rows = told(COGNEE_BASE_URL="https://192.0.2.1:1", SSL_CERT_FILE="/a.pem")
    assert rows["tls"].status is CheckStatus.OK
    assert "SSL_CERT_FILE" in rows["tls"].detail
    assert not {"tls", "proxy"} & told().keys()


async def test_files_that_others_can_read_are_named_with_what_to_do(make):
    host = make()
    Sealer.of(host.paths.key_file)
    assert (await rows_of(make()))["permissions"].status is CheckStatus.OK
    host.paths.key_file.chmod(0o640)
    row = (await rows_of(make()))["permissions"]
    assert row.status is CheckStatus.WARNING
    assert row.detail == f"others can get at {host.paths.key_file} (0640)"
    assert row.remedy == f"`chmod go-rwx {host.paths.key_file}`"


@pytest.mark.parametrize(
    ("free", "status"),
    [(1 << 40, CheckStatus.OK), (50 << 20, CheckStatus.WARNING), (1 << 20, CheckStatus.FAILED)],
)
async def test_a_disk_that_fills_up_is_told(make, monkeypatch, free, status):
    facts = os.statvfs("/")
    changed = os.statvfs_result((1, 1, *tuple(facts)[2:4], free, *tuple(facts)[5:]))
    monkeypatch.setattr(machine.os, "statvfs", lambda _: changed)
    assert (await rows_of(make()))["disk"].status is status


def test_the_worst_row_counts():
    def row(status):
        return CheckResult(name="x", status=status, detail="")

    assert worst([]) is CheckStatus.OK
    assert worst([row(CheckStatus.WARNING), row(CheckStatus.INFO)]) is CheckStatus.WARNING
    assert worst([row(CheckStatus.FAILED), row(CheckStatus.WARNING)]) is CheckStatus.FAILED


def test_what_is_off_is_told_in_one_shape():
    row = CheckResult.off("recall", "set X")
    assert (row.status, row.detail, row.remedy) == (CheckStatus.INFO, "off", "set X")
