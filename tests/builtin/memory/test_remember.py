"""Remembering text and files."""

from __future__ import annotations

import pytest

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import Act
from tests.support.remembered import (
    ACCOUNT,
    DATASET,
    FIRST,
    HERE,
    LISTED,
    REMEMBER,
    RUNNING,
    SECOND,
    UPDATE,
    row,
)
from tests.support.scripted import fails

K = FailureKind


async def documents(session):
    client = session.host.services.client
    rows = await client.datasets(soon())
    (row,) = [row for row in rows if row.name == session.host.session.dataset]
    return row.id, await client.documents.documents(row.id, soon())


async def stored_text(session):
    dataset, rows = await documents(session)
    routes = session.host.services.client.documents
    return [(await routes.content(dataset, row.id, soon())).decode() for row in rows]


def soon():
    from cognee_hooks.deadline import Deadline

    return Deadline.after(10.0)


# -- text


async def test_text_can_be_found_afterwards(session):
    told = await session.tool("remember", content="OscarService uses the PapaStore.")
    dataset = session.host.session.dataset
    assert told.startswith(f"Stored in dataset '{dataset}' (node_set: user_context).")
    assert "graph is queryable" in told
    assert "PapaStore" in await session.tool("recall", query="Which store does OscarService use?")


async def test_the_same_text_is_stored_once(session):
    for _ in range(2):
        told = await session.command("remember", 'OscarService doesn\'t use "PapaStore" --now')
        assert told.startswith("Stored")
    assert await stored_text(session) == ['OscarService doesn\'t use "PapaStore" --now']


async def test_secrets_are_taken_out_of_text_and_files(session, tmp_path):
    secret = "sk-" + "proj-" + "Ab3" * 16
    (tmp_path / "setup.md").write_text(f"Export OPENAI_API_KEY={secret} first.\n")
    await session.tool("remember", content=f"The key is {secret}, never print it.")
    await session.tool("remember", file="setup.md")
    stored = await stored_text(session)
    assert len(stored) == 2
    assert all(secret not in text for text in stored)


async def test_private_parts_of_a_file_stay_here(session, tmp_path):
    (tmp_path / "a.md").write_text("Public part.\n<private>the plan</private>\n")
    await session.tool("remember", file="a.md")
    (text,) = await stored_text(session)
    assert "plan" not in text


@pytest.mark.parametrize("arguments", [{}, {"content": "  "}, {"content": 7}])
async def test_something_has_to_be_given(start, client, arguments):
    told = await start(client).tool("remember", **arguments)
    assert told.startswith("⚠ Provide content (prose) or file (a path on disk)")
    assert client.unsent == []


async def test_an_unknown_node_set_is_refused_in_commands_too(start, client):
    session = start(client)
    for told in (
        await session.command("remember", "Tabs --node-set nonsense"),
        await session.tool("remember", content="Tabs", node_set="nonsense"),
    ):
        assert "node_set must be one of user_context, project_docs, agent_actions" in told
    assert client.bodies(REMEMBER) == []


async def test_options_stand_anywhere_and_may_be_quoted(session, tmp_path):
    (tmp_path / "my notes.md").write_text("QuebecService.\n")
    told = await session.command("remember", '--node-set project_docs --file "my notes.md"')
    assert "Stored file 'my notes.md'" in told
    assert "(node_set: project_docs)" in told


async def test_a_server_that_is_away_is_named_with_what_to_do(start, client):
    client.scripts[REMEMBER] = fails(K.REFUSED, sent=False)
    told = await start(client).tool("remember", content="Tabs, not spaces.")
    assert told.startswith("⚠ cognee_remember failed:")
    assert "start the server or check COGNEE_BASE_URL" in told


async def test_text_that_cannot_be_made_safe_is_not_sent(start, client, tmp_path):
    config = tmp_path / "config" / "cognee-hooks" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("plugins:\n  require_redactors: [employee-ids]\n", encoding="utf-8")
    session = start(client, XDG_CONFIG_HOME=str(tmp_path / "config"))
    told = await session.tool("remember", content="Tabs, not spaces.")
    assert "could not be made safe" in told
    assert client.bodies(REMEMBER) == []


