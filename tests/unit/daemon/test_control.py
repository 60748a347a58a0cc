from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from cognee_hooks.daemon import control, thin_client
from cognee_hooks.daemon.protocol import split_record
from cognee_hooks.deadline import Deadline
from tests.support.waiting import PATIENCE

STATUS = {"pid": 1, "version": "1.0", "sessions": []}


class Peer:
    """Something that listens on a daemon's socket.

    Args:
        folder: The daemon's folder.
        serve: Gets each connection.
    """

    def __init__(self, folder, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / "socket"))
        self._socket.listen()
        self._socket.settimeout(0.02)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            with connection, suppress(OSError):  # whoever asked may be gone
                self._serve(connection)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "daemon"
    made.mkdir()
    return made


@pytest.fixture
def peer(folder):
    """Puts something that listens into the daemon's folder."""
    started = []

    def start(serve):
        started.append(Peer(folder, serve))

    yield start
    for each in started:
        each.close()


@pytest.fixture
def lock(folder):
    """The lock of a daemon that runs."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    holder = [descriptor]
    yield lambda: os.close(holder.pop())
    for each in holder:
        os.close(each)


def says(data: bytes):
    def serve(connection):
        connection.recv(65536)
        connection.sendall(data)

    return serve


def soon(seconds: float = PATIENCE) -> Deadline:
    return Deadline.after(seconds)


# -- asking --------------------------------------------------------------------------------------


def test_the_request_is_one_that_the_daemon_understands_and_carries_no_environment(folder, peer):
    got = []

    def serve(connection):
        got.append(connection.recv(65536))
        connection.sendall(json.dumps(STATUS).encode() + b"\n")

    peer(serve)
    assert control.ask(folder, "status") == STATUS
    opening, payload = split_record(got[0])
    assert opening.kind == "control"
    assert dict(opening.environ) == {}
    assert json.loads(payload) == {"do": "status"}


def test_an_answer_may_come_in_parts_and_be_long(folder, peer):
    answer = {"sessions": [{"cwd": "x" * 1000}] * 500}

    def serve(connection):
        connection.recv(65536)
        data = json.dumps(answer).encode()
        for begin in range(0, len(data), 50_000):
            connection.sendall(data[begin : begin + 50_000])

    peer(serve)
    assert control.ask(folder, "status") == answer


def test_the_folder_may_have_a_name_that_is_too_long_for_a_socket(tmp_path, peer, monkeypatch):
    deep = tmp_path / ("x" * 120) / "daemon"
    deep.mkdir(parents=True)
    here = os.getcwd()  # noqa: PTH109 -- a text
    with monkeypatch.context() as patch:
        patch.chdir(deep)
        other = Peer(deep.relative_to(deep), says(json.dumps(STATUS).encode()))
    try:
        assert control.ask(deep, "status") == STATUS
        assert os.getcwd() == here  # noqa: PTH109 -- a text
    finally:
        other.close()


def test_without_a_folder_or_a_socket_nobody_answers(folder):
    assert control.ask(folder / "nowhere", "status") is None
    assert control.ask(folder, "status") is None


def test_a_socket_that_a_dead_daemon_left_answers_nothing(folder):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "socket"))
    assert control.ask(folder, "status") is None
    (folder / "socket").unlink()
    (folder / "socket").write_text("not even a socket")
    assert control.ask(folder, "status") is None


@pytest.mark.parametrize(
    "data", [b"", b"-\n", b"nonsense", b"[]", b'{"pid": ', b"\xff\x00", b"HTTP/1.1 400\r\n\r\n"]
)
def test_what_a_stranger_says_is_no_answer(folder, peer, data):
    peer(says(data))
    assert control.ask(folder, "status") is None


def test_a_peer_that_leaves_at_once_is_no_daemon(folder, peer):
    peer(lambda connection: None)
    assert control.ask(folder, "status") is None


def test_a_peer_that_never_stops_talking_is_left(folder, peer):
    def serve(connection):
        connection.recv(65536)
        while True:
            connection.sendall(b"x" * 65536)

    peer(serve)
    assert control.ask(folder, "status") is None


def _silent(connection):
    while connection.recv(65536):
        pass


def _drips(connection):
    connection.recv(65536)
    while True:  # until whoever asked is gone
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("serve", [_silent, _drips])
def test_all_of_an_answer_has_one_limit(folder, peer, serve, monkeypatch):
    monkeypatch.setattr(control, "ANSWER_SECONDS", 0.3)
    peer(serve)
    began = time.monotonic()
    assert control.ask(folder, "status") is None
    assert time.monotonic() - began < PATIENCE
    assert control.ask(folder, "status", soon(0.0)) is None


# -- whether there is one ------------------------------------------------------------------------


def test_a_daemon_is_told_by_its_lock(folder, lock):
    assert control.runs(folder)
    assert control.runs(folder)
    lock()
    assert not control.runs(folder)


def test_to_look_at_the_lock_takes_it_from_nobody(folder, lock):
    lock()
    assert not control.runs(folder)
    again = os.open(folder / "lock", os.O_RDWR)
    fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(again)


def test_without_a_lock_or_with_something_else_in_its_place_there_is_none(folder):
    assert not control.runs(folder / "nowhere")
    assert not control.runs(folder)
    (folder / "lock").symlink_to(folder / "elsewhere")
    assert not control.runs(folder)


# -- stopping ------------------------------------------------------------------------------------


def test_where_none_runs_there_is_nothing_to_stop(folder):
    began = time.monotonic()
    assert control.stop(folder, soon(2 * PATIENCE))
    assert time.monotonic() - began < PATIENCE


def test_a_stop_waits_until_the_process_has_ended(folder, peer):
    asked = []
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:

        def serve(connection):
            asked.append(connection.recv(65536).endswith(b'{"do": "stop"}'))
            connection.sendall(json.dumps({"pid": process.pid}).encode())

        peer(serve)
        assert not control.stop(folder, soon(1.0))
        ending = threading.Timer(0.2, process.stdin.close)
        ending.start()
        assert control.stop(folder, soon())
        assert process.poll() == 1
        ending.join()
    assert asked == [True, True]


def test_a_daemon_that_is_ending_and_does_not_answer_any_more_is_waited_for(folder, lock):
    assert not control.stop(folder, soon(0.1))
    ending = threading.Timer(0.2, lock)
    ending.start()
    assert control.stop(folder, soon())
    ending.join()
    assert not control.runs(folder)


def test_a_daemon_that_is_just_starting_is_asked_again(folder, lock, peer):
    def serve(connection):
        connection.recv(65536)
        connection.sendall(b'{"pid": 4194999}')  # nobody

    starting = threading.Timer(0.2, peer, [serve])
    starting.start()
    assert control.stop(folder, soon())
    starting.join()


def test_a_daemon_that_stands_still_is_not_called_stopped(folder, lock, peer, monkeypatch):
    monkeypatch.setattr(control, "ANSWER_SECONDS", 0.1)
    peer(_silent)
    assert not control.stop(folder, soon(0.3))


@pytest.mark.parametrize("answer", [b"{}", b'{"pid": "7"}', b'{"pid": null}'])
def test_where_an_answer_names_no_process_the_lock_tells(folder, lock, peer, answer):
    peer(says(answer))
    assert not control.stop(folder, soon(0.1))
    lock()
    assert control.stop(folder, soon())


# -- starting ------------------------------------------------------------------------------------


def test_a_daemon_that_runs_is_not_started_again(folder, peer, monkeypatch):
    monkeypatch.setattr(thin_client, "start_daemon", None)
    peer(says(json.dumps(STATUS).encode()))
    assert control.start(folder, {}, soon()) == STATUS


def test_a_start_waits_until_the_daemon_answers(folder, peer, monkeypatch):
    calls = []

    def start(where, environ):
        calls.append((where, environ))
        if len(calls) == 3:
            peer(says(json.dumps(STATUS).encode()))

    monkeypatch.setattr(thin_client, "start_daemon", start)
    assert control.start(folder, {"HOME": "/h\udcff"}, soon()) == STATUS
    assert set(map(str, calls)) == {str((os.fsencode(folder), {b"HOME": b"/h\xff"}))}


def test_a_daemon_that_does_not_come_up_is_not_waited_for_without_end(folder, monkeypatch):
    monkeypatch.setattr(thin_client, "start_daemon", lambda *_: None)
    assert control.start(folder, {}, soon(0.1)) is None
    assert control.start(folder, {}, soon(0.0)) is None


def test_a_place_where_none_can_be_started_is_an_error(folder):
    (folder / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        control.start(folder / "file" / "daemon", {}, soon())
