"""What the installers write, judged by the agents themselves."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.support import real_agents
from tests.support.command import Done, command

WILD = Path(__file__).parents[1] / "data" / "settings"


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """The agents' programs; installed here, before a test has a home of its own."""
    claude = {
        version: real_agents.install("claude-code", version)
        for version in real_agents.CLAUDE_CODE_VERSIONS
    }
    return {**claude, "codex": real_agents.install("codex", real_agents.CODEX_VERSION)}


@pytest.fixture
def home(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return isolated_environment


async def run(program: Path, *arguments: str, home: Path, stdin: bytes = b"") -> Done:
    """Run an agent's program in a scrubbed environment."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=home,
        env={
            "PATH": os.defpath,
            "HOME": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )
    out, err = await asyncio.wait_for(process.communicate(stdin), 120)
    return Done(process.returncode, out.decode(), err.decode(), 0.0)


async def listed(program: Path, home: Path) -> list[dict[str, object]]:
    """What Codex itself says of its hooks."""
    process = await asyncio.create_subprocess_exec(
        program,
        "app-server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=4_000_000,
        cwd=home,
        env={"PATH": os.defpath, "HOME": str(home)},
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def ask(number: int, method: str, **params: object) -> dict[str, object]:
        request = {"id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        while (answer := json.loads(await process.stdout.readline())).get("id") != number:
            pass
        return answer["result"]

    await ask(1, "initialize", clientInfo={"name": "t", "title": "t", "version": "1"})
    process.stdin.write(b'{"method": "initialized"}\n')
    [folder] = (await ask(2, "hooks/list", cwds=[str(home)]))["data"]
    process.stdin.close()
    await process.wait()
    assert (folder["errors"], folder["warnings"]) == ([], [])
    return folder["hooks"]


@pytest.mark.parametrize("by_codex", [True, False], ids=["by Codex", "by us"])
async def test_codex_trusts_our_hooks_and_no_others(programs, home, by_codex):
    folder = home / ".codex"
    folder.mkdir()
    config = 'model = "x"   # mine\n'
    (folder / "config.toml").write_text(config)
    (folder / "hooks.json").write_bytes((WILD / "codex" / "others.json").read_bytes())
    path = f"{programs['codex'].parent}:{os.defpath}" if by_codex else ""
    done = await command("install", "codex", "--yes", PATH=path)
    assert done.code == 0, done.err
    assert ("Trusted by Codex" in done.out) is by_codex
    hooks = await listed(programs["codex"], home)
    ours = [each for each in hooks if "cognee_hooks" in str(each["command"])]
    assert len(ours) == 8
    assert {each["trustStatus"] for each in ours} == {"trusted"}
    assert {each["trustStatus"] for each in hooks if each not in ours} == {"untrusted"}
    done = await command("uninstall", "codex", "--yes", PATH=path)
    assert done.code == 0, done.err
    assert (folder / "config.toml").read_text() == config
    assert len(await listed(programs["codex"], home)) == 2


@pytest.mark.parametrize("version", real_agents.CLAUDE_CODE_VERSIONS)
async def test_claude_code_installs_the_plugin_folder(programs, home, version):
    market = home / "our market"
    done = await command("install", "claude-code", "--yes", "--plugin-folder", str(market))
    assert done.code == 0, done.err
    program = programs[version]
    for arguments in (
        ["validate", str(market)],
        ["validate", str(market / "plugins" / "memory")],
        ["marketplace", "add", str(market)],
        ["install", "memory@cognee-hooks"],
    ):
        judged = await run(program, "plugin", *arguments, home=home)
        assert judged.code == 0, judged.out + judged.err
    plugins = (await run(program, "plugin", "list", "--json", home=home)).json
    [memory] = [each for each in plugins if each["id"] == "memory@cognee-hooks"]
    assert memory["enabled"]
    assert not memory.get("errors")
