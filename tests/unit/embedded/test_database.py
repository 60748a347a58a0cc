"""One data file: private, durable, safe under concurrency."""

from __future__ import annotations

import sqlite3
import stat
import threading
from pathlib import Path

import httpx
import pytest

from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.embedded.database import SCHEMA_VERSION, Database
from cognee_hooks.errors import UsageError
from tests.support.api import post_entry, question, recall, remember, trace
from tests.support.servers import mint_key


def test_all_data_is_in_one_file_that_only_its_owner_can_read(data_path: Path):
    with EmbeddedServer(data_path, auth=False) as server:
        with httpx.Client(base_url=server.url) as api:
            remember(api, "d", "AlphaService")
        for file in data_path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(data_path.parent.iterdir()) == [data_path]


def test_folders_that_are_missing_are_made_for_the_owner_alone(tmp_path: Path):
    Database(tmp_path / "share" / "embedded" / "memory.db").close()
    for folder in (tmp_path / "share", tmp_path / "share" / "embedded"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(data_path: Path):
    data_path.touch(mode=0o644)
    Database(data_path).close()
    assert stat.S_IMODE(data_path.stat().st_mode) == 0o600


def test_data_and_keys_survive_a_restart_and_tokens_do_not_matter(data_path: Path):
    with EmbeddedServer(data_path) as server:
        key = mint_key(server.url)
        with httpx.Client(base_url=server.url, headers={"X-Api-Key": key}) as api:
            remember(api, "d", "AlphaService keeps books in the RubyLedger.")
            post_entry(api, question("Where is the TopazQueue?", "In queue.py"), "s", "d")
            before = api.get("/api/v1/sessions/s").json()
            user = api.get("/api/v1/users/me").json()
    with (
        EmbeddedServer(data_path) as server,
        httpx.Client(base_url=server.url, headers={"X-Api-Key": key}) as api,
    ):
        assert api.get("/api/v1/sessions/s").json() == before
        assert api.get("/api/v1/users/me").json() == user
        text = recall(api, "RubyLedger and TopazQueue", "d").json()[0]["text"]
        assert "AlphaService" in text
        assert "queue.py" in text


def test_concurrent_writers_lose_nothing(open_api: httpx.Client):
    failures: list[str] = []

    def write(writer: int) -> None:
        with httpx.Client(base_url=open_api.base_url, timeout=30) as api:
            for number in range(15):
                answer = post_entry(api, trace(f"tool_{writer}_{number}"), "shared", "d")
                if answer.status_code != 200:
                    failures.append(answer.text)
                recall(api, f"tool {number}", "d")

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert open_api.get("/api/v1/sessions/shared").json()["tool_calls"] == 90


def test_a_failed_transaction_leaves_nothing(data_path: Path):
    database = Database(data_path)
    insert = "INSERT INTO settings VALUES ('a', ?)"
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.executemany(insert, [("first",), ("second",)])
    assert database.rows("SELECT * FROM settings") == []
    database.close()


def test_a_file_that_is_no_database_is_refused_with_advice(data_path: Path):
    data_path.write_bytes(b"not a database" * 100)
    with pytest.raises(UsageError, match="Name another file"):
        Database(data_path)


def test_a_file_of_a_newer_version_is_refused_unchanged(data_path: Path):
    Database(data_path).close()
    connection = sqlite3.connect(data_path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(UsageError, match="newer version"):
        Database(data_path)
