"""What answers about accounts hold, however odd they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.accounts import (
    BadProvision,
    Contract,
    Named,
    Provisioned,
    read_contract,
    read_named,
    read_provisioned,
)

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
PROVISION = "/api/v1/integrations/plugins/{plugin_key}/provision"
ENTRY = "/api/v1/remember/entry"
CREATE_ONLY = {"name": "create_only", "in": "query"}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["paths", PROVISION, ENTRY, "post", "parameters", "name", "in", "id", "created"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def described(provision: object = None, entry: object = None) -> dict[str, object]:
    return {"paths": {PROVISION: {"post": provision}, ENTRY: {"post": entry}}}


@pytest.mark.parametrize(
    ("document", "contract"),
    [
        (described({"parameters": [{"name": "x"}, CREATE_ONLY]}), Contract(provisioning=True)),
        (described({"parameters": [{**CREATE_ONLY, "in": "path"}]}), Contract()),
        (described({"parameters": CREATE_ONLY}), Contract()),
        (
            described(entry={"x-cognee-session-dataset-ids": True}),
            Contract(typed_dataset_ids=True),
        ),
        (described(entry={"x-cognee-session-dataset-ids": "true"}), Contract()),
        ({"paths": []}, Contract()),
        ({}, Contract()),
        ([], None),
        ("x", None),
    ],
)
def test_only_what_is_announced_word_for_word_counts(document, contract):
    assert read_contract(document) == contract


def test_an_account_is_read_in_either_spelling_and_shows_no_key():
    key = "k" * 30
    for names in (("apiKey", "agentId"), ("api_key", "agent_id")):
        document = {names[0]: key, names[1]: ID.upper(), "created": True}
        found = read_provisioned(document, "owner")
        assert found == Provisioned(ID, key)
        assert key not in repr(found)


@pytest.mark.parametrize("key", ["", "has a blank", "line\nbreak", "k" * 2000, None, ["k"]])
def test_a_key_that_cannot_be_sent_is_none(key):
    with pytest.raises(BadProvision) as bad:
        read_provisioned({"apiKey": key, "agentId": ID, "created": True}, "owner")
    assert bad.value.reason == "incomplete"


def test_names_of_fields_are_told_and_values_never():
    with pytest.raises(BadProvision) as bad:
        read_provisioned({"apiKey": "secret-value", "b": 1, "created": False}, "owner")
    assert bad.value.fields == ("apiKey", "b", "created")
    assert "secret-value" not in f"{bad.value!r} {bad.value} {vars(bad.value)}"
    assert isinstance(bad.value, ServerFailure)


def test_lists_of_named_things_pass_over_what_has_no_id():
    rows = [{"id": ID, "name": "a"}, {"id": "x", "name": "b"}, "row", {"id": ID}]
    assert read_named(rows) == [Named(ID, "a"), Named(ID, "")]
    assert read_named({"id": ID}) is None


@given(JSON)
def test_nothing_that_a_server_says_breaks_the_readers(document):
    assert isinstance(read_contract(document), (Contract, type(None)))
    assert isinstance(read_named(document), (list, type(None)))
    with pytest.raises(BadProvision):
        read_provisioned(document, "owner")
