"""What a hook costs an agent: the thin client and the daemon, as the agent runs them."""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.daemon import agent_environment, argv, start, stop_daemon

ROUNDS = 30
SESSIONS = 10
IDLE_SECONDS = 10.0
EVENTS = {
    "UserPromptSubmit": {"prompt": "Which port does the billing service use in production?"},
    "PostToolUse": {
        "tool_name": "Bash",
        "tool_input": {"command": "ls -la"},
        "tool_response": {"stdout": "a line\n" * 50},
    },
    "Stop": {"last_assistant_message": "It uses port 7431."},
}


@contextmanager
def prompt_server():
    """Run a server that answers at once; gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.prompt_server"], stdout=subprocess.PIPE, text=True
    )
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def hooks(home: str) -> None:
    """Show a hook's wall time over a bare interpreter's, both started through the same shell."""
    bare = shlex.join([sys.executable, "-I", "-S", "-c", "pass"])
    with prompt_server() as url:
        environ = agent_environment(Path(home), url)
        try:
            status = start(environ)
            commands = {"bare": (bare, b"")}
            for event, fields in EVENTS.items():
                commands[event] = (shlex.join(argv(event)), _payload("s0", fields))
            _check(commands["UserPromptSubmit"], environ)
            times = _medians(commands, environ)
            for name, seconds in times.items():
                ratio = seconds / times["bare"]
                print(f"hook {name}: {seconds * 1000:.1f} ms, {ratio:.2f} times a bare interpreter")
            _memory(environ, int(status["pid"]))
        finally:
            stop_daemon(environ)


def _check(prompt: tuple[str, bytes], environ: Mapping[str, str]) -> None:
    """Make sure that what is measured is the real thing."""
    answer = _run(*prompt, environ)
    if b"7431" not in answer:
        raise RuntimeError(f"the prompt got no memory: {answer!r}")


def _memory(environ: Mapping[str, str], pid: int) -> None:
    for number in range(SESSIONS):
        command = shlex.join(argv("UserPromptSubmit"))
        _run(command, _payload(f"s{number}", EVENTS["UserPromptSubmit"]), environ)
    time.sleep(1)
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    print(f"daemon with {SESSIONS} sessions: {kilobytes / 1024:.0f} MiB")
    before = _ticks(pid)
    time.sleep(IDLE_SECONDS)
    print(f"daemon, idle for {IDLE_SECONDS:.0f} s: {_ticks(pid) - before} ticks of the processor")


def _medians(
    commands: Mapping[str, tuple[str, bytes]], environ: Mapping[str, str]
) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(ROUNDS + 3):
        for name, (command, data) in commands.items():
            started = time.perf_counter()
            _run(command, data, environ)
            if number >= 3:  # the first rounds make the session
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(each) for name, each in times.items()}


def _run(command: str, data: bytes, environ: Mapping[str, str]) -> bytes:
    shell = ["/bin/sh", "-c", command]
    done = subprocess.run(shell, input=data, env=dict(environ), stdout=subprocess.PIPE, check=True)
    return done.stdout


def _payload(session: str, fields: Mapping[str, object]) -> bytes:
    return json.dumps({"session_id": session, "cwd": "/tmp", **fields}).encode()


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
