from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cognee_hooks
from cognee_hooks.daemon import thin_client
from cognee_hooks.daemon.protocol import split_record
from cognee_hooks.results import NESTED
from cognee_hooks.services.paths import Paths
from tests.support.waiting import PATIENCE

PAYLOAD = b'{"prompt": "hello"}'
Script = Callable[[socket.socket], None]


@pytest.fixture
def home(isolated_environment: Path, monkeypatch) -> Path:
    environ = {os.fsencode(key): os.fsencode(value) for key, value in os.environ.items()}
    monkeypatch.setattr(thin_client.posix, "environ", environ)
    return isolated_environment


@pytest.fixture
def folder(home: Path) -> Path:
    return Paths.of(os.environ, "daemon").daemon_dir


@pytest.fixture
def stdin() -> Iterator[Callable[..., None]]:
    """Puts bytes on standard input, and closes it unless told to leave it open."""
    saved = os.dup(0)
    kept: list[int] = []

    def put(data: bytes, *, ended: bool = True) -> None:
        reader, writer = os.pipe()
        os.dup2(reader, 0)
        os.close(reader)
        os.write(writer, data)
        if ended:
            os.close(writer)
        else:
            kept.append(writer)

    yield put
    os.dup2(saved, 0)
    for each in [saved, *kept]:
        os.close(each)


@pytest.fixture
def no_daemon(monkeypatch) -> list[bytes]:
    """Nobody starts a daemon; gives the folders in which one would have been started."""
    started: list[bytes] = []
    monkeypatch.setattr(thin_client, "start_daemon", lambda folder, environ: started.append(folder))
    monkeypatch.setattr(thin_client, "is_starting", lambda _: True)
    monkeypatch.setattr(thin_client, "BOOT_SECONDS", 0.1)
    monkeypatch.setattr(thin_client, "TAKE_SECONDS", PATIENCE)
    monkeypatch.setattr(thin_client, "LIMIT", 4 * PATIENCE)
    return started


@pytest.fixture
def daemon(folder: Path, no_daemon) -> Iterator[Callable[[Script], list[bytes]]]:
    """A daemon that does what a script says; gives what it received."""
    threads: list[threading.Thread] = []
    folder.mkdir(parents=True, mode=0o700)

    def serve(script: Script) -> list[bytes]:
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / "socket"))
        listening.listen()
        listening.settimeout(2 * PATIENCE)
        received: list[bytes] = []

        def work() -> None:
            with listening:
                peer, _ = listening.accept()
            with peer:
                peer.settimeout(2 * PATIENCE)
                received.append(until_complete(peer))
                script(peer)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return received

    yield serve
    for thread in threads:
        thread.join(3 * PATIENCE)


def until_complete(peer: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"}") and (chunk := peer.recv(65536)):
        data += chunk
    return data


def replies(*parts: bytes) -> Script:
    def script(peer: socket.socket) -> None:
        with suppress(ConnectionError):  # the client may have had enough
            for part in parts:
                peer.sendall(part)
                time.sleep(0.02)

    return script


def says_and_waits(data: bytes) -> Script:
    """Say something, and then nothing more until the client is gone."""

    def script(peer: socket.socket) -> None:
        peer.sendall(data)
        peer.recv(1)

    return script


def run(event: str = "UserPromptSubmit", empty: str = "{}") -> bytes:
    return thin_client.run("claude-code", event, empty)


def spooled(folder: Path) -> list[Path]:
    return sorted(folder.glob("spool/*"))


def test_an_event_is_spooled_under_the_id_by_which_a_daemon_may_already_know_it(
    daemon, folder, stdin
):
    stdin(PAYLOAD)
    received = daemon(replies())  # it took the event, and died before it could say so
    assert run() == b"{}"
    kept, payload = split_record(spooled(folder)[0].read_bytes())
    assert kept.ident == split_record(received[0])[0].ident
    assert payload == PAYLOAD


# -- a daemon answers --------------------------------------------------------------------------


def test_the_answer_of_the_daemon_is_printed(daemon, stdin):
    stdin(PAYLOAD)
    received = daemon(replies(b"+4000\n6\nanswer"))
    assert run() == b"answer"
    opening, payload = split_record(received[0])
    assert (opening.agent, opening.event) == ("claude-code", "UserPromptSubmit")
    assert opening.pid == os.getppid()
    assert opening.cwd == str(Path.cwd())
    assert opening.environ["HOME"] == os.environ["HOME"]
    assert payload == PAYLOAD