# -- where to


async def test_w14_a_typing_error_makes_no_dataset(session):
    await session.tool("remember", content="Something to begin with.")
    dataset = session.host.session.dataset
    told = await session.tool("remember", content="Tabs.", dataset=f"{dataset}x")
    assert f"Dataset '{dataset}x' not found. Available:" in told
    assert "create=true" in told
    assert session.person.asked[0][0] == f"Create the dataset '{dataset}x'?"
    names = [row.name for row in await session.host.services.client.datasets(soon())]
    assert f"{dataset}x" not in names


@pytest.mark.parametrize("way", ["yes", "argument", "command"])
async def test_w14_a_dataset_is_made_when_that_is_wanted(session, way):
    name = f"{session.host.session.dataset}-{way}"
    session.person.says = way == "yes"
    if way == "command":
        told = await session.command("remember", f"Tabs. --dataset {name} --create")
    else:
        told = await session.tool(
            "remember", content="Tabs.", dataset=name, create=way == "argument"
        )
    assert f"in dataset '{name}'" in told
    assert bool(session.person.asked) == (way == "yes")


async def test_a_dataset_whose_name_is_a_secret_is_not_made(start, client):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session = start(client)
    told = await session.tool("remember", content="x", dataset=token, create=True)
    assert "looks like a secret" in told
    session.person.says = True
    assert "looks like a secret" in await session.tool("remember", content="x", dataset=token)
    assert token not in str(client.unsent)


