"""A minimal API description: the routes, and what clients look up to tell versions apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_PARAMETER = re.compile(r"\{(\w+)\}")


def openapi_document(routes: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The OpenAPI document.

    Args:
        routes: Method and path of every route.
    """
    paths: dict[str, dict[str, Any]] = {}
    for method, path in routes:
        parameters = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PARAMETER.findall(path)
        ]
        operation = {"parameters": parameters, "responses": {"200": {"description": "Success"}}}
        paths.setdefault(path, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "cognee-hooks embedded memory server", "version": "1.0.0"},
        "paths": paths,
        "components": {"schemas": {"QAEntry": _question_entry()}},
    }


def _question_entry() -> dict[str, Any]:
    """That this lists ``node_set`` is how a client tells 1.6.5 from 1.6.0."""
    text = {"type": "string"}
    return {
        "type": "object",
        "required": ["question", "answer"],
        "properties": {
            "type": {"const": "qa"},
            "question": text,
            "answer": text,
            "context": text,
            "node_set": {"type": "array", "items": text},
        },
    }