def test_an_answer_may_come_in_pieces(daemon, stdin):
    stdin(PAYLOAD)
    daemon(replies(b"+40", b"00\n", b"1", b"1\nans", b"wer ", b"text"))
    assert run() == b"answer text"


def test_an_empty_answer_is_printed_as_it_is(daemon, stdin):
    stdin(PAYLOAD)
    daemon(replies(b"+0\n0\n"))
    assert run() == b""


def test_the_daemon_decides_when_the_document_is_complete(daemon, stdin):
    stdin(PAYLOAD, ended=False)
    daemon(replies(b"+0\n2\nok"))
    assert run() == b"ok"


def test_an_idle_input_is_ended(daemon, stdin, monkeypatch):
    monkeypatch.setattr(thin_client, "IDLE_SECONDS", 0.1)
    stdin(b'{"half": ', ended=False)
    daemon(replies(b"-\n"))
    assert run() == b"{}"


@pytest.mark.parametrize(
    "parts",
    [
        (b"-\n",),
        (b"+4000\n",),
        (b"+4000\n9\nhalf",),
        (b"+4000\nnonsense\n",),
        (b"+\n",),
    ],
)
def test_an_event_that_was_taken_or_refused_is_not_kept(daemon, stdin, folder, parts):
    stdin(PAYLOAD)
    daemon(replies(*parts))
    assert run() == b"{}"
    assert spooled(folder) == []


@pytest.mark.parametrize("parts", [(), (b"!\n",), (b"220 ready\n",), (b"+40",)])
def test_an_event_that_was_not_taken_is_kept(daemon, stdin, folder, no_daemon, parts):
    stdin(PAYLOAD)
    daemon(replies(*parts))
    assert run() == b"{}"
    (path,) = spooled(folder)
    assert path.stat().st_mode & 0o777 == 0o600
    opening, payload = split_record(path.read_bytes())
    assert payload == PAYLOAD
    assert path.stem == opening.ident
    assert no_daemon == [os.fsencode(folder)]


def test_a_daemon_that_says_nothing_is_left(daemon, stdin, folder, monkeypatch):
    monkeypatch.setattr(thin_client, "TAKE_SECONDS", 0.2)
    stdin(PAYLOAD)
    daemon(says_and_waits(b""))
    started = time.monotonic()
    assert run() == b"{}"
    assert time.monotonic() - started < PATIENCE
    assert len(spooled(folder)) == 1


def test_an_answer_that_takes_longer_than_the_daemon_asked_for_is_not_waited_for(daemon, stdin):
    stdin(PAYLOAD)
    daemon(says_and_waits(b"+-900\n"))
    started = time.monotonic()
    assert run() == b"{}"
    assert time.monotonic() - started < PATIENCE


def test_another_users_daemon_gets_nothing(daemon, stdin, folder, monkeypatch):
    monkeypatch.setattr(thin_client, "peer_user", lambda _: os.geteuid() + 1)
    stdin(PAYLOAD)
    received = daemon(replies())
    assert run() == b"{}"
    assert len(spooled(folder)) == 1
    assert received in ([], [b""])


def test_the_other_ends_user_is_told_by_the_system():
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert thin_client.peer_user(here) == os.geteuid()


# -- nobody answers ----------------------------------------------------------------------------


def test_an_event_that_the_model_waits_for_waits_for_the_daemon(daemon, stdin, monkeypatch):
    monkeypatch.setattr(thin_client, "BOOT_SECONDS", 5)
    stdin(PAYLOAD)
    threading.Timer(0.2, daemon, args=[replies(b"+0\n4\nlate")]).start()
    assert run() == b"late"


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "AfterTool"])
def test_other_events_are_kept_at_once(stdin, folder, no_daemon, event, monkeypatch, home):
    monkeypatch.setattr(thin_client, "BOOT_SECONDS", 60)
    stdin(PAYLOAD)
    assert run(event, "") == b""
    assert len(spooled(folder)) == 1


def test_asking_for_a_daemon_that_runs_asks_nothing(daemon, stdin):
    stdin(PAYLOAD, ended=False)
    received = daemon(replies())
    assert run(thin_client.START, "") == b""
    assert received in ([], [b""])


@pytest.mark.parametrize("event", [thin_client.START, thin_client.STATUS])
def test_some_events_only_start_the_daemon(folder, no_daemon, event, home):
    assert run(event, "") == b""
    assert no_daemon == [os.fsencode(folder)]
    assert spooled(folder) == []


