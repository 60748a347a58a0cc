from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.sync import aftercare, improver, plugin
from builtin_plugins.sync.follow import follow_run
from tests.support.sync_session import HERE, HandTimer, Rig


@pytest.fixture
def make(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Rig]:
    timers: list[HandTimer] = []

    def timer(spawn: Any) -> HandTimer:
        timers.append(HandTimer(spawn))
        return timers[-1]

    monkeypatch.setattr(plugin, "Timer", timer)
    monkeypatch.setattr(plugin, "MANUAL_SECONDS", 0.05)
    monkeypatch.setattr(plugin, "FOLLOW_SECONDS", 0.05)
    monkeypatch.setattr(aftercare, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(improver, "follow_run", functools.partial(follow_run, first_pause=0.0))

    def build(session_id: str = HERE.session_id, **environ: str) -> Rig:
        rig = Rig(isolated_environment, session_id, **environ)
        rig.timers = timers
        return rig

    return build


@pytest.fixture
def rig(make: Callable[..., Rig]) -> Rig:
    return make()
