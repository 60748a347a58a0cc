"""A session in a repository, with the code lane and a server that is a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from builtin_plugins.code_lane.records import IndexRecords
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from tests.support.scripted import RECALL, ScriptedClient
from tests.support.waiting import until

REMEMBER = "/api/v1/remember"
DATASETS = "/api/v1/datasets"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"
RUNS = (
    f"/api/v1/activity/pipeline-runs?limit=100&dataset_id={UUID}&pipeline_name=code_graph_pipeline"
)
STATUS = f"/api/v1/datasets/status?dataset={UUID}&pipeline=code_graph_pipeline"
LOCAL = "http://127.0.0.1:8011"


class CodeServer(ScriptedClient):
    """A server that indexes at once.

    Attributes:
        runs: Its log of runs, newest first.
        ends: What a run comes to; "" for one that is never seen.
        facts: What it knows, by the name or file that is asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[dict[str, Any]] = []
        self.ends = "DATASET_PROCESSING_COMPLETED"
        self.facts: dict[str, list[dict[str, Any]]] = {}
        self.scripts |= {
            REMEMBER: self._take_on,
            RUNS: lambda _: list(self.runs),
            DATASETS: lambda _: [],
            RECALL: self._recall,
        }

    def _take_on(self, _: dict[str, Any]) -> dict[str, Any]:
        if self.ends:
            self.run(self.ends)
        return {"status": "running", "dataset_id": UUID, "pipeline_run_id": None}

    def run(self, status: str, at: str = "2999-01-01T00:00:00") -> None:
        """Add a row to the log of runs."""
        row = {"pipeline_name": "code_graph_pipeline", "status": status, "created_at": at}
        self.runs.insert(0, {**row, "pipeline_run_id": f"run-{len(self.runs)}"})

    def _recall(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        if body["scope"] != ["code"]:
            return []
        query = body.get("code_query") or {}
        if query.get("operation") != "query_facts":
            return []
        found = self.facts.get(query.get("file") or query.get("name", ""), [])
        raw = {"operation": "query_facts", "facts": found, "total": len(found)}
        return [{"source": "code", "text": json.dumps(raw), "raw": raw}]

    @property
    def submitted(self) -> list[dict[str, Any]]:
        """The forms of all submissions."""
        return self.bodies(REMEMBER)

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The code queries of all recalls with scope ``code``."""
        bodies = [each for each in self.bodies(RECALL) if each["scope"] == ["code"]]
        return [each.get("code_query") or {} for each in bodies]


class CodeSession:
    """One session.

    Attributes:
        client: Its server.
        host: Its host.
        cwd: Its folder.
    """

    def __init__(self, home: Path, cwd: Path, **environ: str) -> None:
        self.client = CodeServer()
        self.cwd = cwd
        self.host = Host(
            "claude-code",
            environ={"HOME": str(home), "COGNEE_LOCAL_API_URL": LOCAL, **environ},
            session_id="claude_s1",
            cwd=str(cwd),
            client=self.client,
            entry_points=(),
        )

    @property
    def soon(self) -> Deadline:
        return Deadline.after(10)

    @property
    def records(self) -> IndexRecords:
        import logging

        url = self.host.services.mode.url
        return IndexRecords(self.host.paths.code_dir, url, logging.getLogger("test"))

    @property
    def record(self) -> Any:
        return self.records.around(str(self.cwd))

    async def healthy(self) -> None:
        await until(lambda: self.host.services.health.state == "ok", "a healthy server")

    async def begin(self, **fields: Any) -> None:
        """Let the session begin and the plugin come to a decision."""
        event = SessionStart(session_id="claude_s1", cwd=str(self.cwd), **fields)
        await self.host.session_start(event)
        await self.healthy()

    async def turn(self, **fields: Any) -> None:
        await self.host.stop(Stop(session_id="claude_s1", **fields))

    async def prompt(self, text: str) -> str:
        event = UserPromptSubmit(session_id="claude_s1", prompt=text)
        return (await self.host.user_prompt_submit(event)).context

    async def index(self, text: str = "") -> str:
        return await self.host.registered.commands["index"].run(text)

    async def code(self, text: str) -> str:
        return await self.host.registered.commands["code"].run(text)

    async def ask(self, **arguments: Any) -> str:
        return await self.host.registered.tools["cognee_code"].run(arguments)

    def fails(self, path: str, kind: FailureKind, detail: str = "why") -> None:
        """Have the server fail on a path."""

        def script(_: dict[str, Any]) -> Any:
            raise ServerFailure(kind, detail)

        self.client.scripts[path] = script