def test_the_status_line_is_not_kept_when_the_daemon_is_silent(daemon, stdin, folder):
    stdin(PAYLOAD)
    daemon(replies())
    assert run(thin_client.STATUS, "") == b""
    assert spooled(folder) == []


@pytest.mark.parametrize("data", [b"", b"no json", b"{", b"[1]"])
def test_what_is_no_document_is_not_kept(stdin, folder, no_daemon, data, home):
    stdin(data)
    assert run("Stop") == b"{}"
    assert spooled(folder) == []


def test_an_open_pipe_is_read_up_to_the_end_of_its_document(
    stdin, folder, no_daemon, home, monkeypatch
):
    monkeypatch.setattr(thin_client, "IDLE_SECONDS", 2 * PATIENCE)
    stdin(PAYLOAD, ended=False)
    started = time.monotonic()
    run("Stop")
    assert time.monotonic() - started < PATIENCE
    assert len(spooled(folder)) == 1


def test_a_payload_that_is_too_large_is_not_kept(stdin, folder, no_daemon, monkeypatch, home):
    monkeypatch.setattr(thin_client, "MAX_BYTES", 10)
    stdin(b'{"a": "' + b"x" * 50)
    assert run("Stop") == b"{}"
    assert spooled(folder) == []


def test_no_more_events_are_kept_than_a_daemon_may_ever_take(
    stdin, folder, no_daemon, monkeypatch, home
):
    monkeypatch.setattr(thin_client, "MAX_SPOOLED", 2)
    for _ in range(3):
        stdin(PAYLOAD)
        assert run("Stop") == b"{}"
    assert len(spooled(folder)) == 2


def test_a_full_disk_is_left_without_parts_of_events(stdin, folder, no_daemon, monkeypatch, home):
    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(thin_client.posix, "write", full)
    stdin(PAYLOAD)
    assert run("Stop") == b"{}"
    assert spooled(folder) == []


def test_only_our_variables_are_kept(stdin, folder, no_daemon, home):
    thin_client.posix.environ[b"ANTHROPIC_API_KEY"] = b"a"
    thin_client.posix.environ[b"COGNEE_DATASET"] = b"mine"
    stdin(PAYLOAD)
    run("Stop")
    opening, _ = split_record(spooled(folder)[0].read_bytes())
    assert opening.environ["COGNEE_DATASET"] == "mine"
    assert "ANTHROPIC_API_KEY" not in opening.environ


def test_a_folder_that_cannot_be_made_disturbs_nobody(stdin, no_daemon, home):
    (home / ".cognee-plugin").write_text("a file")
    stdin(PAYLOAD)
    assert run("Stop") == b"{}"


def test_a_folder_that_is_gone_disturbs_nobody(daemon, stdin, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    stdin(PAYLOAD)
    received = daemon(replies(b"+0\n2\nok"))
    assert run() == b"ok"
    assert split_record(received[0])[0].cwd == ""


def test_agents_that_work_for_us_are_left_alone(folder, no_daemon, home):
    thin_client.posix.environ[thin_client.NESTED] = b"1"
    assert run() == b"{}"
    assert no_daemon == []


# -- places ------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["", "~", "~/state", "/abs/state", "relative", "  "])
@pytest.mark.parametrize("place", ["/home/u", "", "relative"])
def test_the_daemons_folder_is_where_the_daemon_thinks_it_is(state, place):
    environ = {"HOME": place, "COGNEE_HOOKS_STATE_DIR": state}
    raw = {os.fsencode(key): os.fsencode(value) for key, value in environ.items()}
    assert os.fsdecode(thin_client.daemon_folder(raw)) == str(Paths.of(environ, "x").daemon_dir)


def test_the_version_is_the_packages():
    assert cognee_hooks.__version__ == thin_client.VERSION
    assert thin_client.NESTED.decode() == NESTED


def test_it_needs_nothing_that_a_bare_interpreter_has_not():
    code = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); "
        "import thin_client; print(*sorted(set(sys.modules) - before))"
    )
    where = str(Path(thin_client.__file__).parent)
    command = [sys.executable, "-I", "-S", "-c", code, where]
    done = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert set(done.split()) <= {"_socket", "select", "thin_client", "time"}


# -- starting ----------------------------------------------------------------------------------


