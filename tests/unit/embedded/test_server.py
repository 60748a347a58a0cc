"""The server around the routes: addresses, limits, credentials, endings."""

from __future__ import annotations

import builtins
import importlib
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.datastructures import QueryParams

import cognee_hooks.embedded
from cognee_hooks.embedded import EmbeddedServer, accounts
from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.routes.auth import health
from cognee_hooks.errors import UsageError
from tests.support.api import post_entry, question, recall, remember
from tests.support.real_cognee import free_port
from tests.support.servers import USERNAME
from tests.support.waiting import PATIENCE

PROGRAM = """
import sys
from pathlib import Path
from cognee_hooks.embedded import serve
serve("127.0.0.1", 0, Path(sys.argv[1]), True, on_ready=lambda url: print(url, flush=True))
print("ended", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_ends_cleanly_on_a_signal(data_path: Path, number: signal.Signals):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(data_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/health").status_code == 200
        process.send_signal(number)
        assert process.stdout.read() == "ended\n"
        assert process.wait(PATIENCE) == 0


def test_stopping_does_not_wait_for_idle_connections(data_path: Path):
    server = EmbeddedServer(data_path, auth=False)
    server.start()
    with httpx.Client(base_url=server.url) as api:
        api.get("/health")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < PATIENCE
    assert not server.running
    server.stop()


def test_a_server_can_be_started_again(data_path: Path):
    server = EmbeddedServer(data_path, auth=False)
    for _ in range(2):
        with server:
            assert httpx.get(f"{server.url}/health").status_code == 200


def test_a_running_server_is_not_started_twice(data_path: Path):
    with EmbeddedServer(data_path) as server, pytest.raises(UsageError, match="already"):
        server.start()


def test_a_taken_port_is_a_clear_error(data_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}"):
            EmbeddedServer(data_path, port).start()


def test_others_are_let_in_only_on_request_and_behind_a_password(data_path: Path):
    with pytest.raises(UsageError, match="reached from other machines"):
        EmbeddedServer(data_path, host="0.0.0.0")
    with pytest.raises(UsageError, match="Set a password"):
        EmbeddedServer(data_path, host="0.0.0.0", allow_remote=True)
    with pytest.raises(UsageError, match="Set a password"):
        EmbeddedServer(data_path, 0, False, host="0.0.0.0", allow_remote=True, password="own")
    EmbeddedServer(data_path, host="0.0.0.0", allow_remote=True, password="own")


def test_a_body_beyond_the_limit_is_413_and_nothing_is_stored(data_path: Path):
    with (
        EmbeddedServer(data_path, auth=False, max_body=10_000) as server,
        httpx.Client(base_url=server.url) as api,
    ):
        assert post_entry(api, question("x" * 20_000), "s", "d").status_code == 413
        files = {"data": ("big.txt", b"x" * 20_000, "text/plain")}
        upload = api.post("/api/v1/remember", data={"datasetName": "d"}, files=files)
        assert upload.status_code == 413
        assert api.get("/api/v1/datasets").json() == []
        assert post_entry(api, question("x" * 5_000), "s", "d").status_code == 200


def test_a_body_without_a_length_is_bounded_too(data_path: Path):
    with EmbeddedServer(data_path, auth=False, max_body=10_000) as server:
        chunks = (b"x" * 1000 for _ in range(30))
        headers = {"Content-Type": "application/json"}
        answer = httpx.post(f"{server.url}/api/v1/recall", content=chunks, headers=headers)
    assert answer.status_code == 413


def test_without_authentication_even_a_wrong_key_is_accepted(open_api: httpx.Client):
    for headers in ({}, {"X-Api-Key": "0" * 64}):
        assert open_api.get("/api/v1/auth/me", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "memory.example.com"},
        {"Origin": "https://example.com"},
        {"Origin": "null"},
    ],
)
def test_other_sites_and_rebound_names_are_refused(open_api: httpx.Client, headers: dict):
    assert open_api.get("/api/v1/datasets", headers=headers).status_code == 403


def test_lone_surrogates_are_replaced_and_poison_nothing(open_api: httpx.Client):
    body = (
        '{"entry": {"type": "qa", "question": "a\\ud800b \\ud83e\\udd8a", "answer": "x"},'
        ' "session_id": "s", "dataset_name": "d"}'
    )
    headers = {"Content-Type": "application/json"}
    answer = open_api.post("/api/v1/remember/entry", content=body, headers=headers)
    assert answer.status_code == 200
    (stored,) = open_api.get("/api/v1/sessions/s").json()["qas"]
    assert stored["question"] == "a\ufffdb 🦊"


def test_json_that_is_nested_too_deep_is_400(open_api: httpx.Client):
    nested = '{"entry": {"type": "trace", "origin_function": "x", "method_return_value": %s},'
    nested += '"session_id": "s", "dataset_name": "d"}'
    for depth in (450, 20_000):
        content = nested % ("[" * depth + "]" * depth)
        headers = {"Content-Type": "application/json"}
        answer = open_api.post("/api/v1/remember/entry", content=content, headers=headers)
        assert answer.status_code in {200, 400}
    assert open_api.get("/health").status_code == 200


def test_raw_data_is_text_and_never_read_from_disk(open_api: httpx.Client):
    form = {"datasetName": "d", "raw_data": "/etc/hostname"}
    data = {name: (None, value) for name, value in form.items()}
    assert open_api.post("/api/v1/remember", files=data).status_code == 200
    (item,) = recall(open_api, "hostname", "d").json()
    assert "## Relevant passages\n/etc/hostname`" in item["text"]


def test_forget_everything_leaves_nothing(open_api: httpx.Client):
    post_entry(open_api, question(), "s", "d")
    answer = open_api.post("/api/v1/forget", json={"everything": True})
    assert answer.json() == {"datasets_removed": 1, "status": "success"}
    assert open_api.get("/api/v1/datasets").json() == []
    assert open_api.get("/api/v1/sessions/s").json()["msg_count"] == 0


def test_text_for_a_session_becomes_an_answer(open_api: httpx.Client):
    form = {"datasetName": "d", "session_id": "s", "raw_data": "SigmaService notes"}
    answer = open_api.post(
        "/api/v1/remember", files={name: (None, value) for name, value in form.items()}
    )
    assert answer.json()["status"] == "session_stored"
    (stored,) = open_api.get("/api/v1/sessions/s").json()["qas"]
    assert (stored["question"], stored["answer"]) == ("", "SigmaService notes")


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    original = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "uvicorn":
            raise ImportError("no", name=name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match=r"pip install 'cognee-hooks\[embedded\]'"):
        importlib.reload(cognee_hooks.embedded)
    monkeypatch.undo()
    importlib.reload(cognee_hooks.embedded)


def test_improving_into_another_dataset_takes_the_entries_there(open_api: httpx.Client):
    post_entry(open_api, question("Where is the KiloTable?", "In kilo.sql"), "s", "own")
    body = {"dataset_name": "other", "session_ids": ["s"]}
    assert open_api.post("/api/v1/improve", json=body).status_code == 200
    assert "kilo.sql" in recall(open_api, "KiloTable", "other").json()[0]["text"]
    assert recall(open_api, "KiloTable", "own").status_code == 404


def test_an_answer_without_a_model_is_the_passages(open_api: httpx.Client):
    remember(open_api, "d", "AlphaService keeps books in the RubyLedger.")
    (item,) = recall(open_api, "RubyLedger", "d", only_context=False).json()
    assert item["text"] == "## Relevant passages\nAlphaService keeps books in the RubyLedger."
    assert item["system_prompt"] is None


def test_code_is_refused_with_a_reason(open_api: httpx.Client):
    form = {"datasetName": "d", "content_type": "code", "raw_data": "/tmp"}
    data = {name: (None, value) for name, value in form.items()}
    answer = open_api.post("/api/v1/remember", files=data)
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "This server keeps text only: it cannot index code.",
    )


def test_a_broken_data_file_is_not_healthy(memory: EmbeddedMemory):
    memory.database.close()
    call = RouteCall({}, QueryParams())
    assert health(memory, call).status_code == 503


def test_expired_login_tokens_are_refused(memory: EmbeddedMemory, monkeypatch: pytest.MonkeyPatch):
    token = memory.accounts.login(USERNAME, "secret")
    assert memory.accounts.accepts_token(token)
    late = time.monotonic() + 3601
    # Their module's clock only: event loops of other threads would set their timers by it.
    monkeypatch.setattr(accounts, "time", SimpleNamespace(monotonic=lambda: late))
    assert not memory.accounts.accepts_token(token)


def test_a_data_file_that_cannot_be_used_frees_the_port(data_path: Path):
    data_path.write_bytes(b"not a database" * 100)
    server = EmbeddedServer(data_path, free_port())
    with pytest.raises(UsageError, match="data file"):
        server.start()
    data_path.unlink()
    with server:
        assert server.running
