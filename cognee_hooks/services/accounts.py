"""What answers about accounts hold, read leniently: any field may be missing or alien."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import text_of
from cognee_hooks.services.keys import Key
from cognee_hooks.services.names import canonical_uuid

_PROVISION = "/api/v1/integrations/plugins/{plugin_key}/provision"
_ENTRY = "/api/v1/remember/entry"
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Contract:
    """What a server says that it can do.

    Attributes:
        provisioning: It makes an account for a plugin only where there is none.
        typed_dataset_ids: Session entries may name the dataset of another account by its UUID.
    """

    provisioning: bool = False
    typed_dataset_ids: bool = False


@dataclass(frozen=True, slots=True)
class Provisioned:
    """An account that was made for a plugin.

    Attributes:
        agent_id: Its UUID.
        api_key: Its key; it appears in no representation.
    """

    agent_id: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Named:
    """A tenant or a role.

    Attributes:
        id: Its UUID.
        name: Its name.
    """

    id: str
    name: str


class BadProvision(ServerFailure):
    """The server answered a provisioning with something that cannot be used.

    Attributes:
        reason: What is wrong with it, in a word.
        fields: Names of the fields that the answer had, never their values.
    """

    def __init__(self, reason: str, fields: Sequence[str] = ()) -> None:
        super().__init__(FailureKind.MISCONFIGURED, f"the answer to provisioning is {reason}")
        self.reason = reason
        self.fields = tuple(fields)


def read_contract(document: object) -> Contract | None:
    """Read a server's description; None where it is no object."""
    if not isinstance(document, Mapping):
        return None
    return Contract(
        provisioning=any(
            isinstance(each, Mapping)
            and (each.get("name"), each.get("in")) == ("create_only", "query")
            for each in _list(_operation(document, _PROVISION).get("parameters"))
        ),
        typed_dataset_ids=_operation(document, _ENTRY).get("x-cognee-session-dataset-ids") is True,
    )


def read_provisioned(document: object, principal: str) -> Provisioned:
    """Read the answer to a provisioning, in either spelling.

    Raises:
        BadProvision: It cannot be used; which of the reasons is decided in this order:
            ``not_an_object``, ``incomplete``, ``missing_agent_id``, ``agent_key_equals_principal``.
    """
    if not isinstance(document, Mapping):
        raise BadProvision("not_an_object")
    fields = sorted(str(each)[:_MAX_NAME] for each in document)
    value = text_of(document, "apiKey") or text_of(document, "api_key")
    key = Key(value.strip())
    agent_id = canonical_uuid(text_of(document, "agentId") or text_of(document, "agent_id"))
    if not key.sendable or not document.get("created"):
        raise BadProvision("incomplete", fields)
    if not agent_id:
        raise BadProvision("missing_agent_id", fields)
    if key.value == principal:
        raise BadProvision("agent_key_equals_principal", fields)
    return Provisioned(agent_id, key.value)


def read_named(document: object) -> list[Named] | None:
    """Read a list of tenants or roles; None where it is none. Rows without an id are left out."""
    if not isinstance(document, list):
        return None
    rows = (each for each in document if isinstance(each, Mapping))
    return [
        Named(identifier, text_of(row, "name")[:_MAX_NAME])
        for row in rows
        if (identifier := canonical_uuid(text_of(row, "id")))
    ]


def _operation(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    paths = document.get("paths")
    item = paths.get(path) if isinstance(paths, Mapping) else None
    operation = item.get("post") if isinstance(item, Mapping) else None
    return operation if isinstance(operation, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
