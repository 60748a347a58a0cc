"""`cognee-hooks scrub` on this machine: the value is planted everywhere, and then it is nowhere."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import pytest

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.items import Payload
from builtin_plugins.bridge.limits import BufferLimits
from cognee_hooks.cli import main
from cognee_hooks.cli import scrub as module
from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.deadline import Deadline
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.host import Host
from cognee_hooks.leak import MARKER, Leak
from cognee_hooks.markers import hookimpl
from cognee_hooks.results import Act, Scrubbed, ScrubState
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.session_state import SessionState
from cognee_hooks.services.upkeep import UpkeepRoutes
from tests.support.api import post_entry, question, upload
from tests.support.servers import mint_key

VALUE = "hunter2-" + 'Zq81"/é-kappa'
CORE = b"Zq81"
LOOKED_FOR = [base64.b64encode(b"x" * n + VALUE.encode())[4:20] for n in range(3)]
SPELLINGS = {
    "plain": VALUE,
    "json": json.dumps({"text": VALUE}),
    "json-utf8": json.dumps({"text": VALUE}, ensure_ascii=False),
    "json-in-json": json.dumps({"line": json.dumps({"text": VALUE})}),
    "quoted": f"https://example.com/?key={quote(VALUE, safe='')}",
    "base64": base64.b64encode(f"user:{VALUE}".encode()).decode(),
    "url-safe": base64.urlsafe_b64encode(f"{VALUE}?>".encode()).decode(),
}


@pytest.fixture
def scrub(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(*words: str, value: bytes = VALUE.encode()) -> SimpleNamespace:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(value)))
        code = main(["scrub", *words])
        out, err = capsys.readouterr()
        assert not value.strip() or value.decode("utf-8", "replace").strip() not in out + err
        return SimpleNamespace(code=code, out=out, err=err)

    return run


def agents() -> list[Paths]:
    return [Paths.of(os.environ, name) for name in ("claude-code", "pi", "toy")]


def plant(paths: Paths, number: int) -> None:
    """Put the value into every kind of file of an agent's state."""
    sealer = Sealer.of(paths.key_file)
    session = f"s{number}"
    buffer = Buffer(
        paths.bridge_dir, session_file_stem(session), sealer, BufferLimits(1000), now=time.time
    )
    paths.bridge_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in range(3):
        entry = {"type": "qa", "question": f"{each} {VALUE}", "answer": "kept", "context": ""}
        buffer.enqueue(Payload(entry=entry, session_id=session, dataset="d", url="", captured_at=1))
    buffer.set_aside([1], f"refused: {VALUE}")
    plain = {"entries": [{"sessionId": "s9", "type": "qa", "question": VALUE, "answer": "kept"}]}
    written(paths.bridge_dir / f"{session_file_stem('s9')}.json", json.dumps(plain))
    written(paths.bridge_dir / f"{session_file_stem('s8')}.torn", f'{{"entries": [{VALUE}')
    SessionState.of(paths.sessions_dir, session, "capture").write({"prompt": VALUE, "kept": 1})
    Ledger(paths.ledger_dir, paths.agent, paths.key_file).record(session, Act.CAPTURED, VALUE)
    for name, text in SPELLINGS.items():
        written(paths.state_dir / f"other/{name}.json", text)
        written(paths.state_dir / f"other/{name}.jsonl", f'{{"kept": 1}}\n{text}\n')
        written(paths.state_dir / f"other/{name}.log", f"kept {text}\n")
        written(paths.state_dir / f"other/{name}.log.1", f"kept {text}\n")
    old = written(paths.state_dir / ".state.json.12.abcdef.tmp", VALUE)
    os.utime(old, (1, 1))


