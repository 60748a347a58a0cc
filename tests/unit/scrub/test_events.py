from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.leak import MARKER, Leak
from cognee_hooks.results import ScrubState
from cognee_hooks.scrub.events import Events
from cognee_hooks.services.crypto import KEY_BYTES, Sealer

VALUE = "hunter2-" + 'Zq81"x'
OPENING = Opening(
    version="1.0",
    kind="hook",
    ident="1700000000000000-12",
    agent="claude-code",
    event="Stop",
    pid=12,
    cwd=f"/srv/{VALUE}",
    environ={"COGNEE_PLUGIN_DATASET": f"d-{VALUE}"},
)
PAYLOAD = json.dumps({"prompt": f"use {VALUE}", "kept": "yes"}).encode()


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    Sealer.of(path)
    return path


def events(tmp_path: Path, key: Path) -> Events:
    return Events(tmp_path / "daemon", key, Leak(VALUE))


def test_a_sealed_event_is_taken_up_without_the_value(tmp_path: Path, key: Path):
    folder = tmp_path / "daemon"
    Journal(folder, Sealer.of(key)).add(OPENING, PAYLOAD)

    found = [*events(tmp_path, key).scrub(dry_run=True)]
    cleaned = [*events(tmp_path, key).scrub(dry_run=False)]

    assert [(row.state, row.count) for row in found] == [(ScrubState.FOUND, 3)]
    assert [row.state for row in cleaned] == [ScrubState.CLEANED]
    ((opening, payload),) = Journal(folder, Sealer.of(key)).pending()
    assert json.loads(payload) == {"prompt": f"use {MARKER}", "kept": "yes"}
    assert (opening.cwd, opening.ident) == (f"/srv/{MARKER}", OPENING.ident)
    assert opening.environ == {"COGNEE_PLUGIN_DATASET": f"d-{MARKER}"}


def test_a_spooled_event_keeps_its_form(tmp_path: Path, key: Path):
    spool = tmp_path / "daemon/spool"
    spool.mkdir(parents=True)
    (spool / f"{OPENING.ident}.event").write_bytes(OPENING.wire() + PAYLOAD)
    (spool / "torn.bad").write_bytes(OPENING.wire()[:90] + VALUE.encode())

    rows = [*events(tmp_path, key).scrub(dry_run=False)]

    assert {row.state for row in rows} == {ScrubState.CLEANED}
    assert VALUE.encode() not in (spool / "torn.bad").read_bytes()
    ((opening, payload),) = Journal(tmp_path / "daemon", Sealer.of(key)).spooled()
    assert opening == replace(
        OPENING, cwd=f"/srv/{MARKER}", environ={"COGNEE_PLUGIN_DATASET": f"d-{MARKER}"}
    )
    assert json.loads(payload)["prompt"] == f"use {MARKER}"


def test_what_another_key_has_sealed_is_named(tmp_path: Path, key: Path):
    Journal(tmp_path / "daemon", Sealer(os.urandom(KEY_BYTES))).add(OPENING, PAYLOAD)

    (row,) = events(tmp_path, key).scrub(dry_run=False)

    assert row.state is ScrubState.LEFT
    assert "another key" in row.detail
