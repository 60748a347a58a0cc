from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from builtin_plugins.bridge.fingerprint import digest
from builtin_plugins.bridge.marks import tail_key
from builtin_plugins.bridge.quarantine import path_aside
from builtin_plugins.bridge.scrub import scrub
from cognee_hooks.leak import MARKER, Leak
from cognee_hooks.results import ScrubState
from cognee_hooks.services.crypto import KEY_BYTES, Sealer, Unreadable
from cognee_hooks.services.statefile import write_json
from tests.support.bridged import STEM, URL, entry, other_sealer, payload, taken_out, trace

VALUE = "hunter2-" + 'Zq81"x'
LEAK = Leak(VALUE)


@pytest.fixture
def context(tmp_path: Path, folder: Path, clock) -> SimpleNamespace:
    key_file = tmp_path / "key"
    key_file.write_bytes(bytes(range(KEY_BYTES)))
    key_file.chmod(0o600)
    paths = SimpleNamespace(bridge_dir=folder, key_file=key_file)
    return SimpleNamespace(services=SimpleNamespace(paths=paths), now=clock)


def opened(folder: Path, sealer: Sealer) -> str:
    """All that the session's files hold, with everything opened that can be, however nested."""
    texts = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)
        elif isinstance(value, str):
            texts.append(value)
            for part in ["log", "marks", "quarantine", *map(str, range(30))]:
                try:
                    inside = sealer.open(base64.b64decode(value, validate=True), f"{STEM}/{part}")
                except (ValueError, Unreadable):
                    continue  # most texts are nothing sealed
                look(json.loads(inside))

    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = path.read_text()
        for line in [content, *content.splitlines()]:
            try:
                look(json.loads(line.removeprefix("+")))
            except ValueError:
                look(line)
    return "\n".join(texts)


def test_what_waits_goes_on_without_the_value_in_its_order_and_under_its_keys(
    buffer_of, folder, sealer, context
):
    buffer = buffer_of()
    buffer.enqueue(payload(entry("gone", answer=VALUE)))
    buffer.enqueue(payload(entry("one"), key="k1"))
    buffer.enqueue(payload(entry(f"two {VALUE}"), key="k2"))
    buffer.enqueue(payload(trace(f"login {VALUE}")))
    buffer.settle(1, tail_key(URL, "s1", "qa"), "print")
    assert VALUE in opened(folder, sealer)

    (found,) = scrub(context, LEAK, dry_run=True)
    assert (found.state, found.count) == (ScrubState.FOUND, 3)
    assert VALUE in opened(folder, sealer)
    (done,) = scrub(context, LEAK, dry_run=False)

    assert done.state is ScrubState.CLEANED
    assert VALUE not in opened(folder, sealer)
    assert scrub(context, LEAK, dry_run=True) == []
    again = buffer_of()
    assert again.enqueue(payload(entry("two once more"), key="k2")).seq == 0
    assert again.tail(tail_key(URL, "s1", "qa")).last == ["print"]
    assert again.enqueue(payload(entry("five"))).seq == 5
    heads = [head.payload.entry for head in _heads(again)]
    assert [each.get("question") for each in heads] == [
        "question one",
        f"question two {MARKER}",
        None,
        "question five",
    ]
    assert heads[2]["method_params"] == {"command": f"login {MARKER}"}


def _heads(buffer):
    while head := buffer.head(URL):
        yield head
        buffer.settle(head.seq, "", "")


def test_an_entry_that_the_server_may_have_is_recognised_by_what_it_was(buffer_of, context):
    buffer = buffer_of()
    sent = entry(f"use {VALUE}")
    buffer.enqueue(payload(sent))
    buffer.begin(1)

    scrub(context, LEAK, dry_run=False)
    scrub(context, Leak("question use"), dry_run=False)

    head = buffer_of().head(URL)
    once = {**sent, "question": f"question use {MARKER}"}
    assert head.attempt is not None
    assert head.payload.former == (digest("qa", sent), digest("qa", once))


