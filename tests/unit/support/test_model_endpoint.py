from __future__ import annotations

import json

import httpx

from tests.support.model_endpoint import DIMENSIONS, ModelEndpoint, completion, embed, smallest


def closeness(left: str, right: str) -> float:
    return sum(a * b for a, b in zip(embed(left), embed(right), strict=True))


def test_texts_that_share_words_are_close():
    assert closeness("AlphaService uses RubyLedger", "which ledger? RubyLedger!") > closeness(
        "AlphaService uses RubyLedger", "entirely other words"
    )


def test_the_smallest_value_fits_its_schema():
    schema = {
        "$defs": {"Mood": {"enum": ["calm", "wild"]}},
        "properties": {
            "mood": {"$ref": "#/$defs/Mood"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "count": {"type": "integer", "minimum": 3},
            "optional": {"type": "string"},
        },
        "required": ["mood", "note", "tags", "count"],
    }
    wanted = {"mood": "calm", "note": None, "tags": ["none"], "count": 3}
    assert smallest(schema, schema) == wanted


def test_a_graph_extraction_names_what_the_text_names():
    schema = {"properties": {"nodes": {"type": "array"}, "edges": {"type": "array"}}}
    request = {
        "response_format": {"type": "json_object"},
        "messages": [
            {"role": "system", "content": f"Answer in this schema: {json.dumps(schema)}"},
            {"role": "user", "content": "AlphaService uses the RubyLedger."},
        ],
    }
    graph = json.loads(completion(request))
    assert [node["id"] for node in graph["nodes"]] == ["AlphaService", "RubyLedger"]
    assert graph["edges"][0]["target_node_id"] == "RubyLedger"


def test_the_endpoint_answers_over_http(model_endpoint: ModelEndpoint):
    url = model_endpoint.url
    vectors = httpx.post(f"{url}/embeddings", json={"input": ["a", "b"], "model": "m"}).json()
    assert [len(item["embedding"]) for item in vectors["data"]] == [DIMENSIONS, DIMENSIONS]
    chat = httpx.post(f"{url}/chat/completions", json={"messages": [], "model": "m"}).json()
    assert chat["choices"][0]["message"]["content"] == "none"
