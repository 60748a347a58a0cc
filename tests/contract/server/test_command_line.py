"""Every tool of the model's and every command, on the command line, at a server."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import httpx
import pytest

from cognee_hooks.cli import main
from tests.support.api import post_entry, question
from tests.support.servers import Server, ServerPool

TOOLS = {"remember", "recall", "search", "code", "forget", "sync"}
COMMANDS = {
    "cognee",
    "cognee-code",
    "cognee-datasets",
    "cognee-doctor",
    "cognee-forget",
    "cognee-index",
    "cognee-remember",
    "cognee-search",
    "cognee-sync",
}


class Shell:
    """Runs commands, and knows which rows of the tables were seen."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.tools: set[str] = set()
        self.commands: set[str] = set()

    def run(self, *words: str) -> tuple[int, str]:
        """Exit code and standard output of a command."""
        if words[0] == "tool":
            self.tools.add(words[1])
        else:
            self.commands.add(words[0])
        code = main(list(words))
        out, err = self._capsys.readouterr()
        assert "cognee-hooks: no live session of an agent was found" in err, err
        return code, out


@pytest.mark.parametrize(
    "which",
    ["embedded", pytest.param("cognee-1.6.5", marks=pytest.mark.real_cognee)],
)
def test_every_row_of_the_tables_works_on_the_command_line(
    which: str,
    servers: ServerPool,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    server = servers.get(which)
    embedded = which == "embedded"
    set_up(server, name, monkeypatch)
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)

    code, told = shell.run("tool", "remember", '{"content": "OscarService is in the PapaStore."}')
    assert (code, f"Stored in dataset '{name}'" in told) == (0, True), told
    code, told = shell.run("cognee-remember", "The RomeoGateway is rolled out on Tuesdays.")
    assert (code, f"Stored in dataset '{name}'" in told) == (0, True), told
    code, told = shell.run("tool", "recall", '{"query": "Where is OscarService?"}')
    assert (code, "PapaStore" in told) == (0, True), told
    code, told = shell.run("tool", "search", '{"query": "RomeoGateway rolled out"}')
    assert (code, "Tuesdays" in told) == (0, True), told
    code, told = shell.run("cognee-search", "When is the RomeoGateway rolled out?")
    assert (code, "Tuesdays" in told) == (0, True), told

    for words in (["tool", "sync", "{}"], ["cognee-sync"]):
        code, told = shell.run(*words)
        assert (code, f"'{name}'" in told) == (0, True), told
    code, told = shell.run("cognee-datasets")
    assert (code, f"* {name} (" in told) == (0, True), told

    code, told = shell.run("cognee-index", "--wait", "60")
    assert code == (1 if embedded else 0), told
    for words in (
        ["cognee-code", "process_refund"],
        ["tool", "code", '{"seed": "process_refund"}'],
    ):
        code, told = shell.run(*words)
        expected = "There is no dataset 'codebase-" if embedded else "process_refund"
        assert (code, expected in told) == (0, True), told

    # Nobody can be asked here, so nothing goes before it is said in so many words.
    code, told = shell.run("tool", "forget", f'{{"dataset": "{name}", "entire_dataset": true}}')
    assert code == 1
    found = re.search(r"cognee-hooks (forget \S+ --entire --yes)", told)
    assert found is not None, told
    code, _ = shell.run("cognee-forget", name, "--entire")
    assert code == 1
    code, told = shell.run("cognee-forget", *found[1].split()[1:])
    assert (code, "Deleted the ENTIRE dataset" in told) == (0, True), told
    code, told = shell.run("tool", "recall", '{"query": "Where is OscarService?"}')
    assert "PapaStore" not in told

    code, told = shell.run("cognee")
    assert (code, "connected" in told) == (0, True), told
    code, told = shell.run("cognee-doctor")
    assert "Cognee Doctor" in told
    assert code in {0, 1}
    assert (shell.tools, shell.commands) == (TOOLS, COMMANDS)


def set_up(server: Server, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of an agent in a conversation of which the server has a turn."""
    environ = {
        "COGNEE_BASE_URL": server.url,
        "COGNEE_API_KEY": server.key,
        "COGNEE_PLUGIN_DATASET": name,
        "COGNEE_REMEMBER_WAIT_SECONDS": "45",
        "COGNEE_REQUEST_TIMEOUT_MS": "60000",
        "CLAUDE_CODE_SESSION_ID": name,
    }
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)
    with httpx.Client(base_url=server.url, headers={"X-Api-Key": server.key}, timeout=60) as api:
        post_entry(api, question(), f"claude_{name}", name).raise_for_status()


def repository(folder: Path) -> None:
    """A git repository with one function."""
    (folder / "pay.py").write_text("def process_refund(order):\n    return order\n")
    for words in (["init", "-q"], ["add", "pay.py"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
