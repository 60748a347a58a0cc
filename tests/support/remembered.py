"""What a server that is a script says about a dataset with one remembered file."""

from __future__ import annotations

from typing import Any

ACCOUNT = "11111111-1111-4111-8111-111111111111"
DATASET = "42391ba7-2487-5312-8912-589684ac04d2"
FIRST = "0f8fad5b-d9cb-469f-a165-70867728950e"
SECOND = "1f8fad5b-d9cb-469f-a165-70867728950e"
REMEMBER = "/api/v1/remember"
UPDATE = "/api/v1/update"
LISTED = f"/api/v1/datasets/{DATASET}/data"
RUNNING = {"status": "running", "dataset_id": DATASET}
HERE = {"id": DATASET, "name": "agent_sessions", "ownerId": ACCOUNT}


def row(
    identifier: str = FIRST, name: str = "notes.md", created: str = "2026-01-01T00:00:00"
) -> dict[str, Any]:
    """Return a document as a server lists it."""
    uri = {"_cognee": {"source_uri": f"file:///tmp/{name}"}}
    return {"id": identifier, "name": name[:-3], "createdAt": created, "externalMetadata": uri}
