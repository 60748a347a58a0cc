"""The two files on disk, whatever stands in them."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.provisioning.agent_key import AgentKeyFile
from builtin_plugins.provisioning.marker import Marker, MarkerFile
from cognee_hooks.services.accounts import Provisioned

URL = "http://localhost:8011"
AGENT = "0f8fad5b-d9cb-469f-a165-70867728950e"
ROLE = "1f8fad5b-d9cb-469f-a165-70867728950e"
FIELDS = (
    "base_url mode reason tenant_id role_id parent_user_id agent_id granted canonical api_key "
    "principal_fingerprint blocked plugin_version denied_at"
).split()

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from(["", URL, AGENT, ROLE, "shared", "ok"])
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES) | VALUES)
def test_any_json_is_read_without_a_fault(document):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent-key.json"
        path.write_text(json.dumps(document))
        path.chmod(0o600)
        MarkerFile(path, URL, time.time).read()
        AgentKeyFile.of(Path(folder), URL, "pi").read()


def test_what_is_written_has_the_names_that_other_plugins_read(tmp_path):
    keys = AgentKeyFile.of(tmp_path, URL, "pi")
    keys.save(Provisioned(AGENT, "k" * 20), "owner")
    record = json.loads(keys.path.read_text())
    assert set(record) == {
        "base_url",
        "api_key",
        "agent_id",
        "plugin_key",
        "principal_fingerprint",
        "updated_at",
    }
    marker = MarkerFile(tmp_path / "shared-memory.json", URL, lambda: 0.0)
    marker.save(Marker(shared=True, granted={AGENT: None, ROLE: 7.0}, canonical={"a": AGENT}))
    record = json.loads(marker.path.read_text())
    assert set(record) == {
        "base_url",
        "mode",
        "reason",
        "tenant_id",
        "role_id",
        "parent_user_id",
        "agent_id",
        "role_member",
        "granted",
        "canonical",
        "updated_at",
        "plugin_version",
    }
    assert record["granted"] == {AGENT: "ok", ROLE: {"denied_at": 7.0}}
    assert record["updated_at"] == "1970-01-01T00:00:00+00:00"


def test_a_server_without_an_address_has_no_records(tmp_path):
    (tmp_path / "agent-key.json").write_text(json.dumps({"base_url": "", "api_key": "k"}))
    assert AgentKeyFile.of(tmp_path, "", "pi").read() is None
    assert MarkerFile(tmp_path / "agent-key.json", "", time.time).read() == Marker()
