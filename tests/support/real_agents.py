"""Real coding agents for tests: installed from npm once, driven offline in a throw-away home.

Every version is installed beside the test environment, and native programs are started directly,
so that most need Node for the installation only. An agent sees a scrubbed environment: nothing of
the developer's shell but the search path, and a scripted model on loopback as its provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support import npm
from tests.support.agent_process import Completed, Conversation, Running, scrubbed

CLAUDE_CODE_VERSIONS = ("2.1.332", "2.1.197")
CODEX_VERSION = "0.171.0"
OPENCODE_VERSION = "1.18.33"
GEMINI_CLI_VERSION = "0.61.0"
QWEN_CODE_VERSION = "0.24.4"

# Package, and where npm puts the native program for this machine, or the script for Node.
_PACKAGES = {
    "claude-code": ("@anthropic-ai/claude-code", "@anthropic-ai/claude-code-*/claude"),
    "codex": ("@openai/codex", "@openai/codex-*/vendor/*/bin/codex"),
    "opencode": ("opencode-ai", "opencode-[!a]*/bin/opencode"),
    "gemini-cli": ("@google/gemini-cli", "@google/gemini-cli/bundle/gemini.js"),
    "qwen-code": ("@qwen-code/qwen-code", "@qwen-code/qwen-code/cli-entry.js"),
}


def install(agent: str, version: str) -> Path:
    """The program of an agent, native or a script for Node; installs it the first time.

    Args:
        agent: ``claude-code``, ``codex``, ``opencode``, ``gemini-cli`` or ``qwen-code``.
        version: Exact version on npm.

    Returns:
        Path of the program.

    Raises:
        RuntimeError: The installation failed; the message holds npm's output.
    """
    package, pattern = _PACKAGES[agent]
    return next(npm.install(f"{agent}-{version}", f"{package}@{version}").glob(pattern))


class ClaudeCode:
    """Claude Code in print mode.

    Args:
        binary: The native program.
        home: Throw-away home; its settings lie in ``.claude``.
        endpoint_url: Base URL of a scripted Messages endpoint.
        project: Working directory.
        environment: Added to what the agent sees.
    """

    name = "claude-code"

    def __init__(
        self,
        binary: Path,
        home: Path,
        endpoint_url: str,
        project: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.project = project
        self._binary = binary
        self._environment = scrubbed(
            home,
            {
                "ANTHROPIC_BASE_URL": endpoint_url,
                "ANTHROPIC_API_KEY": "sk-ant-dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_AUTOUPDATER": "1",
                # The agent refuses root this permission mode anywhere else.
                "IS_SANDBOX": "1",
                **(environment or {}),
            },
        )

    def start(self, text: str, *extra: str) -> Running:
        """Begin a turn in the background; extra arguments are the agent's own."""
        command = [*self._command("-p", text), "--output-format", "json", *extra]
        return Running(command, self.project, self._environment, _read_claude_code)

    def prompt(self, text: str, *extra: str) -> Completed:
        """Run one turn to its end."""
        with self.start(text, *extra) as running:
            return running.wait()

    def resume(self, session: str, text: str) -> Completed:
        """Run one more turn of an earlier session."""
        return self.prompt(text, *self.resuming(session))

    def resuming(self, session: str) -> list[str]:
        """The arguments that make a turn part of an earlier session."""
        return ["--resume", session]

    def converse(self) -> Conversation:
        """Begin a session of several turns in one process."""
        return Conversation(self._command("-p"), self.project, self._environment)

    def _command(self, *arguments: str) -> list[str]:
        return [str(self._binary), *arguments, "--permission-mode", "bypassPermissions"]


def _read_claude_code(out: str) -> tuple[str, str]:
    if not out.strip():
        return "", ""
    result = json.loads(out)
    return result.get("result", ""), result.get("session_id", "")


class Codex:
    """Codex, one ``exec`` a turn.

    Args:
        binary: The native program.
        home: Throw-away home; its settings lie in ``.codex`` and are written by the first start.
        endpoint_url: URL of a scripted Responses endpoint, without ``/v1``.
        project: Working directory; trusted by the settings.
        environment: Added to what the agent sees.
        bypass_trust: Run hooks that nobody has reviewed. Without it only trusted hooks run.
        settings: Top-level lines of TOML for the settings.
    """

    name = "codex"

    def __init__(
        self,
        binary: Path,
        home: Path,
        endpoint_url: str,
        project: Path,
        environment: Mapping[str, str] | None = None,
        *,
        bypass_trust: bool = False,
        settings: str = "",
    ) -> None:
        self.home = home
        self.project = project
        self._binary = binary
        self._environment = scrubbed(home, {"FAKE_KEY": "dummy", **(environment or {})})
        self._flags = ["--json", "--skip-git-repo-check"]
        if bypass_trust:
            self._flags.append("--dangerously-bypass-hook-trust")
        config = home / ".codex" / "config.toml"
        config.parent.mkdir(exist_ok=True)
        if not config.exists():
            config.write_text(_CODEX_SETTINGS.format(settings, endpoint_url, project))

    def start(self, text: str, *extra: str) -> Running:
        """Begin a turn in the background; extra arguments are the agent's own."""
        command = [str(self._binary), "exec", *self._flags, *extra, text]
        return Running(command, self.project, self._environment, _read_codex)

    def prompt(self, text: str, *extra: str) -> Completed:
        """Run one turn to its end."""
        with self.start(text, *extra) as running:
            return running.wait()

    def resume(self, session: str, text: str) -> Completed:
        """Run one more turn of an earlier session."""
        return self.prompt(text, *self.resuming(session))

    def resuming(self, session: str) -> list[str]:
        """The arguments that make a turn part of an earlier session."""
        return ["resume", session]


# An unknown model name gets plain function tools. The settings are this machine's to change.
_CODEX_SETTINGS = """\
model = "scripted-model"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
{}

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[projects."{}"]
trust_level = "trusted"
"""


def _read_codex(out: str) -> tuple[str, str]:
    answer = session = ""
    for line in out.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        item = event.get("item", {})
        if event.get("type") == "thread.started":
            session = event["thread_id"]
        elif event.get("type") == "item.completed" and item.get("type") == "agent_message":
            answer = item["text"]
    return answer, session
