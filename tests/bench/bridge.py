"""What it costs to keep a captured entry on disk while as many wait as may."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.items import Payload
from builtin_plugins.bridge.limits import BufferLimits
from cognee_hooks.services.crypto import KEY_BYTES, Sealer
from cognee_hooks.services.statefile import write_atomic

WAITING = 1000
ROUNDS = 2000
ANSWER = "It uses port 7431, as the deployment notes of the billing service say. " * 20


def enqueue(home: str) -> None:
    """Show an enqueue into a full buffer beside writing the same file once, as a whole."""
    folder = Path(home) / "bridge"
    buffer = Buffer(
        folder, "b" * 40, Sealer(bytes(KEY_BYTES)), BufferLimits(WAITING), now=time.time
    )
    for number in range(WAITING):
        buffer.enqueue(_payload(number))
    times = _sorted(lambda number: buffer.enqueue(_payload(WAITING + number)), ROUNDS)
    content = os.urandom(buffer.path.stat().st_size)
    bare = _sorted(lambda _: write_atomic(folder / "bare", content, durable=False), ROUNDS // 10)
    typical, high = times[ROUNDS // 2], times[ROUNDS * 99 // 100]
    print(
        f"enqueue with {WAITING} entries waiting ({len(content) / 1e6:.1f} MB): "
        f"median {typical * 1000:.2f} ms, 99th percentile {high * 1000:.2f} ms; "
        f"{high / bare[len(bare) // 2]:.2f} times writing the file once"
    )


def _payload(number: int) -> Payload:
    entry = {"type": "qa", "question": f"Which port, {number}?", "answer": ANSWER, "context": ""}
    return Payload(
        entry=entry, session_id="s", dataset="d", url="http://localhost", captured_at=number
    )


def _sorted(action: Callable[[int], object], rounds: int) -> list[float]:
    times = []
    for number in range(rounds):
        started = time.perf_counter()
        action(number)
        times.append(time.perf_counter() - started)
    return sorted(times)
