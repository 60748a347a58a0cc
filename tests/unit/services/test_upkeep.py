"""Reading all of a session, and putting back what it held."""

from __future__ import annotations

from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.upkeep import SessionRow, UpkeepRoutes
from cognee_hooks.services.wire import ServerAnswer, ServerCall

VALUE = "hunter" + "SECRET"
DATASET = "3447836d-a490-5804-95f3-059d14a1500b"
SOON = Deadline.after(60)


class Server:
    """Answers each call with what its path is scripted to."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[ServerCall] = []

    async def ask(self, call: ServerCall, _: Deadline) -> ServerAnswer:
        self.calls.append(call)
        name = call.path.partition("?")[0].rstrip("/").rpartition("/")[2]
        answer = self.answers.get(name, {})
        if isinstance(answer, list) and name == "sessions":
            answer = answer.pop(0)
        if isinstance(answer, ServerFailure):
            raise answer
        return ServerAnswer(200, {}, answer)


def routes(**answers: Any) -> tuple[UpkeepRoutes, Server]:
    server = Server(**answers)
    return UpkeepRoutes(server.ask), server


def qa(number: int, text: str = "question") -> dict[str, Any]:
    time = f"2026-01-01T00:00:{number:02}"
    return {"qa_id": f"q{number}", "time": time, "question": f"{text} {number}", "answer": "a"}


async def test_all_pages_of_sessions_are_read():
    page = {"sessions": [{"session_id": f"s{n}", "user_id": "u"} for n in range(500)]}
    last = {"sessions": [{"session_id": "end", "user_id": "u", "dataset_id": DATASET}, 7, {}]}
    upkeep, server = routes(sessions=[page, last])
    found = await upkeep.sessions(SOON)
    assert (len(found), found[-1]) == (501, SessionRow("end", "u", DATASET))
    assert "offset=500" in server.calls[1].path


async def test_older_entries_are_looked_for_without_asking_for_the_value():
    listed = [qa(n, VALUE) for n in range(5, 25)]
    detail = {"session_id": VALUE, "qas": listed, "traces": [], "msg_count": 25, "tool_calls": 0}
    older = [{**qa(n), "source": "session"} for n in (3, 1, 24)]
    upkeep, server = routes(s1=detail, recall=older)

    content = await upkeep.content("s1", lambda text: text.replace(VALUE, ""), SOON)

    (_, asked) = server.calls
    assert asked.json["scope"] == ["session"]
    assert VALUE not in asked.json["query"]
    assert "question" not in asked.json["query"].split()[:20]
    assert [entry["question"] for entry in content.entries][:3] == [
        "question 1",
        "question 3",
        f"{VALUE} 5",
    ]
    assert (len(content.entries), content.missing) == (22, 3)
    assert content.entries[0] == {"type": "qa", "question": "question 1", "answer": "a"}
    assert "session_id" not in content.shown[0]


async def test_a_session_that_is_not_there_is_empty():
    upkeep, _ = routes(s1=ServerFailure(FailureKind.NOT_FOUND, "session not found", status=404))
    content = await upkeep.content("s1", str, SOON)
    assert (content.entries, content.missing, content.shown) == ([], 0, [])


@pytest.mark.parametrize(
    ("name", "address"),
    [("notes", {"dataset_name": "notes"}), ("my notes.v2", {"dataset_id": DATASET})],
)
async def test_an_entry_goes_back_by_name_where_the_name_leads_there(name: str, address: dict):
    stored = {"status": "session_stored", "entry_id": "e"}
    upkeep, server = routes(entry=stored)
    await upkeep.store_again({"type": "qa"}, "s1", DatasetRef(name, DATASET), SOON)
    body = {"entry": {"type": "qa"}, "session_id": "s1", **address}
    assert server.calls[0].json == body


async def test_an_entry_that_was_not_stored_is_a_failure():
    upkeep, _ = routes(entry={"status": "errored"})
    with pytest.raises(ServerFailure):
        await upkeep.store_again({"type": "qa"}, "s1", DatasetRef("d"), SOON)


async def test_a_document_is_rewritten_as_a_whole_and_not_where_it_changed():
    upkeep, server = routes(update={"status": "full_rebuild"})
    await upkeep.rewrite_document(DATASET, DATASET, b"new", "a.md", SOON)
    assert "chunk_level_diff=false" in server.calls[0].path
    assert server.calls[0].parts[0].content == b"new"


async def test_a_dataset_without_memory_recalls_nothing():
    upkeep, _ = routes(recall=ServerFailure(FailureKind.NO_MEMORY, status=404))
    assert await upkeep.recalled(DATASET, "words", "CHUNKS", SOON) == []


async def test_only_memory_is_dropped():
    upkeep, server = routes()
    await upkeep.drop_memory(DATASET, SOON)
    assert server.calls[0].json["memory_only"] is True
    assert server.calls[0].json["dataset_id"] == DATASET
    assert "everything" not in server.calls[0].json
