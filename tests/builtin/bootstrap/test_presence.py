from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest

from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.presence import READY, PresenceProbe, Tcp, Verdict, connected

LOCAL, REMOTE = "http://localhost:8011", "http://memory.example.com:8011"
ALIVE = os.getpid()
DEAD = 2**22 + 1
TOLD, UVICORN, VIM, UNKNOWN = "", "python -m uvicorn app", "vim x", None


def probe(
    folder: Path,
    *,
    http: list[str],
    tcp: list[Tcp],
    pid: int = 0,
    command: str | None = TOLD,
    url: str = LOCAL,
) -> PresenceProbe:
    answers, connects = iter(http), iter(tcp)
    pidfile = PidFile(folder, 8011, command=lambda _: command)
    if pid:
        pidfile.write(pid, "1.6.5")

    async def ask(_: float) -> str:
        return next(answers)

    async def connect(*_: object) -> Tcp:
        return next(connects)

    return PresenceProbe(url, pidfile, ask, connect=connect, pause=0)


REFUSED, LISTENING, SILENT = Tcp.REFUSED, Tcp.LISTENING, Tcp.NO_VERDICT


@pytest.mark.parametrize(
    ("scene", "confirm", "verdict"),
    [
        ({"http": [READY], "tcp": []}, False, Verdict.READY),
        ({"http": ["503"], "tcp": [LISTENING]}, False, Verdict.BUSY),
        ({"http": ["refused"], "tcp": [REFUSED]}, False, Verdict.ABSENT),
        ({"http": ["timeout"], "tcp": [SILENT]}, False, Verdict.UNKNOWN),
        (
            {"http": ["refused"], "tcp": [REFUSED], "pid": ALIVE, "command": UVICORN},
            False,
            Verdict.BUSY,
        ),
        ({"http": ["refused"], "tcp": [REFUSED], "pid": DEAD}, False, Verdict.ABSENT),
        (
            {"http": ["refused"], "tcp": [REFUSED], "pid": ALIVE, "command": VIM},
            False,
            Verdict.ABSENT,
        ),
        (
            {"http": ["refused"], "tcp": [REFUSED], "pid": ALIVE, "command": UNKNOWN},
            False,
            Verdict.BUSY,
        ),
        ({"http": ["refused"], "tcp": [], "url": REMOTE}, False, Verdict.UNKNOWN),
        ({"http": ["refused", READY], "tcp": [REFUSED]}, True, Verdict.READY),
        ({"http": ["refused", "refused"], "tcp": [REFUSED, LISTENING]}, True, Verdict.BUSY),
        ({"http": ["404"], "tcp": [LISTENING]}, False, Verdict.BUSY),
        ({"http": ["refused", "refused"], "tcp": [REFUSED, REFUSED]}, True, Verdict.ABSENT),
        ({"http": ["refused", "timeout"], "tcp": [REFUSED, SILENT]}, True, Verdict.UNKNOWN),
    ],
    ids=[*(f"v{number}" for number in range(35, 47)), "confirmed", "doubtful"],
)
async def test_only_a_proof_makes_a_server_absent(
    tmp_path: Path, scene: dict[str, object], confirm: bool, verdict: Verdict
):
    found = await probe(tmp_path, **scene).look(confirm=confirm)
    assert found.verdict is verdict


@pytest.mark.parametrize(("pid", "command"), [(DEAD, TOLD), (ALIVE, VIM)], ids=["v40", "v41"])
async def test_a_record_that_is_not_true_is_removed(tmp_path: Path, pid: int, command: str):
    looking = probe(tmp_path, http=["refused"], tcp=[REFUSED], pid=pid, command=command)
    await looking.look(confirm=False)
    assert not (tmp_path / "server-8011.pid").exists()


async def test_the_evidence_says_what_the_verdict_rests_on(tmp_path: Path):
    looking = probe(
        tmp_path, http=["refused"], tcp=[REFUSED], pid=ALIVE, command="python -m uvicorn"
    )
    found = await looking.look(confirm=True)
    assert found.evidence == {
        "base_url": LOCAL,
        "http": "refused",
        "tcp": "refused",
        "pid": str(ALIVE),
    }


