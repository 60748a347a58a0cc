"""Files that are refused, and those that are not."""

from __future__ import annotations

import os

import pytest

from tests.support.remembered import REMEMBER


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/config",
        ".env",
        ".env.production",
        "src/.env/x",
        "a\\.env",
        "id_rsa.pub",
        "credentials.json",
        ".aws/credentials",
        "server.PEM",
        "server.key",
        "~/.npmrc",
        "vault.p12",
        ".git-credentials",
        "secrets.yaml",
        "config/credentials",
        "~/.cargo/credentials",
        "prod.tfstate",
        "~/.config/gh/hosts.yml",
    ],
)
async def test_vector_81_and_w24_files_with_secrets_are_refused_unseen(start, client, path):
    told = await start(client).tool("remember", file=path)
    assert f"refusing likely-secret file '{path}'" in told
    assert client.unsent == []


async def test_w24_a_link_to_a_secret_is_refused(start, client, tmp_path):
    (tmp_path / ".env").write_text("A=1")
    (tmp_path / "notes.txt").symlink_to(tmp_path / ".env")
    told = await start(client).tool("remember", file="notes.txt")
    assert "refusing likely-secret file 'notes.txt'" in told


async def test_files_that_the_user_denies_are_refused(start, client, tmp_path):
    (tmp_path / "plan.md").write_text("x")
    for name in ("COGNEE_REMEMBER_DENY_PATHS", "COGNEE_CAPTURE_DENY_PATHS"):
        told = await start(client, **{name: "plan.*"}).tool("remember", file="plan.md")
        assert "refusing likely-secret file" in told


@pytest.mark.parametrize(
    "name", ["prod.env", "envelope.ts", "my_id_rsa", "credentials/readme.md", "x.pem.txt"]
)
async def test_vector_82_names_that_only_look_like_it_are_not(scripted, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("Hello.")
    assert "Sent file" in await scripted.tool("remember", file=name)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a" * 200_000, "Sent file"),
        (b"a" * 200_001, "file too large (200001 bytes; limit 200000)"),
        (b"a\x00b", "binary file rejected (NUL byte)"),
        (b"a" * 89 + b"\x01" * 11, "binary file rejected (too many control characters)"),
        (b"a" * 90 + b"\x01" * 10, "Sent file"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"", "empty file"),
        (b" \n", "empty file"),
    ],
    ids=["full", "large", "nul", "controls", "some controls", "latin", "w25 empty", "blank"],
)
async def test_vectors_83_and_84_and_w25_what_kind_of_file_it_is(scripted, tmp_path, content, told):
    (tmp_path / "data.txt").write_bytes(content)
    assert told in await scripted.tool("remember", file="data.txt")


async def test_vector_85_folders_and_missing_files(start, client, tmp_path):
    session = start(client)
    (tmp_path / "folder").mkdir()
    assert "not a file" in await session.tool("remember", file="folder")
    assert "file not found" in await session.tool("remember", file="missing.md")
    assert "file not found" in await session.command("remember", "--file missing.md")
    assert "--file needs a value" in await session.command("remember", "--file")
    assert client.unsent == []


async def test_a_file_whose_name_is_not_utf_8_is_remembered(scripted, client, tmp_path):
    name = os.fsdecode(b"caf\xe9.md")
    (tmp_path / name).write_text("About coffee.")
    told = await scripted.tool("remember", file=name)
    assert told.startswith("Sent file 'caf")
    told.encode()
    assert len(client.bodies(REMEMBER)) == 1


async def test_special_files_and_links_in_circles_are_refused_at_once(scripted, client, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "loop", "/dev/zero", "/proc/self/mem"):
        assert (await scripted.tool("remember", file=name)).startswith("⚠ ")
    assert client.bodies(REMEMBER) == []


async def test_a_path_begins_at_the_sessions_folder_and_a_tilde_at_home(session, tmp_path):
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "mine.md").write_text("RomeoService.")
    assert "Stored file 'mine.md'" in await session.tool("remember", file="~/mine.md")
