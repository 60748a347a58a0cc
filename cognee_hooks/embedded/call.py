"""One request as the handlers see it, and how it is read from the wire."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import QueryParams, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from cognee_hooks.embedded.documents import Upload
from cognee_hooks.embedded.errors import detail, validation
from cognee_hooks.embedded.memory import EmbeddedMemory

_UNREADABLE = "There was an error parsing the body"


@dataclass(frozen=True, slots=True)
class RouteCall:
    """What a handler may look at.

    Attributes:
        path: Parameters in the path.
        query: Parameters after the question mark.
        body: The JSON body; empty where the route takes none.
        form: Form fields and uploads in order.
    """

    path: Mapping[str, str]
    query: QueryParams
    body: dict[str, Any] = field(default_factory=dict)
    form: tuple[tuple[str, str | Upload], ...] = ()

    def path_id(self, name: str) -> str:
        """A UUID from the path.

        Raises:
            ApiError: 400 where it is none.
        """
        return _uuid(self.path[name], "path", name)

    def query_id(self, name: str) -> str:
        """A UUID from the query string.

        Raises:
            ApiError: 400 where it is missing or none.
        """
        if name not in self.query:
            raise validation([_issue("missing", ["query", name], "Field required", None)], None)
        return _uuid(self.query[name], "query", name)

    def query_ids(self, name: str) -> list[str]:
        """All UUIDs given under one name in the query string.

        Raises:
            ApiError: 400 where one is none.
        """
        return [_uuid(value, "query", name) for value in self.query.getlist(name)]

    def query_number(self, name: str, default: int, lowest: int, highest: int) -> int:
        """A number from the query string.

        Raises:
            ApiError: 400 where it is none, or outside its limits.
        """
        given = self.query.get(name)
        if given is None:
            return default
        try:
            number = int(given)
        except ValueError:
            number = lowest - 1
        if not lowest <= number <= highest:
            message = f"Input should be an integer from {lowest} to {highest}"
            raise validation([_issue("int_range", ["query", name], message, given)], None)
        return number

    def field(self, name: str) -> str | None:
        """The last form field of that name that is text, or None."""
        values = [value for key, value in self.form if key == name and isinstance(value, str)]
        return values[-1] if values else None

    def fields(self, name: str) -> list[str]:
        """All form fields of that name that are text and not empty."""
        return [
            value for key, value in self.form if key == name and isinstance(value, str) and value
        ]

    def uploads(self, name: str) -> list[Upload]:
        """All files under that name.

        Raises:
            ApiError: 400 where text was sent in the place of a file.
        """
        values = [value for key, value in self.form if key == name]
        for value in values:
            if isinstance(value, str):
                raise detail(
                    400,
                    f"'{name}' accepts file uploads only, but received the text {value[:100]!r}. "
                    f"Choose a file for that item, or remove the item to send no '{name}' at all.",
                )
        return [value for value in values if isinstance(value, Upload)]


Handler = Callable[[EmbeddedMemory, RouteCall], Any]


async def read_json_body(request: Request) -> dict[str, Any]:
    """The JSON object in a request.

    Lone surrogates are replaced: a cognee server takes them and then cannot show the session again.

    Raises:
        ApiError: 400 for anything that is not a JSON object in UTF-8, sent as JSON.
    """
    raw = await request.body()
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise detail(400, _UNREADABLE) from error
    if not text:
        raise validation([_issue("missing", ["body"], "Field required", None)], None)
    if not _is_json(request.headers.get("content-type", "")):
        raise _not_an_object(text)
    try:
        value = json.loads(text, parse_constant=_nothing, parse_float=_finite)
        if "\\ud" in text.lower():
            value = _without_surrogates(value)
    except json.JSONDecodeError as error:
        issue = _issue("json_invalid", ["body", error.pos], "JSON decode error", {})
        raise validation([{**issue, "ctx": {"error": error.msg}}], text) from error
    except (ValueError, RecursionError) as error:
        raise detail(400, _UNREADABLE) from error
    if not isinstance(value, dict):
        raise _not_an_object(value)
    return value


async def read_form(request: Request, max_part: int) -> tuple[tuple[str, str | Upload], ...]:
    """The fields and files of a form, in order.

    Args:
        request: The request.
        max_part: Most bytes of one text field.

    Raises:
        ApiError: 400 for a form that cannot be read.
    """
    try:
        async with request.form(max_part_size=max_part) as form:
            parts: list[tuple[str, str | Upload]] = []
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    parts.append((name, Upload(value.filename or "file", await value.read())))
                else:
                    parts.append((name, value))
            return tuple(parts)
    except (MultiPartException, UnicodeDecodeError) as error:
        raise detail(400, _UNREADABLE) from error


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def _not_an_object(value: Any) -> Exception:
    message = "Input should be a valid dictionary or object to extract fields from"
    return validation([_issue("model_attributes_type", ["body"], message, value)], value)


def _issue(kind: str, loc: list[str | int], message: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "loc": loc, "msg": message, "input": value}


def _uuid(value: str, *loc: str) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError as error:
        message = "Input should be a valid UUID"
        raise validation([_issue("uuid_parsing", [*loc], message, value)], None) from error


def _nothing(_constant: str) -> None:
    """NaN and the infinities are no JSON; the contract stores them as null."""


def _finite(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {
                _without_surrogates(key): _without_surrogates(item) for key, item in value.items()
            }
        case _:
            return value