@pytest.mark.parametrize("content", ["", "{torn", "[]", '{"pid": 0}', '{"pid": true}'])
async def test_a_record_that_says_nothing_is_no_evidence(tmp_path: Path, content: str):
    (tmp_path / "server-8011.pid").write_text(content)
    found = await probe(tmp_path, http=["refused"], tcp=[REFUSED]).look(confirm=False)
    assert found.verdict is Verdict.ABSENT


async def test_a_port_that_listens_on_one_address_of_localhost_is_not_refused():
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as server:
            try:
                server.bind((address, 0))
            except OSError:
                continue  # a machine without IPv6
            server.listen()
            assert await connected("localhost", server.getsockname()[1]) is Tcp.LISTENING


async def test_a_closed_port_is_refused():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    assert await connected("localhost", port) is Tcp.REFUSED


async def test_a_server_that_hangs_is_busy(tmp_path: Path):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        async def ask(seconds: float) -> str:
            await asyncio.sleep(0)
            return "timed_out"

        url = f"http://127.0.0.1:{port}"
        looking = PresenceProbe(url, PidFile(tmp_path, port), ask, pause=0)
        assert (await looking.look(confirm=True)).verdict is Verdict.BUSY


async def test_a_process_that_got_the_id_of_a_server_is_not_the_server(tmp_path: Path):
    # As after a restart of the machine: our daemon, say, whose command line has the word in it.
    pidfile = PidFile(tmp_path, 8011, command=lambda _: "python -m cognee_hooks.daemon")
    pidfile.write(ALIVE, "1.6.5")
    assert pidfile.live() == ALIVE
    fields = json.loads(pidfile.path.read_text())
    pidfile.path.write_text(json.dumps(fields | {"start_time": "1"}))
    assert pidfile.describe() == f"{pidfile.path}: {ALIVE}, stale"
    assert pidfile.live(tidy=False) == 0
    assert pidfile.path.exists(), "who only looks removes nothing"
    assert pidfile.live() == 0
    assert not pidfile.path.exists()


def test_doctor_is_told_what_a_record_says(tmp_path: Path):
    pidfile = PidFile(tmp_path, 8011, command=lambda _: UVICORN)
    assert pidfile.describe() == f"{pidfile.path}: absent"
    for text in ("", "{", "[]", '{"pid": "7"}', '{"pid": 0}', '{"pid": true}'):
        pidfile.path.write_text(text)
        assert pidfile.describe() == f"{pidfile.path}: stale (unparseable)", text
    pidfile.write(ALIVE, "1.6.0")
    assert pidfile.describe() == f"{pidfile.path}: {ALIVE}, alive"


async def test_a_record_of_another_plugin_has_no_start_and_counts(tmp_path: Path):
    content = {"pid": ALIVE, "port": 8011, "version": "1.6.0", "created_at": 1.0}
    (tmp_path / "server-8011.pid").write_text(json.dumps(content))
    assert PidFile(tmp_path, 8011, command=lambda _: UVICORN).live() == ALIVE


async def test_a_record_that_is_no_file_is_no_evidence_and_holds_nobody_up(tmp_path: Path):
    path = tmp_path / "server-8011.pid"
    os.mkfifo(path)
    assert PidFile(tmp_path, 8011).live() == 0
    path.unlink()
    path.write_bytes(b"x" * 1_000_000)
    assert PidFile(tmp_path, 8011).live() == 0
    path.unlink()
    path.symlink_to(path)
    assert PidFile(tmp_path, 8011).live() == 0


async def test_a_remote_server_is_never_absent_whatever_its_port_says(tmp_path: Path):
    found = await probe(tmp_path, http=["refused"], tcp=[], url=REMOTE).look(confirm=True)
    assert found.verdict is Verdict.UNKNOWN