def test_only_one_client_at_a_time_starts_a_daemon(folder, home, monkeypatch):
    forked: list[int] = []
    monkeypatch.setattr(thin_client.posix, "fork", lambda: [1, forked.append(1)][0])
    folder.mkdir(parents=True)
    other = os.open(folder / "starting", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(other, fcntl.LOCK_EX)
    thin_client.start_daemon(os.fsencode(folder), {})
    assert forked == []
    os.close(other)
    thin_client.start_daemon(os.fsencode(folder), {})
    assert forked == [1]


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_start_leaves_nothing_open(folder, home, monkeypatch):
    monkeypatch.setattr(thin_client.posix, "fork", lambda: 1)
    thin_client.start_daemon(os.fsencode(folder), {})
    before = open_files()
    thin_client.start_daemon(os.fsencode(folder), {})
    with (folder / "starting").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        thin_client.start_daemon(os.fsencode(folder), {})
    assert open_files() == before


def test_a_start_is_under_way_as_long_as_somebody_holds_its_lock(folder):
    where = os.fsencode(folder)
    assert not thin_client.is_starting(where)
    folder.mkdir(parents=True)
    with (folder / "starting").open("w") as other:
        assert not thin_client.is_starting(where)
        fcntl.flock(other, fcntl.LOCK_EX)
        assert thin_client.is_starting(where)
    assert not thin_client.is_starting(where)


def test_a_daemon_that_cannot_start_holds_up_no_prompt(folder, home):
    (folder / "lock").mkdir(parents=True)
    client = Path(thin_client.__file__).with_name("client.py")
    command = [sys.executable, "-I", "-S", str(client), "claude-code", "UserPromptSubmit", "{}"]

    def seconds() -> float:
        began = time.monotonic()
        done = subprocess.run(command, input=PAYLOAD, capture_output=True, check=True)
        assert done.stdout == b"{}"
        return time.monotonic() - began

    # Who waits for the daemon is never quicker than that; who does not, may be slow now and then.
    assert any(seconds() < thin_client.BOOT_SECONDS for _ in range(5))
    assert spooled(folder)


def test_an_event_is_kept_where_no_process_can_be_made(folder, home, stdin, monkeypatch):
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(thin_client.posix, "fork", refuse)
    stdin(PAYLOAD)
    assert run() == b"{}"
    assert len(spooled(folder)) == 1


# -- private parts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a  b"),
        ("<private>x", ""),
        ("a <PRIVATE>x</Private>", "a "),
        ('a <private>"x"\\', "a "),
        ("<private>x</private><private>y</private>z", "z"),
        ("no marks", "no marks"),
        ("</private> alone", "</private> alone"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("a <private >x</ private> b", "a  b"),
        ('a < private reason="mine">x</private\t> b', "a  b"),
        ("a <privateer>x</privateer> b", "a <privateer>x</privateer> b"),
        ("a <private\\u003e x", "a <private\\u003e x"),
    ],
)
def test_private_parts_are_cut_out_of_json(text, left):
    document = {"before": 'q"', "text": text, "after": "<b>"}
    cut = thin_client.without_private(json.dumps(document).encode())
    assert json.loads(cut) == {**document, "text": left}


def test_private_parts_are_found_however_json_writes_their_marks():
    written = rb'{"text": "a \u003cprivate\u003Ex\u003c\/private\u003e b \\u003cprivate>"}'
    cut = json.loads(thin_client.without_private(written))
    assert cut == {"text": "a  b \\u003cprivate>"}


@pytest.mark.parametrize(
    "text", ["<private>" + '\\"' * 400_000, "<private>x</private>y" * 50_000, "<" + " " * 400_000]
)
def test_cutting_takes_time_in_proportion_to_the_text(text):
    payload = json.dumps({"text": text, "after": "z"}).encode()
    began = time.process_time()
    cut = thin_client.without_private(payload)
    assert time.process_time() - began < 2  # a hundred times that, if it were quadratic
    assert json.loads(cut)["after"] == "z"


@given(
    st.lists(st.sampled_from(['"', "\\", "<private>", "</private>", "x", "é", "\n"]), max_size=8),
    st.lists(st.sampled_from(['"', "\\", "<private>", "</private>", "y"]), max_size=8),
)
def test_what_is_cut_stays_json_and_keeps_nothing_private(one, two):
    document = {"one": "".join(one), "two": "".join(two)}
    cut = json.loads(thin_client.without_private(json.dumps(document).encode()))
    assert cut.keys() == document.keys()
    for value in cut.values():
        assert "<private>" not in value