def plant_daemon() -> None:
    paths = Paths.of(os.environ, "daemon")
    fields = {"version": "1.0", "kind": "hook", "agent": "claude-code", "event": "Stop", "pid": 1}
    opening = Opening(ident="17000-1", cwd=VALUE, environ={"COGNEE_X": VALUE}, **fields)
    Journal(paths.daemon_dir, Sealer.of(paths.key_file)).add(opening, json.dumps(VALUE).encode())
    spooled = Opening(ident="17001-1", cwd="/", environ={}, **fields)
    path = paths.daemon_dir / "spool/17001-1.event"
    path.write_bytes(spooled.wire() + json.dumps({"prompt": VALUE}).encode())
    path.chmod(0o600)
    root = paths.daemon_dir.parent
    for name in ("daemon/daemon.log", "bootstrap/bootstrap.log", "bootstrap/server.log"):
        written(root / name, f"at {VALUE}\n")
    written(root / "code-graph/repository.json", SPELLINGS["json"])
    written(paths.log_dir / "host.log", VALUE)
    written(paths.data_dir / "notes.json", SPELLINGS["json"])


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def holding(home: Path) -> dict[str, bytes]:
    """The files that hold the value in any spelling, sealed ones opened."""
    found = {}
    for path in sorted(each for each in home.rglob("*") if each.is_file()):
        data = path.read_bytes()
        texts = [data, *opened(path, data)]
        if any(CORE in text or any(form in text for form in LOOKED_FOR) for text in texts):
            found[str(path.relative_to(home))] = data
    return found


def opened(path: Path, data: bytes) -> list[bytes]:
    paths = Paths.of(os.environ, "daemon")
    if path.suffix != ".sealed":
        return []
    return [Sealer.of(paths.key_file).open(data, path.stem)]


def test_no_file_of_ours_holds_a_byte_of_it_and_the_rest_is_kept(isolated_environment, scrub):
    for number, paths in enumerate(agents()):
        plant(paths, number)
    plant_daemon()
    settings = written(isolated_environment / ".cognee/.env", f"LLM_API_KEY='{VALUE}'\n")
    theirs = written(isolated_environment / ".cognee-plugin/codex/state.json", json.dumps(VALUE))
    transcript = written(isolated_environment / ".claude/projects/x/1.jsonl", json.dumps(VALUE))
    reported = {
        str(each.relative_to(isolated_environment)): each.read_bytes()
        for each in (settings, theirs, transcript)
    }
    before = holding(isolated_environment)
    assert len(before) > 90

    look = scrub("--local-only", "--dry-run", "--json")
    assert holding(isolated_environment) == before
    done = scrub("--local-only", "--yes", "--json")

    assert holding(isolated_environment) == reported
    rows = json.loads(done.out)["places"]
    left = {row["place"] for row in rows if row["state"] == "left"}
    assert left == {str(isolated_environment / each) for each in reported}
    assert done.code == 1
    seen = {row["place"] for row in json.loads(look.out)["places"]}
    assert seen == {row["place"] for row in rows}
    for number, paths in enumerate(agents()):
        kept(paths, number)
    again = json.loads(scrub("--local-only", "--yes", "--json").out)["places"]
    assert {row["state"] for row in again} == {"left"}


def kept(paths: Paths, number: int) -> None:
    """Whatever was stored beside the value is still there."""
    stem = session_file_stem(f"s{number}")
    sealer = Sealer.of(paths.key_file)
    buffer = Buffer(paths.bridge_dir, stem, sealer, BufferLimits(9), now=time.time)
    assert (buffer.count, buffer.aside) == (2, 1)
    assert buffer.head("").payload.entry["question"] == f"1 {MARKER}"
    state = SessionState.of(paths.sessions_dir, f"s{number}", "capture").read()
    assert state == {"prompt": MARKER, "kept": 1}
    for name in SPELLINGS:
        assert (paths.state_dir / f"other/{name}.jsonl").read_text().startswith('{"kept": 1}\n')
        assert (paths.state_dir / f"other/{name}.log").read_text().startswith("kept ")
        if name.startswith("json"):
            json.loads((paths.state_dir / f"other/{name}.json").read_text())
    assert not (paths.state_dir / ".state.json.12.abcdef.tmp").exists()
    assert paths.state_dir.joinpath("other/plain.json").stat().st_mode & 0o777 == 0o600


def test_a_state_folder_that_was_moved_is_looked_through(isolated_environment, monkeypatch, scrub):
    for name in ("COGNEE_HOOKS_STATE_DIR", "COGNEE_PI_STATE_DIR", "COGNEE_CODE_STATE_DIR"):
        monkeypatch.setenv(name, str(isolated_environment / name.lower()))
        written(isolated_environment / name.lower() / "x/state.json", json.dumps(VALUE))

    assert scrub("--local-only", "--yes").code == 0
    assert holding(isolated_environment) == {}


