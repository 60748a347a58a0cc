from __future__ import annotations

import json
import os
import stat
import tarfile
from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.cli.bundle_parts import LOG_BYTES, LOG_LINES
from cognee_hooks.results import Act
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.paths import Paths
from tests.support.command import command, install_plugin
from tests.support.fake_server import FakeServer

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRETS = {
    # With the shapes that rules know, and without any shape at all.
    "an API key": "sk-ant-" + "api03-" + LETTERS * 2,
    "a key in the env file": "correcthorsebattery" + "staple",
    "a password in an address": "tr0ub4dor" + "and3",
    "a token in a log": "ghp_" + LETTERS,
    "a prompt in a log": "Please sell all of my shares in" + " Initech",
    "a prompt of a plugin": "the merger with" + " Globex",
    "an exception of a plugin": "could not open the safe of" + " Hooli",
    "a dataset": "project" + "-bluebird",
    "a tenant": "umbrella" + "corp",
    "a value in config.yaml": "swordfish" + "-and-chips",
    "a bad value": "open" + "sesame",
    "an email": "gavin.belson" + "@hooli.example",
    "a session": "claude_acme" + "-layoffs",
    "an id": "claude_6ccf3f3f-47b0" + "-4ec3-b460-586a920ffb6b",
    "what waits": "the launch code is" + " 12345",
}

PLUGIN = f"""
from cognee_hooks import hookimpl
from cognee_hooks.results import CheckResult, CheckStatus

class Plugin:
    @hookimpl
    def cognee_doctor_checks(self):
        text = {SECRETS["a prompt of a plugin"]!r}
        return CheckResult(name=text, status=CheckStatus.WARNING, detail=text, remedy=text)

plugin = Plugin()
"""
BROKEN = f"raise ImportError({SECRETS['an exception of a plugin']!r})"


