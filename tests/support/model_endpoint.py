"""A model endpoint on loopback that speaks the part of the OpenAI API a cognee server asks for.

It makes a real cognee server work with no network and no model: chat completions answer with the
smallest JSON value that fits the schema in the request (a graph extraction gets the names found in
the text), and embeddings are hashed bags of words, so that texts sharing words are close and recall
means something. Everything is deterministic.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from tests.support.http_server import Handler, HttpServer

DIMENSIONS = 384

_WORD = re.compile(r"[A-Za-z0-9]+")
_IDENTIFIER = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")
_MAX_NODES = 6


def embed(text: str) -> list[float]:
    """The unit vector of a text: each word counts in one of 384 buckets."""
    vector = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
        vector[int.from_bytes(digest) % DIMENSIONS] += 1.0
    norm = math.sqrt(sum(value * value for value in vector))
    if norm == 0:
        vector[0] = norm = 1.0
    return [value / norm for value in vector]


def smallest(schema: Any, root: dict[str, Any]) -> Any:
    """The smallest value that a JSON schema allows; ``$ref`` points into the root."""
    if not isinstance(schema, dict):
        return "none"
    if reference := schema.get("$ref"):
        node: Any = root
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
        return smallest(node, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if options := schema.get(union):
            nullable = any(option.get("type") == "null" for option in options)
            return None if nullable else smallest(options[0], root)
    return _smallest_of_type(schema, root)


def _smallest_of_type(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    match schema.get("type", "object" if "properties" in schema else "string"):
        case "object":
            properties = schema.get("properties", {})
            names = schema.get("required", [])
            return {name: smallest(properties.get(name), root) for name in names}
        case "array":
            return [smallest(schema.get("items"), root)] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return "none".ljust(schema.get("minLength", 0), "e")


def knowledge_graph(text: str) -> dict[str, Any]:
    """Nodes for the CamelCase names of a text, joined in a chain, in the form of an extraction."""
    names = list(dict.fromkeys(_IDENTIFIER.findall(text)))[:_MAX_NODES]
    nodes = [
        {"id": name, "name": name, "type": "Component", "description": f"{name} is a component."}
        for name in names
    ]
    edges = [
        {
            "source_node_id": left,
            "target_node_id": right,
            "relationship_name": "mentioned_with",
            "description": f"{left} is mentioned with {right}.",
        }
        for left, right in itertools.pairwise(names)
    ]
    return {"nodes": nodes, "edges": edges}


def _json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object that is written somewhere in a text."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            if isinstance(value, dict):
                yield value
        position = text.find("{", end)


def _wanted_schema(request: dict[str, Any]) -> dict[str, Any] | None:
    form = request.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema: dict[str, Any] = form["json_schema"]["schema"]
        return schema
    if form.get("type") == "json_object":
        for message in request.get("messages", []):
            for candidate in _json_objects(str(message.get("content", ""))):
                if "properties" in candidate:
                    return candidate
        return {}
    return None


def completion(request: dict[str, Any]) -> str:
    """The text of the answer to a chat completion request."""
    schema = _wanted_schema(request)
    said = [str(message.get("content", "")) for message in request.get("messages", [])]
    if schema is None:
        return "none"
    if {"nodes", "edges"} <= set(schema.get("properties", {})):
        return json.dumps(knowledge_graph(said[-1] if said else ""))
    return json.dumps(smallest(schema, schema))


class _Handler(Handler["ModelEndpoint"]):
    def post(self) -> None:
        request = self.document()
        self.send_json(
            _embeddings(request) if self.path.endswith("/embeddings") else _chat(request)
        )


def _embeddings(request: dict[str, Any]) -> dict[str, Any]:
    given = request["input"]
    texts = given if isinstance(given, list) else [given]
    data = [
        {"object": "embedding", "index": index, "embedding": embed(str(text))}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": request.get("model"), "usage": usage}


def _chat(request: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": completion(request)}
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


class ModelEndpoint(HttpServer):
    """The endpoint as a context manager, served by threads on a free loopback port.

    Attributes:
        url: Base URL to configure as the OpenAI-compatible endpoint, ending in ``/v1``.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.url = f"{self.root}/v1"