def test_nothing_there_is_said(scrub):
    told = scrub("--local-only", "--yes")
    assert told.code == 0
    assert "Nothing that we keep holds the value." in told.out


def test_without_a_terminal_and_without_yes_it_refuses(isolated_environment, scrub):
    path = written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    told = scrub("--local-only")
    assert (told.code, told.out) == (2, "")
    assert "nobody is there to answer" in told.err
    assert json.loads(path.read_text()) == VALUE


def test_a_value_on_the_command_line_is_refused_and_not_repeated(scrub):
    told = scrub("--local-only", "--yes", VALUE)
    assert (told.code, told.out) == (2, "")
    assert "shell's history" in told.err
    assert CORE.decode() not in told.err


def test_json_is_for_programs_and_asks_nothing(monkeypatch, capsys):
    terminal = io.StringIO("")
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(module, "can_ask", lambda: True)
    monkeypatch.setattr(module.getpass, "getpass", lambda _: VALUE)
    assert main(["scrub", "--local-only", "--json"]) == 2
    assert "--json needs" in capsys.readouterr().err


@pytest.mark.parametrize("value", [b"", b"ab\n", b"session_id", b"\xff\xfe\xfd\xfc\xfb\xfa"])
def test_values_that_would_match_almost_everything_are_refused(scrub, value: bytes):
    told = scrub("--local-only", "--yes", value=value)
    assert (told.code, told.out) == (2, "")


@pytest.mark.parametrize(("answer", "state"), [("y\n", MARKER), ("n\n", VALUE), ("", VALUE)])
def test_at_a_terminal_it_asks_for_the_value_without_echo_and_then_for_leave(
    monkeypatch, capsys, answer: str, state: str
):
    path = written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps({"a": VALUE}))
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(module, "can_ask", lambda: True)
    monkeypatch.setattr(module.getpass, "getpass", lambda _: VALUE)

    code = main(["scrub", "--local-only"])

    assert json.loads(path.read_text()) == {"a": state}
    out = capsys.readouterr().out
    assert "x.json" in out
    assert CORE.decode() not in out
    assert code == (0 if state == MARKER else 1)
    assert ("Nothing was changed." in out) is (state != MARKER)


def test_the_last_line_says_that_the_value_has_to_be_revoked(scrub):
    written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    assert "Revoke it" in scrub("--local-only", "--yes").out.splitlines()[-1]


def test_no_daemon_can_start_while_files_are_cleaned(monkeypatch, scrub):
    folder = Paths.of(os.environ, "daemon").daemon_dir
    written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    free: list[bool] = []

    def is_free() -> bool:
        lock = KernelLock(folder / "lock")
        try:
            return lock.try_acquire()
        finally:
            lock.release()

    real = module.Here.database

    def looked(*arguments: object, dry_run: bool):
        free.append(is_free())
        return real(*arguments, dry_run=dry_run)

    monkeypatch.setattr(module.Here, "database", looked)
    scrub("--local-only", "--yes")

    assert free == [True, False]
    assert is_free()


@pytest.mark.expects_faults
def test_a_plugin_whose_cleaning_fails_is_named(monkeypatch, scrub):
    plant(Paths.of(os.environ, "pi"), 1)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("builtin_plugins.bridge.scrub.scrub", broken)
    rows = json.loads(scrub("--local-only", "--yes", "--json").out)["places"]
    row = next(each for each in rows if each["place"].startswith("plugin bridge"))
    assert row["state"] == "left"
    assert "RuntimeError" in row["detail"]