def test_what_was_put_aside_and_what_pi_cognee_left_is_cleaned(buffer_of, folder, sealer, context):
    buffer = buffer_of()
    buffer.enqueue(payload(entry(f"refused {VALUE}")))
    buffer.enqueue(payload(entry("refused, too")))
    buffer.set_aside([1, 2], f"the server said {VALUE}")
    plain = {"sessionId": "s1", "dataset": "d", "type": "qa", "question": f"old {VALUE}"}
    alien = {"what": VALUE}
    (folder / f"{STEM}.json").write_text(json.dumps({"entries": [plain, alien]}))
    (folder / f"{STEM}.json").chmod(0o600)

    scrub(context, LEAK, dry_run=False)

    assert VALUE not in opened(folder, sealer)
    shown = opened(folder, sealer)
    assert f"refused {MARKER}" in shown
    assert "refused, too" in shown
    assert buffer_of().aside == 3
    assert taken_out(buffer_of()) == [f"old {MARKER}"]


def test_a_copy_of_a_torn_envelope_that_holds_it_sealed_is_removed(buffer_of, folder, context):
    buffer_of().enqueue(payload(entry(VALUE)))
    envelope = folder / f"{STEM}.json"
    envelope.write_bytes(envelope.read_bytes()[:-40])
    buffer_of().adopt()
    assert envelope.with_suffix(".torn").exists()

    assert len(scrub(context, LEAK, dry_run=True)) == 2
    scrub(context, LEAK, dry_run=False)

    assert not envelope.with_suffix(".torn").exists()
    assert taken_out(buffer_of()) == [f"question {MARKER}"]


def test_a_look_makes_no_key_and_says_that_nothing_can_be_opened(buffer_of, context):
    buffer_of().enqueue(payload(entry(VALUE)))
    key_file = context.services.paths.key_file
    key_file.unlink()

    (row,) = scrub(context, LEAK, dry_run=True)

    assert row.state is ScrubState.LEFT
    assert not key_file.exists()


def test_what_another_key_has_sealed_is_named_and_stays(buffer_of, context):
    buffer_of(sealer=other_sealer()).enqueue(payload(entry(VALUE)))

    (row,) = scrub(context, LEAK, dry_run=False)

    assert row.state is ScrubState.LEFT
    assert buffer_of().count == 1


def test_a_kill_between_both_files_loses_nothing_and_once_more_finishes(
    buffer_of, folder, sealer, context, monkeypatch
):
    for number in range(6):
        buffer_of().enqueue(payload(entry(f"{number} {VALUE}")))
    before = (folder / f"{STEM}.json").read_bytes()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("builtin_plugins.bridge.envelope.EnvelopeFile.store", killed)
        with pytest.raises(KeyboardInterrupt):
            scrub(context, LEAK, dry_run=False)
    assert (folder / f"{STEM}.json").read_bytes() == before

    scrub(context, LEAK, dry_run=False)

    assert VALUE not in opened(folder, sealer)
    assert taken_out(buffer_of()) == [f"question {number} {MARKER}" for number in range(6)]


def test_a_session_that_somebody_holds_for_long_is_named(buffer_of, folder, context, monkeypatch):
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.filelock import KernelLock

    buffer_of().enqueue(payload(entry(VALUE)))
    monkeypatch.setattr("builtin_plugins.bridge.scrub.LOCK_SECONDS", 0.01)
    with KernelLock(folder / f"{STEM}.lock").holding(Deadline.after(1)):
        (row,) = scrub(context, LEAK, dry_run=False)
    assert row.state is ScrubState.LEFT
    assert replace(row).count == 0


def test_what_was_put_aside_is_looked_through_record_by_record(buffer_of, folder, sealer, context):
    others = buffer_of(sealer=other_sealer())
    others.enqueue(payload(entry(VALUE)))
    others.set_aside([1], "refused")
    path = path_aside(folder, STEM)
    kept = json.loads(path.read_text())["entries"]
    write_json(path, {"entries": [*kept, {"written": f"by hand {VALUE}"}, "odd"]})

    rows = scrub(context, LEAK, dry_run=False)

    assert {each.state for each in rows} == {ScrubState.CLEANED, ScrubState.LEFT}
    assert json.loads(path.read_text())["entries"] == [
        *kept,
        {"written": f"by hand {MARKER}"},
        "odd",
    ]


def test_lines_of_a_log_that_are_no_entries_are_passed_over(buffer_of, folder, context):
    buffer_of().enqueue(payload(entry(VALUE)))
    with (folder / f"{STEM}.log").open("ab") as log:
        log.write(b'+{"seq": "many"}\n+[\n')
    scrub(context, LEAK, dry_run=False)
    assert taken_out(buffer_of()) == [f"question {MARKER}"]
