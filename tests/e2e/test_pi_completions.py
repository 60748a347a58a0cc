"""What pi offers while the arguments of a command are typed; its RPC mode cannot show it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support import npm
from tests.support.agent_process import scrubbed
from tests.support.channel_daemon import ChannelDaemon
from tests.support.pi_agent import EXTENSION

_SCRIPT = """
const [extension, typed] = process.argv.slice(2);
const [handlers, commands] = [{}, {}];
const { default: cognee } = await import(extension);
cognee({
  on: (name, handler) => (handlers[name] = handler),
  registerTool: () => undefined,
  registerCommand: (name, command) => (commands[name] = command),
});
const manager = { getSessionId: () => "s1", getSessionFile: () => "", getEntries: () => [] };
const ui = { setStatus: () => undefined };
await handlers.session_start({ reason: "startup" }, { cwd: "/", ui, sessionManager: manager });
console.log(JSON.stringify(commands["cognee-shout"].getArgumentCompletions(typed)));
process.exit(0);
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("--lo", ["--long", "--loud"]),
        ("hello --lou", ["hello --loud"]),
        ("hello --long 3 --lo", ["hello --long 3 --loud"]),
        ("hello", []),
        ("", []),
        ("well-", []),
    ],
)
def test_options_that_the_help_names_are_completed(
    isolated_environment: Path, typed: str, offered: list[str]
):
    home = isolated_environment
    extension, script = home / "cognee-hooks.ts", home / "script.mjs"
    line = "const LAUNCHER: string[] = [];"
    extension.write_text(EXTENSION.read_text().replace(line, line.replace("[];", '["false"];')))
    script.write_text(_SCRIPT)
    with ChannelDaemon(home):
        done = subprocess.run(
            [str(npm.NODE), str(script), str(extension), typed],
            env=scrubbed(home, {}),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    found = json.loads(done.stdout)
    assert [each["value"] for each in found] == offered
    assert all(each["value"].endswith(each["label"]) for each in found)
