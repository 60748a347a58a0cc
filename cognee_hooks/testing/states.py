"""The states in which an agent's hooks have to behave, made out of nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from cognee_hooks.services.paths import Paths
from cognee_hooks.testing.loopback import LoopbackServer

MARK = "cognee-conformance-mark"
"""What faulty plugins print and raise; no agent may ever see it."""
CLOSED = "http://127.0.0.1:9"
"""Nobody listens there."""

_HOOKS = (
    "session_start user_prompt_submit post_tool_use post_tool_use_failure stop pre_compact "
    "session_end status_segments doctor_checks"
).split()
_SAYS = f"import os, sys\n\n\ndef say():\n    print('{MARK}', flush=True)\n"
_SAYS += f"    os.write(1, b'{MARK}')\n    os.system('echo {MARK}')\n\n\nsay()\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One state of the world around an agent.

    Attributes:
        name: A word or two.
        mood: What kind of server runs, see `LoopbackServer`; "" for none.
        expects: What a prompt gets: ``memory``, ``nothing``, ``outage`` (the one line that says
            why there is no memory), or ``anything``.
        config: Content of the configuration file.
        plugin: Source of an installed plugin's module, which names it ``plugin``.
        environ: Further variables.
    """

    name: str
    mood: str = "well"
    expects: str = "memory"
    config: bytes = b""
    plugin: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def server(self) -> AbstractContextManager[LoopbackServer | None]:
        """Return the server, to be entered."""
        return LoopbackServer(self.mood) if self.mood else nullcontext()

    def prepare(
        self, agent: str, home: Path, url: str, environ: Mapping[str, str], recall_seconds: float
    ) -> dict[str, str]:
        """Make a home and return the whole environment of a process in this state.

        Args:
            agent: The agent's name.
            home: An empty folder.
            url: Base URL of the server, or "".
            environ: Variables that win over those made here.
            recall_seconds: How long a prompt may take.
        """
        made = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "COGNEE_BASE_URL": url or CLOSED,
            "COGNEE_API_KEY": "conformance",
            "COGNEE_RECALL_TIMEOUT_MS": str(int(recall_seconds * 1000)),
            **self.environ,
            **environ,
        }
        if self.config:
            file = Paths.of(made, agent).config_file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.config)
        if self.plugin:
            folder = home / "site"
            _install(folder, self.plugin)
            made["PYTHONPATH"] = ":".join(filter(None, (str(folder), made.get("PYTHONPATH", ""))))
        return made


def _install(folder: Path, source: str) -> None:
    """Put a package with one plugin into a folder, as an installer would."""
    info = folder / "conformance_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "conformance_plugin.py").write_text(source)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: conformance-plugin\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[cognee_hooks]\nconformance = conformance_plugin:plugin\n"
    )


def _faulty(body: str, head: str = "import time\n") -> str:
    """Return the source of a plugin that does the same wrong thing in every hook."""
    hooks = "".join(
        f"\n    @hookimpl\n    def cognee_{name}(self):\n        {body}\n" for name in _HOOKS
    )
    return (
        f"{head}\nfrom cognee_hooks import hookimpl\n\n\nclass Plugin:{hooks}\n\n"
        "def plugin(context):\n    return Plugin()\n"
    )


STATES: tuple[State, ...] = (
    State(name="healthy"),
    State(name="empty memory", mood="empty", expects="nothing"),
    State(name="offline", mood="", expects="outage"),
    State(name="slow", mood="slow", expects="outage"),
    State(name="auth failed", mood="refusing", expects="outage"),
    State(
        name="broken config",
        config=b"recall: [\n\xff\xfe: {{\nplugins: 3\n",
        environ={"COGNEE_CAPTURE": "perhaps", "COGNEE_BUFFER_LIMIT": "-1"},
    ),
    State(name="plugin raises", plugin=_faulty(f"raise ValueError('{MARK}')")),
    State(name="plugin sleeps", plugin=_faulty("time.sleep(60)")),
    State(name="plugin prints", plugin=_faulty("say()", _SAYS)),
    State(name="plugin returns text", plugin=_faulty(f"return '{MARK}'")),
    State(name="plugin breaks on import", plugin=f"raise SystemExit('{MARK}')\n"),
)
"""All states, from best to worst."""