class Keeper:
    """A third-party plugin that keeps something that the core cannot open."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> Scrubbed | None:
        self.asked.append(dry_run)
        if self.asked.count(False) > 1 or not leak.is_in(VALUE.encode()):
            return None
        state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
        cleaned = False in self.asked and dry_run
        return None if cleaned else Scrubbed(place=f"vault of {VALUE}", state=state, count=2)


def test_nothing_is_changed_while_a_daemon_does_not_end(monkeypatch, scrub):
    path = written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    monkeypatch.setattr(module.control, "stop", lambda *_: False)
    told = scrub("--local-only", "--yes")
    assert told.code == 1
    assert "nothing was changed" in told.err
    assert json.loads(path.read_text()) == VALUE


def test_nothing_is_changed_while_daemons_start_again_and_again(monkeypatch, scrub):
    folder = Paths.of(os.environ, "daemon").daemon_dir
    path = written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    monkeypatch.setattr(module.control, "stop", lambda *_: True)
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    with KernelLock(folder / "lock").holding(Deadline.after(1)):
        told = scrub("--local-only", "--yes")
    assert told.code == 1
    assert "again and again" in told.err
    assert json.loads(path.read_text()) == VALUE


def test_entries_that_a_blocked_plugin_has_sealed_are_named(scrub):
    plant(Paths.of(os.environ, "pi"), 1)
    told = scrub("--local-only", "--yes", "--json", "-p", "no:bridge")
    assert "with -p bridge" in told.out
    assert told.code == 1
    assert "with -p bridge" not in scrub("--local-only", "--yes", "--json").out


def test_a_plugin_cleans_its_own_state_and_what_it_says_is_shown_without_the_value(
    monkeypatch, scrub
):
    keeper = Keeper()

    def with_keeper(agent: str, _: object) -> Host:
        return Host(agent, environ=dict(os.environ), plugins={"keeper": keeper}, entry_points=())

    monkeypatch.setattr(module, "make_host", with_keeper)
    told = scrub("--local-only", "--yes")
    assert keeper.asked == [True, False, True]
    assert f"vault of {MARKER}" in told.out
    assert told.code == 0


# -- the embedded server -------------------------------------------------------------------------


@pytest.fixture
def server(isolated_environment, monkeypatch):
    data = Paths.of(os.environ, "embedded").embedded_dir / "memory.db"
    with EmbeddedServer(data) as made:
        key = mint_key(made.url)
        monkeypatch.setenv("COGNEE_BASE_URL", made.url)
        monkeypatch.setenv("COGNEE_API_KEY", key)
        with httpx.Client(base_url=made.url, headers={"X-Api-Key": key}) as api:
            for number in range(6):
                text = f"question {number} {VALUE if number % 2 else ''}"
                post_entry(api, question(text, "kept"), f"s{number % 2}", "d")
            upload(api, "d", {"notes.md": f"The key is {VALUE}. Kept.".encode()})
            yield api


def stored(api: httpx.Client) -> list[str]:
    found = []
    for session in ("s0", "s1"):
        found += [row["question"] for row in api.get(f"/api/v1/sessions/{session}").json()["qas"]]
    return found


WHOLE = [f"question {n} " for n in (0, 2, 4)] + [f"question {n} {MARKER}" for n in (1, 3, 5)]


def test_the_embedded_servers_database_holds_no_byte_of_what_was_deleted(
    isolated_environment, server, scrub
):
    assert len(holding(isolated_environment)) >= 1
    told = scrub("--yes")
    assert told.code == 0, told.out
    assert stored(server) == WHOLE
    assert holding(isolated_environment) == {}


class Packer:
    """Knows what to do about a file of a local server, once its routes have deleted things."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.cleanings = 0

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> Scrubbed | None:
        if not self.file.exists():
            return None
        self.cleanings += not dry_run
        state = ScrubState.FOUND
        if not dry_run:
            state = ScrubState.LEFT if self.cleanings == 1 else ScrubState.CLEANED
        if state is ScrubState.CLEANED:
            self.file.unlink()
        return Scrubbed(place=str(self.file), state=state, count=1)


def test_what_a_local_servers_files_still_hold_goes_after_its_routes_have_deleted_it(
    isolated_environment, server, scrub, monkeypatch
):
    file = written(isolated_environment / ".cognee" / "system" / "cognee_db", VALUE)
    logs = [written(file.with_name(f"cognee_db-{end}"), VALUE) for end in ("wal", "journal")]
    packer = Packer(file)

    def with_packer(agent: str, _: object) -> Host:
        return Host(agent, environ=dict(os.environ), plugins={"packer": packer}, entry_points=())

    monkeypatch.setattr(module, "make_host", with_packer)
    looked = json.loads(scrub("--dry-run", "--json").out)["places"]
    assert [row["state"] for row in looked if row["place"] == str(file)] == ["found"]
    assert not {str(log) for log in logs} & {row["place"] for row in looked}

    for log in logs:
        log.unlink()
    told = scrub("--yes", "--json")
    rows = json.loads(told.out)["places"]
    assert [row["state"] for row in rows if row["place"] == str(file)] == ["cleaned"]
    assert (told.code, packer.cleanings) == (0, 2)


