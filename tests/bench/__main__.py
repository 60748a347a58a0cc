"""``python -m tests.bench``: what things cost, as ratios within one run.

Machines differ and are noisy, so nothing here is asserted; the smallest of several runs is shown.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from cognee_hooks import Host, hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.errors import ServerFailure
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.faults import Faults
from cognee_hooks.redaction import RedactionPipeline
from cognee_hooks.registry import Registry
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.settings import PluginSelection
from tests.bench.bridge import enqueue
from tests.bench.hooks import hooks

ROUNDS = 9
OUTPUT = (
    "tests/unit/test_orders.py::test_total PASSED  [ 12%]\n"
    "2026-01-14T09:27:33 INFO worker started pid=48213 version=2.31.0\n"
    "    return self.client.get(f'/orders/{order_id}', headers=self.headers)\n"
    '{"id": 17, "status": "ok", "checksum": "0ef78fe8f41d009f42dc718bd20d2658"}\n'
)


def fastest(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the seconds of the fastest of several runs."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def process(*arguments: str, home: str, text: str = "") -> Callable[[], object]:
    """Return an action that starts this interpreter with arguments."""
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    return lambda: subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def start_up(home: str) -> None:
    """Show what starting costs over a bare interpreter."""
    bare = fastest(process("-c", "pass", home=home))
    cases = {
        "import cognee_hooks": process("-c", "import cognee_hooks", home=home),
        "cognee-hooks --version": process("-m", "cognee_hooks", "--version", home=home),
        "cognee-hooks hooks": process("-m", "cognee_hooks", "hooks", home=home),
        "run, an event that is not used": process(
            "-m", "cognee_hooks", "run", "claude-code", "Notification", home=home, text="{}"
        ),
        "run, a prompt without a server": process(
            "-m",
            "cognee_hooks",
            "run",
            "claude-code",
            "UserPromptSubmit",
            home=home,
            text='{"session_id": "b", "prompt": "what is next?"}',
        ),
    }
    print(f"bare interpreter: {bare * 1000:.0f} ms")
    for name, action in cases.items():
        seconds = fastest(action)
        print(f"{name}: {seconds * 1000:.0f} ms, {seconds / bare:.1f} times bare")


def redaction() -> None:
    """Show the throughput of redaction and how it grows with the text."""
    pipeline = RedactionPipeline()
    for kilobytes in (8, 64, 256):
        text = OUTPUT * (kilobytes * 1024 // len(OUTPUT))
        seconds = fastest(lambda text=text: pipeline.redact_blocking(text), 5)
        print(
            f"redact {kilobytes} KB: {seconds * 1000:.1f} ms, {kilobytes / 1024 / seconds:.1f} MB/s"
        )


class _Silent:
    @hookimpl
    async def cognee_stop(self, event: object) -> None:
        """Do nothing."""


async def dispatch() -> None:
    """Show what our dispatcher costs over pluggy's own call."""
    registry = Registry(PluginSelection(), entry_points=())
    for number in range(7):
        registry.manager.register(_Silent(), f"p{number}")
    dispatcher = Dispatcher(registry.manager, registry.policies, Faults())
    count = 500
    started = time.perf_counter()
    for _ in range(count):
        for coroutine in registry.manager.hook.cognee_stop(event=None, deadline=None):
            await coroutine
    plain = time.perf_counter() - started
    started = time.perf_counter()
    for _ in range(count):
        await dispatcher.call("cognee_stop", event=None)
    ours = time.perf_counter() - started
    microseconds = ours / count * 1e6
    print(f"dispatch to 7 async plugins: {microseconds:.0f} us, {ours / plain:.1f} times a loop")


async def recall(home: str) -> None:
    """Show what a prompt costs over the server's own time."""
    with EmbeddedServer(Path(home) / "memory.db") as server:
        host = Host(
            "claude-code",
            environ={"HOME": home, "COGNEE_LOCAL_API_URL": server.url},
            session_id="bench",
            entry_points=(),
        )
        event = UserPromptSubmit(session_id="bench", prompt="which port does billing use?")
        query = await host.redact(event.prompt)

        async def bare() -> None:
            with suppress(ServerFailure):  # an empty memory is an answer as well
                await host.services.client.recall(
                    query, dataset=DatasetRef(name="agent_sessions"), deadline=Deadline.after(4)
                )

        request = await _fastest(bare)
        whole = await _fastest(lambda: host.user_prompt_submit(event))
        print(
            f"recall request: {request * 1000:.1f} ms; a whole prompt adds "
            f"{(whole - request) * 1000:.1f} ms, {whole / request:.2f} times the request"
        )
        await host.close(Deadline.after(1))


async def _fastest(action: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(30):
        started = time.perf_counter()
        await action()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Run all."""
    with tempfile.TemporaryDirectory() as home:
        start_up(home)
        hooks(home)
        redaction()
        enqueue(home)
        asyncio.run(dispatch())
        asyncio.run(recall(home))


if __name__ == "__main__":
    main()