async def test_w11_a_name_that_several_datasets_have_is_refused(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: [
        {"id": FIRST, "name": "dup", "ownerId": ACCOUNT},
        {"id": SECOND, "name": "dup", "ownerId": "somebody"},
    ]
    told = await start(client).tool("remember", content="Tabs.", dataset="dup")
    assert f"matches 2 datasets (dup {FIRST}; dup {SECOND})" in told
    assert client.bodies(REMEMBER) == []


async def test_a_dataset_of_somebody_else_is_addressed_by_its_id(start, client):
    client.scripts["/api/v1/datasets"] = lambda _: [
        {"id": FIRST, "name": "theirs", "ownerId": "somebody"}
    ]
    client.scripts[REMEMBER] = lambda _: {"status": "running"}
    await start(client).tool("remember", content="Tabs.", dataset="theirs")
    (sent,) = client.bodies(REMEMBER)
    assert sent["datasetId"] == FIRST


# -- files that are there already


async def test_w6_a_changed_file_takes_the_place_of_what_was_there(session, notes):
    told = await session.tool("remember", file="notes.md", node_set="project_docs")
    assert told.startswith("Stored file 'notes.md' (42 bytes) in dataset")
    told = await session.tool("remember", file=str(notes))
    assert told.startswith("File 'notes.md' unchanged (identical to the stored copy, data_id ")
    notes.write_text("# Notes\n\nOscarService uses the QuebecStore.\n")
    told = await session.tool("remember", file="notes.md")
    assert told.startswith("Updated file 'notes.md' in dataset")
    assert "— incremental: +1/−1 chunks" in told  # noqa: RUF001 - the minus sign
    assert await stored_text(session) == ["# Notes\n\nOscarService uses the QuebecStore.\n"]


async def test_files_of_one_name_in_two_folders_do_not_overwrite_each_other(session, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text(f"About {folder}.\n")
        await session.tool("remember", file=f"{folder}/README.md")
    (tmp_path / "a" / "README.md").write_text("About a, changed.\n")
    told = await session.tool("remember", file="a/README.md")
    assert told.startswith("Updated file")
    assert sorted(await stored_text(session)) == ["About a, changed.\n", "About b.\n"]


async def test_w6b_a_json_file_that_is_the_same_is_seen_as_such(session, tmp_path):
    (tmp_path / "a.json").write_text('{ "a" :1}\n')
    await session.tool("remember", file="a.json")
    assert "unchanged" in await session.tool("remember", file="a.json")


async def test_vector_86_an_equal_copy_means_that_nothing_is_sent(scripted, client, notes):
    client.scripts[f"{LISTED}/{FIRST}/raw"] = lambda _: notes.read_bytes()
    assert "nothing sent" in await scripted.tool("remember", file="notes.md")
    assert client.bodies(UPDATE) == client.bodies(REMEMBER) == []


async def test_a_text_may_be_as_long_as_a_file(scripted, client):
    told = await scripted.tool("remember", content="é" * 100_001)
    assert "text too long (200002 bytes; limit 200000)" in told
    assert client.bodies(REMEMBER) == []
    assert (await scripted.tool("remember", content="a b " * 50_000)).startswith("Sent to")


async def test_what_leaves_is_in_the_ledger_by_size(scripted, client, notes):
    await scripted.tool("remember", content="Tabs.")
    await scripted.tool("remember", file="notes.md")
    client.scripts[f"{LISTED}/{FIRST}/raw"] = lambda _: notes.read_bytes()
    await scripted.tool("remember", file="notes.md")
    ledger = scripted.host.ledger
    assert ledger.totals("pi_s1")[Act.REMEMBERED] == 2
    assert ledger.sizes("pi_s1")[Act.REMEMBERED] == len("Tabs.") + len(notes.read_bytes())


@pytest.mark.parametrize("order", [1, -1])
async def test_vector_87_of_twins_the_newer_one_is_updated(scripted, client, order):
    twins = [row(FIRST), row(SECOND, created="2026-02-01T00:00:00")]
    client.scripts[LISTED] = lambda _: twins[::order]
    await scripted.tool("remember", file="notes.md")
    assert [each.path for each in client.unsent if each.method == "PATCH"] == [
        f"{UPDATE}?data_id={SECOND}&dataset_id={DATASET}"
    ]


async def test_of_two_files_of_one_name_remembered_at_once_each_keeps_its_own(
    scripted, client, notes
):
    ours = notes.read_bytes()
    client.scripts |= {
        LISTED: lambda _: [] if not client.bodies(REMEMBER) else [row(FIRST), row(SECOND)],
        f"{LISTED}/{FIRST}/raw": lambda _: b"that of another session",
        f"{LISTED}/{SECOND}/raw": lambda _: ours,
    }
    assert (await scripted.tool("remember", file="notes.md")).startswith("Stored file")
    notes.write_text("Changed.")
    await scripted.tool("remember", file="notes.md")
    (update,) = [each.path for each in client.unsent if each.method == "PATCH"]
    assert f"data_id={SECOND}" in update


async def test_who_may_have_taken_the_place_of_another_file_is_told_once(scripted, client, notes):
    doubt = "if that was another one of this name, remember that one again"
    assert doubt in await scripted.tool("remember", file="notes.md")
    notes.write_text("Changed.")
    assert doubt not in await scripted.tool("remember", file="notes.md")
    assert len(client.bodies(UPDATE)) == 2


async def test_vector_88_a_document_that_has_vanished_is_added(scripted, client):
    client.scripts[UPDATE] = fails(K.NOT_FOUND, status=404)
    await scripted.tool("remember", file="notes.md")
    assert len(client.bodies(REMEMBER)) == 1


async def test_vector_88_a_failed_update_adds_nothing_and_says_so(scripted, client):
    client.scripts[UPDATE] = lambda _: {"status": "failed", "error": {"message": "no model"}}
    told = await scripted.tool("remember", file="notes.md")
    assert "update of 'notes.md' failed server-side: server_error: no model" in told
    assert "still exists" in told
    assert client.bodies(REMEMBER) == []


async def test_vector_88_without_a_list_the_file_is_added_and_the_doubt_is_told(scripted, client):
    client.scripts[LISTED] = fails(K.SERVER_ERROR, status=500)
    told = await scripted.tool("remember", file="notes.md")
    assert len(client.bodies(REMEMBER)) == 1
    assert "Whether an older copy is there could not be found out" in told


async def test_an_update_that_the_server_finishes_alone_is_no_failure(scripted, client, notes):
    def lost(_):
        client.scripts[f"{LISTED}/{FIRST}/raw"] = lambda _: notes.read_bytes()
        raise ServerFailure(K.TIMED_OUT, "no complete answer in time")

    client.scripts[UPDATE] = lost
    told = await scripted.tool("remember", file="notes.md")
    assert "still processing in background" in told
    assert told.startswith("Updated file")


async def test_a_document_of_the_same_stem_and_another_extension_is_left_alone(scripted, client):
    client.scripts[LISTED] = lambda _: [row(name="notes.txt"[:-4] + ".rs")]
    await scripted.tool("remember", file="notes.md")
    assert client.bodies(UPDATE) == []
    assert len(client.bodies(REMEMBER)) == 1


async def test_w6_what_is_not_listed_is_never_called_stored(scripted, client):
    client.scripts[LISTED] = lambda _: []
    told = await scripted.tool("remember", file="notes.md")
    assert told.startswith("Sent file 'notes.md'")
    assert "not certain that it is stored" in told
    assert "queryable" not in told


async def test_w7_what_a_dataset_that_is_gone_left_behind_is_not_told_of_the_new_one(
    start, client, notes
):
    client.scripts |= {
        LISTED: lambda _: [],
        REMEMBER: lambda _: RUNNING,
        "/api/v1/datasets/status": lambda _: {DATASET: "DATASET_PROCESSING_COMPLETED"},
    }
    session = start(client, COGNEE_REMEMBER_WAIT_SECONDS="0.3")
    told = await session.tool("remember", file="notes.md")
    assert "queryable" not in told
    assert "not certain that it is stored" in told


async def test_in_the_foreground_the_answer_says_that_all_is_done(start, client, notes):
    client.scripts |= {
        "/api/v1/datasets": lambda _: [HERE],
        LISTED: fails(K.TIMED_OUT),
        REMEMBER: lambda _: {"status": "completed", "dataset_id": DATASET},
    }
    session = start(client, COGNEE_REMEMBER_BACKGROUND="false")
    told = await session.tool("remember", file="notes.md")
    assert told.startswith("Stored file 'notes.md'")
    assert "graph is queryable" in told
    assert client.bodies(REMEMBER)[0]["run_in_background"] == "false"


async def test_without_a_list_of_datasets_text_is_stored_all_the_same(start, client):
    client.scripts |= {
        "/api/v1/datasets": fails(K.SERVER_ERROR),
        REMEMBER: lambda _: RUNNING,
        "/api/v1/datasets/status": lambda _: {DATASET: "DATASET_PROCESSING_COMPLETED"},
        LISTED: lambda _: [],
    }
    session = start(client, COGNEE_REMEMBER_WAIT_SECONDS="0.2")
    told = await session.tool("remember", content="Tabs, not spaces.")
    assert told.startswith("Sent to dataset 'agent_sessions'")
    assert "not certain" in told


async def test_a_copy_that_cannot_be_read_counts_as_changed(scripted, client):
    client.scripts[f"{LISTED}/{FIRST}/raw"] = fails(K.SERVER_ERROR)
    assert (await scripted.tool("remember", file="notes.md")).startswith("Updated file")


async def test_where_the_origin_cannot_be_noted_down_the_file_is_remembered(scripted, client):
    path = scripted.host.paths.state_dir / "remembered-files.json"
    path.mkdir(parents=True)
    assert (await scripted.tool("remember", file="notes.md")).startswith("Updated file")


async def test_text_beside_a_file_is_said_not_to_be_remembered(scripted):
    told = await scripted.command("remember", "and this --file notes.md")
    assert told.endswith("The text beside the file was not remembered.")
