from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from builtin_plugins.code_lane import indexer, plugin, record
from builtin_plugins.code_lane.indexer import Indexer
from builtin_plugins.code_lane.repository import Repository
from builtin_plugins.code_lane.settings import AutoIndex, to_auto_index
from cognee_hooks.errors import FailureKind
from cognee_hooks.overview import overview
from cognee_hooks.results import CheckStatus
from cognee_hooks.services.answers import EMBEDDED
from tests.support.code_session import REMEMBER
from tests.support.repositories import git, make_repository
from tests.support.scripted import RECALL
from tests.support.waiting import until

K = FailureKind
REMOTE = "http://10.0.0.5:8011"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(plugin, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr(record, "SHORTEST_PAUSE", 0.0)
    monkeypatch.setattr(record, "REST", 0)


async def decided(made) -> None:
    """Let the plugin decide about this session, once more and to the end."""
    await made.healthy()
    found = made.host.registry.manager.get_plugin("code_lane")
    await found._keeper.start(found._cwd)


def known_as(folder: Path) -> Repository:
    return Repository(str(folder), remote=False)


async def check(made):
    found = made.host.registry.manager.get_plugin("code_lane")
    return await found.cognee_doctor_checks(made.soon)


# -- automatic indexing --------------------------------------------------------------------------


async def test_a_small_repository_is_indexed_when_a_session_starts(session, repository):
    made = await session(repository / "src")
    await made.begin()
    await until(lambda: made.record and made.record.last_status == "COMPLETED", "the index")
    assert made.client.submitted == [
        {
            "datasetName": made.record.dataset,
            "content_type": "code",
            "raw_data": str(repository),
            "run_in_background": "true",
            "index_vectors": "false",
        }
    ]
    assert made.record.fingerprint
    assert (await check(made)).status is CheckStatus.OK


async def test_what_has_not_changed_is_not_indexed_again(session):
    made = await session()
    await made.begin()
    await until(lambda: made.record and made.record.last_status == "COMPLETED", "the index")
    await decided(made)
    assert len(made.client.submitted) == 1


@pytest.mark.parametrize(
    ("word", "mode"),
    [
        ("OFF", AutoIndex.OFF),
        ("0", AutoIndex.OFF),
        ("on", AutoIndex.ALWAYS),
        ("yes", AutoIndex.ALWAYS),
        ("always", AutoIndex.ALWAYS),
        ("", AutoIndex.AUTO),
        ("maybe", AutoIndex.AUTO),
    ],
)
def test_vector_57_modes_of_automatic_indexing(word, mode):
    assert to_auto_index(word) is mode


@pytest.mark.parametrize(
    "environ",
    [
        {"COGNEE_CODE_AUTOINDEX": "off"},
        {"COGNEE_LOCAL_API_URL": REMOTE},
        {"COGNEE_LOCAL_API_URL": REMOTE, "COGNEE_CODE_AUTOINDEX": "always"},
        {"COGNEE_CODE_AUTOINDEX_MAX_FILES": "2"},
    ],
    ids=["off", "remote", "w27-remote-always", "large"],
)
async def test_w27_and_vectors_58_and_59_what_is_not_indexed_unasked(session, environ):
    made = await session(**environ)
    await made.begin()
    await decided(made)
    assert made.client.submitted == []


@pytest.mark.parametrize("switch", ["COGNEE_CAPTURE", "COGNEE_CODE_LANE"])
async def test_nothing_is_indexed_unasked_while_it_is_switched_off(session, switch):
    made = await session(**{switch: "false"})
    await made.begin()
    await made.turn()
    await asyncio.sleep(0.1)
    assert made.client.submitted == []
    assert (await check(made)).status is CheckStatus.INFO


async def test_always_takes_larger_repositories_too(session):
    made = await session(COGNEE_CODE_AUTOINDEX="always", COGNEE_CODE_AUTOINDEX_MAX_FILES="2")
    await made.begin()
    await until(lambda: made.client.submitted, "the index")


async def test_a_folder_outside_of_a_repository_is_not_indexed_unasked(session, tmp_path):
    made = await session(tmp_path)
    await decided(made)
    assert made.client.submitted == []
    assert "in no git repository" in (await check(made)).detail


@pytest.mark.parametrize("where", [".", "work"])
async def test_the_home_folder_is_never_indexed_unasked(session, isolated_environment, where):
    home = isolated_environment
    (home / "work").mkdir()
    (home / "work" / "a.py").write_text("x")
    git(home, "init", "-q")
    git(home, "add", "work")
    git(home, "commit", "-q", "-m", "dot files")
    made = await session(home / where, COGNEE_CODE_AUTOINDEX="always")
    await decided(made)
    assert made.client.submitted == []
    assert "home folder" in (await check(made)).detail


async def test_a_folder_that_could_become_another_on_the_way_is_not_indexed(session, tmp_path):
    make_repository(tmp_path / "private")
    made = await session(make_repository(tmp_path / "private "))
    await made.begin()
    await decided(made)
    assert "begins or ends with a blank" in await made.index()
    assert made.client.submitted == []


async def test_an_embedded_server_is_not_asked_to_index(session):
    made = await session()
    made.client.scripts["/health"] = lambda _: {"status": "ready", "server": EMBEDDED}
    await made.host.services.health.probe(made.soon)
    await decided(made)
    assert "has no code graph" in await made.index()
    assert made.client.submitted == []


async def test_status_and_doctor_say_that_an_embedded_server_has_no_code_graph(session):
    made = await session()
    made.client.scripts["/health"] = lambda _: {
        "status": "ready",
        "version": "0.1.0",
        "server": EMBEDDED,
    }
    asked_first = await check(made)  # as `cognee-hooks doctor` does, without a session
    assert asked_first.detail == "none: the embedded server keeps text only"
    assert "use a cognee server" in asked_first.remedy
    found = await overview(made.host, made.soon)
    assert {row.label: row.text for row in found.rows}["Code graph"] == asked_first.detail
    assert made.client.submitted == []


async def test_a_server_that_is_silent_may_have_a_code_graph(session, tmp_path):
    made = await session(tmp_path)
    made.fails("/health", K.REFUSED)
    assert (await check(made)).detail.startswith("on; 0 repositories")


@pytest.mark.parametrize("kind", [K.NO_MEMORY, K.FORBIDDEN], ids=["set up anew", "other account"])
async def test_w16_and_w33_what_the_server_no_longer_has_is_indexed_again(session, kind):
    made = await session()
    await made.index("--wait 5")
    made.fails(RECALL, kind)
    await made.begin()
    await until(lambda: len(made.client.submitted) == 2, "the second index")


async def test_another_process_that_submits_it_is_not_joined(session, repository):
    made = await session()
    lock = made.records.lock(known_as(repository))
    assert lock.try_acquire()
    await decided(made)
    assert made.client.submitted == []
    lock.release()


# -- freshness -----------------------------------------------------------------------------------


async def test_vector_60_edits_are_indexed_even_where_automatic_indexing_is_off(
    session, repository
):
    made = await session(COGNEE_CODE_AUTOINDEX="off")
    await made.index("--wait 5")
    (repository / "new folder").mkdir()
    (repository / "new folder" / "näme.py").write_text("x")
    await made.turn(agent_id="sub")
    await made.healthy()
    await made.turn()
    await until(lambda: len(made.client.submitted) == 2, "the second index")
    await until(lambda: not made.record.pending, "its end")
    await made.turn()
    await asyncio.sleep(0.1)
    assert len(made.client.submitted) == 2


async def test_w17_what_changes_while_it_is_submitted_is_a_change(session, repository):
    made = await session()
    taken = made.client.scripts[REMEMBER]

    def edit(body):
        (repository / "meanwhile.py").write_text("x")
        return taken(body)

    made.client.scripts[REMEMBER] = edit
    await made.healthy()
    await made.index("--wait 5")
    await made.turn()
    await until(lambda: len(made.client.submitted) == 2, "the second index")


async def test_w27_failures_are_kept_and_followed_by_a_pause(session):
    made = await session()
    made.fails(REMEMBER, K.REJECTED, "HTTP 400: unsupported content_type")
    await decided(made)
    await decided(made)
    assert len(made.client.submitted) == 1
    assert made.record.error_count == 1
    row = await check(made)
    assert row.status is CheckStatus.WARNING
    assert "unsupported content_type" in row.detail
    # A repository that was never taken on is not asked about.
    assert made.client.questions == []


async def test_w27_what_automatic_indexing_only_tried_ends_with_it(session, monkeypatch):
    monkeypatch.setattr(record, "pause_after", lambda _: 0.0)
    made = await session()
    made.fails(REMEMBER, K.TIMED_OUT)
    await made.begin()
    await until(lambda: made.record and made.record.error_count, "the failure")
    switched_off = await session(COGNEE_CODE_AUTOINDEX="off")
    await decided(switched_off)
    assert switched_off.client.submitted == []
    again = await session()
    await decided(again)
    assert len(again.client.submitted) == 1


async def test_a_run_that_failed_is_kept_and_tried_again_later(session):
    made = await session()
    made.client.ends = "DATASET_PROCESSING_ERRORED"
    report = await made.index("--wait 5")
    assert "the pipeline failed" in report
    assert made.record.last_status == "ERRORED"
    assert made.record.error_count == 1
    assert made.record.wait(made.record.last_error_at) > 0


async def test_a_run_that_another_process_submitted_is_seen_to_its_end(session, monkeypatch):
    monkeypatch.setattr(Indexer, "follow", never)
    made = await session()
    made.client.ends = ""
    await made.index()
    assert made.record.pending
    made.client.run("DATASET_PROCESSING_COMPLETED", at="1999-01-01T00:00:00")
    await decided(made)
    assert made.record.pending, "that run is older than ours"
    made.client.run("DATASET_PROCESSING_COMPLETED")
    await decided(made)
    assert made.record.last_status == "COMPLETED"


async def never(*_: object) -> None:
    """A process that ended before it saw the end."""


async def test_a_run_that_is_never_seen_counts_as_failed(session, monkeypatch):
    monkeypatch.setattr(indexer, "UNSEEN_SECONDS", 0.05)
    made = await session()
    made.client.ends = ""
    await made.index()
    await until(lambda: made.record.error_count, "the failure")
    assert "no sign of the run" in made.record.last_error
    assert (await check(made)).status is CheckStatus.WARNING


async def test_a_run_that_takes_long_is_followed_on(session, monkeypatch):
    monkeypatch.setattr(indexer, "UNSEEN_SECONDS", 0.05)
    made = await session()
    made.client.ends = "DATASET_PROCESSING_STARTED"
    await made.index()
    await asyncio.sleep(0.1)
    done = made.client.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"}
    made.client.runs.insert(0, done)
    await until(lambda: made.record.last_status == "COMPLETED", "the end")
    assert made.record.error_count == 0


async def test_a_session_works_without_it(session):
    made = await session(COGNEE_HOOKS_DISABLE="code_lane")
    await made.begin()
    assert await made.prompt("what does process_refund do?") == ""
    await made.turn()
    assert "code" not in made.host.registered.lanes
    assert made.client.submitted == []
