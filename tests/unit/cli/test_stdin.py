from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress

import pytest

from cognee_hooks.cli import stdin as module
from cognee_hooks.cli.stdin import read_payload
from cognee_hooks.deadline import Deadline
from tests.support.waiting import PATIENCE


class Pipe:
    def __init__(self):
        reader, self._writer = os.pipe()
        self.stream = os.fdopen(reader, encoding="utf-8")
        self._threads = []

    def write(self, data: bytes) -> None:
        os.write(self._writer, data)

    def write_later(self, data: bytes) -> None:
        def work():
            view = memoryview(data)
            with suppress(BrokenPipeError):  # the reader may have had enough
                while view:
                    view = view[os.write(self._writer, view[:65536]) :]

        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def close(self) -> None:
        """Close the writing end, once nobody writes to it any more."""
        for thread in self._threads:
            thread.join()
        self._threads = []
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1


@pytest.fixture
def pipe():
    made = Pipe()
    yield made
    made.stream.close()  # first, so that a writer whose data nobody takes ends
    made.close()


def read(pipe, seconds: float = 4 * PATIENCE):
    return read_payload(pipe.stream, Deadline.after(seconds))


def test_a_complete_document_is_used_while_the_pipe_stays_open(pipe, monkeypatch):
    monkeypatch.setattr(module, "IDLE_SECONDS", 2 * PATIENCE)
    pipe.write(b'{"prompt": "a } in a text"}')
    started = time.monotonic()
    assert read(pipe) == {"prompt": "a } in a text"}
    assert time.monotonic() - started < PATIENCE


def test_an_idle_pipe_is_given_up_after_about_two_seconds(pipe):
    started = time.monotonic()
    assert read(pipe) is None
    assert 1.5 < time.monotonic() - started < PATIENCE


def test_the_deadline_is_kept_where_it_comes_first(pipe, monkeypatch):
    monkeypatch.setattr(module, "IDLE_SECONDS", 2 * PATIENCE)
    started = time.monotonic()
    assert read(pipe, 0.2) is None
    assert time.monotonic() - started < PATIENCE


def test_half_a_document_is_nothing(pipe, monkeypatch):
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.1)
    pipe.write(b'{"prompt": {"a": 1}')
    assert read(pipe) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"null",
        b"[1]",
        b'"text"',
        b"7",
        b"{broken",
        b"\xff\xfe\x00",
        b"{}}{" * 3 + b"]",
    ],
)
def test_what_is_no_object_is_nothing(pipe, data):
    pipe.write(data or b" ")
    pipe.close()
    assert read(pipe) in (None, {})


def test_an_object_may_be_empty(pipe):
    pipe.write(b"{}")
    assert read(pipe) == {}


def test_characters_may_be_torn_between_two_writes(pipe):
    data = json.dumps({"prompt": "é日😀"}, ensure_ascii=False).encode()
    pipe.write_later(data[:13])
    later = threading.Timer(0.1, pipe.write, [data[13:]])
    later.start()
    assert read(pipe) == {"prompt": "é日😀"}
    later.join()


def test_bytes_that_are_no_text_do_not_cost_the_document(pipe):
    pipe.write(b'{"prompt": "a\xffb"}')
    assert read(pipe) == {"prompt": "a\ufffdb"}


def test_a_byte_order_mark_and_blanks_are_passed_over(pipe):
    pipe.write(b'\xef\xbb\xbf\r\n {"a": 1}\r\n\x20')
    assert read(pipe) == {"a": 1}


def test_of_two_documents_the_first_counts_whether_they_come_at_once_or_not(pipe):
    pipe.write(b'{"a": 1}\n{"b": 2}')
    assert read(pipe) == {"a": 1}


def test_a_large_document_arrives_whole(pipe):
    document = {"content": "x}" * 2_000_000}
    pipe.write_later(json.dumps(document).encode())
    assert read(pipe) == document


def test_too_large_a_document_is_given_up(pipe, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 100_000)
    pipe.write_later(b'{"a": "' + b"x" * 400_000)
    assert read(pipe) is None


def test_nesting_without_end_is_survived(pipe):
    pipe.write_later(b'{"a":' * 20_000 + b"1" + b"}" * 20_000)
    pipe_result = read(pipe, 3)
    assert pipe_result is None or isinstance(pipe_result, dict)


def test_a_number_of_ten_thousand_digits_is_survived(pipe):
    pipe.write(b'{"a": ' + b"1" * 10_000 + b"}")
    pipe.close()
    assert read(pipe) is None


def test_no_standard_input_is_nothing():
    assert read_payload(None, Deadline.after(PATIENCE)) is None


def test_a_stream_without_a_descriptor_is_nothing():
    import io

    assert read_payload(io.StringIO("{}"), Deadline.after(PATIENCE)) is None


def test_a_file_is_read_like_a_pipe(tmp_path):
    file = tmp_path / "payload.json"
    file.write_text('{"a": 1}')
    with file.open() as stream:
        assert read_payload(stream, Deadline.after(PATIENCE)) == {"a": 1}
