"""Trust granted by a program that speaks as Codex's app server does."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognee_hooks.install import codex_trust, engine
from cognee_hooks.install.codex import CodexInstaller
from cognee_hooks.install.codex_trust import codex_trust_problems
from cognee_hooks.install.plan import Place

NOW = datetime(2026, 5, 4, tzinfo=UTC)

SERVER = """#!{python}
import json, os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from cognee_hooks.install.codex_config import with_trust
from cognee_hooks.install.codex_hooks import hooks_of
home = Path(os.environ["HOME"]) / ".codex"
(home / "log").open("a").write(" ".join(sys.argv[1:]) + "\\n")
def say(message): print(json.dumps(message), flush=True)
print("not json")
say([])
say({{"id": 2, "method": "a/request/of/its/own"}})
for line in sys.stdin:
    request = json.loads(line)
    (home / "log").open("a").write(request["method"] + "\\n")
    result = {{}}
    if request["method"] == "hooks/list":
        hooks = hooks_of((home / "hooks.json").read_text(), home / "hooks.json")
        ours = "/x/cognee_hooks/daemon/client.py"
        listed = [1, {{"command": ours, "sourcePath": "/else", "key": "k"}}]
        for h in hooks:
            command = ours if h.ours else "theirs"
            source = str(home / "hooks.json")
            listed.append({{"key": h.key, "currentHash": h.hash, "sourcePath": source,
                           "command": command}})
        folder = {{"cwd": request["params"]["cwds"][0], "hooks": listed}}
        result = {{"data": [1, {{"hooks": 1}}, folder]}}
    if request["method"] == "config/batchWrite":
        value = request["params"]["edits"][0]["value"]
        config = home / "config.toml"
        before = config.read_text() if config.exists() else ""
        config.write_text(with_trust(before, {{k: v["trusted_hash"] for k, v in value.items()}}))
    if "id" in request:
        say({{"method": "a/notification"}})
        say({{"id": request["id"], "result": result}})
"""


@pytest.fixture
def with_codex(place, tmp_path):
    """A place with a program called codex on the path."""

    def make(source: str = SERVER) -> Place:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "codex"
        program.write_text(source.format(python=sys.executable, root=str(Path.cwd())))
        program.chmod(0o755)
        return replace(place, environ={**place.environ, "PATH": f"{folder}:/usr/bin:/bin"})

    return make


def install(place: Place) -> list[str]:
    plan = CodexInstaller().install(place)
    engine.apply(plan, NOW)
    [consent] = plan.consents
    return list(consent.grant(NOW))


def test_codex_itself_is_asked_to_trust_our_hooks(with_codex):
    place = with_codex()
    folder = place.home / ".codex"
    folder.mkdir()
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}
    (folder / "hooks.json").write_text(json.dumps(theirs))
    (folder / "config.toml").write_text("a = 1\n")
    lines = install(place)
    assert lines[0] == f"Trusted by Codex, in {folder / 'config.toml'}."
    assert "cognee-hooks-backup" in lines[1]
    assert codex_trust_problems(place.environ, place.cwd) == []
    assert ":stop:0:0" not in (folder / "config.toml").read_text()
    assert (folder / "log").read_text().splitlines() == [
        "app-server",
        "initialize",
        "initialized",
        "hooks/list",
        "config/batchWrite",
    ]


def test_a_new_configuration_needs_no_copy(with_codex):
    place = with_codex()
    assert len(install(place)) == 1
    assert not list((place.home / ".codex").glob("*backup*"))


@pytest.mark.parametrize(
    "source",
    [
        "#!/bin/sh\nexit 1\n",
        "#!/nowhere/at/all\n",
        "#!/bin/sh\nsleep 60\n",
        "#!/bin/sh\nwhile read -r line; do echo '{{\"id\": 1}}'; echo '{{\"id\": 2}}'; done\n",
    ],
    ids=["fails", "cannot be started", "hangs", "lists nothing"],
)
def test_where_codex_fails_its_configuration_is_written(with_codex, monkeypatch, source):
    monkeypatch.setattr(codex_trust, "SECONDS", 0.5)
    place = with_codex(source)
    lines = install(place)
    assert lines == [f"Trusted in {place.home / '.codex' / 'config.toml'}."]
    assert codex_trust_problems(place.environ, place.cwd) == []


def test_a_copy_that_is_there_already_is_not_made_again(with_codex):
    place = with_codex()
    folder = place.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text("a = 1\n")
    (folder / "config.toml.cognee-hooks-backup-1").write_text("a = 1\n")
    assert len(install(place)) == 1