def test_a_server_that_is_away_is_said_and_files_are_cleaned_all_the_same(
    isolated_environment, monkeypatch, scrub
):
    monkeypatch.setenv("COGNEE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("COGNEE_API_KEY", "k" * 20)
    written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))
    told = scrub("--yes")
    assert told.code == 1
    assert "cannot be asked" in told.out
    assert holding(isolated_environment) == {}


def test_a_server_that_fails_in_the_middle_is_said_and_files_are_cleaned_all_the_same(
    server, scrub, monkeypatch
):
    path = written(Paths.of(os.environ, "pi").state_dir / "x.json", json.dumps(VALUE))

    async def failing(*_: object) -> None:
        raise ServerFailure(FailureKind.SERVER_ERROR, "its disk is full", status=500)

    monkeypatch.setattr(UpkeepRoutes, "drop_memory", failing)
    told = scrub("--yes")

    assert told.code == 1
    assert "its disk is full" in told.out
    assert "run scrub again" in told.out
    assert json.loads(path.read_text()) == MARKER


@pytest.mark.parametrize("typed", ["right", "wrong"])
def test_at_a_terminal_a_dataset_is_deleted_only_when_its_id_is_typed_again(
    server, monkeypatch, capsys, typed: str
):
    made = server.post("/api/v1/datasets", json={"name": f"for {VALUE}"}).json()["id"]
    terminal = io.StringIO(f"{made if typed == 'right' else 'yes'}\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(module, "can_ask", lambda: True)
    monkeypatch.setattr(module.getpass, "getpass", lambda _: VALUE)

    code = main(["scrub", "--forget-dataset", made])

    kept = [row["id"] for row in server.get("/api/v1/datasets").json()]
    assert (code, made in kept) == ((0, False) if typed == "right" else (1, True))
    assert CORE.decode() not in capsys.readouterr().out


def test_a_dataset_of_another_name_is_not_deleted(server, scrub):
    kept = [row["id"] for row in server.get("/api/v1/datasets").json()]
    told = scrub("--yes", "--forget-dataset", kept[0])
    assert told.code == 1
    assert "does not hold the value" in told.err
    assert [row["id"] for row in server.get("/api/v1/datasets").json()] == kept


@pytest.mark.parametrize("after", range(6))
@pytest.mark.parametrize("before", [True, False])
def test_killed_at_any_write_to_the_server_it_finishes_when_run_again(
    server, scrub, monkeypatch, after: int, before: bool
):
    left = [after]

    def killing(name: str) -> None:
        real = getattr(UpkeepRoutes, name)

        async def call(*arguments: object) -> object:
            left[0] -= 1
            if left[0] < 0 and before:
                raise KeyboardInterrupt
            result = await real(*arguments)
            if left[0] < 0:
                raise KeyboardInterrupt
            return result

        patched.setattr(UpkeepRoutes, name, call)

    with monkeypatch.context() as patched:
        for name in ("rewrite_document", "drop_memory", "store_again", "rebuild"):
            killing(name)
        scrub("--yes")

    told = scrub("--yes")

    assert told.code == 0, told.out
    assert stored(server) == WHOLE
    found = server.post(
        "/api/v1/recall",
        json={"query": "key kept", "scope": ["graph"], "datasets": ["d"], "only_context": True},
    )
    assert f"The key is {MARKER}. Kept." in found.text


def test_killed_by_force_at_any_moment_it_finishes_when_run_again(isolated_environment, scrub):
    for number, paths in enumerate(agents()):
        plant(paths, number)
    plant_daemon()
    moments = random.Random(7)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "cognee_hooks", "scrub", "--local-only", "--yes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        process.stdin.write(VALUE.encode())
        process.stdin.close()
        time.sleep(moments.uniform(0.5, 1.4))
        process.send_signal(signal.SIGKILL)
        process.wait()

    scrub("--local-only", "--yes")

    assert holding(isolated_environment) == {}
    for number, paths in enumerate(agents()):
        kept(paths, number)