@pytest.fixture
def planted(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A home with a secret in every place."""
    paths = Paths.of(os.environ, "claude-code")
    for folder in (
        paths.env_file,
        paths.config_file,
        paths.bridge_dir / "x",
        paths.daemon_dir / "x",
    ):
        folder.parent.mkdir(parents=True, exist_ok=True)
    paths.env_file.write_text(f"LLM_API_KEY={SECRETS['a key in the env file']}\n")
    paths.config_file.write_text(
        f"api_key: {SECRETS['a value in config.yaml']}\n"
        f"{SECRETS['a value in config.yaml']}: 1\n"
        f"user_email: {SECRETS['an email']}\n"
    )
    (paths.daemon_dir / "daemon.log").write_text(
        "2026-11-30 14:37:03,482 INFO cognee_hooks.daemon.daemon: daemon 0.1.0 listens, pid 31784\n"
        f"2026-11-30 14:37:03,483 INFO cognee_hooks.daemon: {SECRETS['a token in a log']}\n"
        f"2026-11-30 14:37:03,483 INFO cognee_hooks.x: {SECRETS['a key in the env file']}"
        f" {paths.home}\n"
        f"2026-11-30 14:37:03,483 INFO cognee_hooks.y: {SECRETS['a session']} {SECRETS['an id']}\n"
        f"2026-11-30 14:37:03,484 INFO cognee_hooks.plugins.x: {SECRETS['a prompt in a log']}\n"
        f"2026-11-30 14:37:03,485 INFO other.package: {SECRETS['a prompt in a log']}\n"
        f"{SECRETS['a prompt in a log']}\n"
    )
    ledger = Ledger(paths.ledger_dir, "claude-code", paths.key_file)
    ledger.record(SECRETS["a session"], Act.CAPTURED, "qa", content=SECRETS["what waits"])
    own = paths.shared_dir / "hooks" / "bootstrap"
    own.mkdir(parents=True)
    event = {"ts": "2026-11-30T14:37:03+00:00", "event": "server_exited_before_healthy"}
    (own / "bootstrap.log").write_text(
        json.dumps(event | {"console_tail": SECRETS["a prompt in a log"]}) + "\n"
    )
    sealed = Sealer.of(paths.key_file).seal(SECRETS["what waits"].encode(), "x").hex()
    entry = {"sealed": sealed, "entry": {"question": SECRETS["what waits"]}}
    (paths.bridge_dir / f"{'0' * 40}.json").write_text(json.dumps({"entries": [entry]}))
    monkeypatch.setenv("COGNEE_API_KEY", SECRETS["an API key"])
    monkeypatch.setenv("COGNEE_PLUGIN_DATASET", SECRETS["a dataset"])
    monkeypatch.setenv("COGNEE_BACKEND", SECRETS["a bad value"])
    return paths


def contents(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        assert {(each.uname, each.gname, each.uid) for each in members} == {("", "", 0)}
        return {
            each.name.removeprefix("cognee-hooks/"): archive.extractfile(each).read()
            for each in members
        }


async def test_no_byte_of_the_bundle_holds_a_secret(planted: Paths, tmp_path: Path):
    file = tmp_path / "out" / "bundle.tar.gz"
    file.parent.mkdir()
    install_plugin(tmp_path, "talkative", PLUGIN)
    path = install_plugin(tmp_path, "broken", BROKEN)
    async with FakeServer() as server:
        answer = {"status": "ready", "health": "healthy", "version": "1.6.5"}
        server.always(_answers(answer))
        port = server.url.rpartition(":")[2]
        url = (
            f"http://me:{SECRETS['a password in an address']}@127.0.0.1:{port}"
            f"/{SECRETS['a tenant']}"
        )
        done = await command("doctor", "--bundle", str(file), PYTHONPATH=path, COGNEE_BASE_URL=url)

    assert done.code == 0, done.err
    files = contents(file)
    everything = b"\n".join(files.values()) + file.read_bytes() + done.out.encode()
    for what, secret in SECRETS.items():
        assert secret.encode() not in everything, what
    assert str(planted.home).encode() not in everything
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # What it is for is there nevertheless.
    assert b"daemon 0.1.0 listens" in files["daemon.log"]
    assert b"server_exited_before_healthy" in files["bootstrap.log"]
    assert json.loads(files["statistics.json"])["waiting"]["entries"] == 1
    assert json.loads(files["statistics.json"])["totals"] == {"captured": 1}
    assert b"<session> <id>" in files["daemon.log"]
    rows = {row["name"]: row for row in json.loads(files["doctor.json"])}
    assert rows["dataset"]["detail"].startswith("<dataset>")
    assert "talkative" in str(rows["(left out)"])
    plugins = {each["name"]: each for each in json.loads(files["plugins.json"])}
    assert plugins["broken"]["reason"] == "It cannot be imported"
    settings = {e["setting"]: e for e in json.loads(files["settings.json"])["settings"]}
    assert settings["dataset"] | {"value": "(set)", "source": "shell env"} == settings["dataset"]
    assert settings["recall_timeout_ms"]["value"] == "4000"


def _answers(health):
    async def answer(connection, request):
        await connection.answer(200, health if request.path.endswith("/health") else [])

    return answer


def test_it_says_what_it_put_in(tmp_path: Path, capsys):
    file = tmp_path / "bundle.tar.gz"
    assert main(["doctor", "--bundle", str(file)]) == 0
    out = capsys.readouterr().out
    for name in contents(file):
        assert name in out
    assert main(["doctor", "--json", "--bundle", str(tmp_path / "other.tar.gz")]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed["contents"]] == list(contents(file))


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path, capsys):
    file = tmp_path / "thesis.tar.gz"
    file.write_text("years of work")
    assert main(["doctor", "--bundle", str(file)]) == 2
    assert "is not overwritten" in capsys.readouterr().err
    assert file.read_text() == "years of work"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys):
    assert main(["doctor", "--bundle", str(tmp_path / "no" / "bundle.tar.gz")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_of_a_log_of_many_megabytes_the_end_is_put_in(isolated_environment: Path, tmp_path: Path):
    daemon = Paths.of(os.environ, "claude-code").daemon_dir
    daemon.mkdir(parents=True)
    line = "2026-11-30 14:37:03,482 INFO cognee_hooks.daemon: line {:06}\n"
    lines = [line.format(number) for number in range(90_000)]
    (daemon / "daemon.log").write_text("".join(lines))
    assert (daemon / "daemon.log").stat().st_size > LOG_BYTES
    file = tmp_path / "bundle.tar.gz"
    assert main(["doctor", "--bundle", str(file)]) == 0
    assert contents(file)["daemon.log"].decode().splitlines() == [
        each.rstrip("\n") for each in lines[-LOG_LINES:]
    ]
