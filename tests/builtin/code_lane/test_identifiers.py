from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.code_lane.identifiers import LONGEST, SHORTEST, identifiers
from cognee_hooks.redaction import RedactionPipeline
from tests.support.redacted import redacted

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        (
            "Does process_payment in billing/api.py call UserService? See `AuthMiddleware`.",
            ["AuthMiddleware", "billing/api.py", "api.py", "process_payment", "UserService"],
        ),
        ("how does auth work here?", []),
        ("example.com is down", []),
        ("Use GitHub and TypeScript", []),
        ("see `git status` now", []),
        ("see `foo` now", ["foo"]),
        ("`src/a.ts:10`", ["src/a.ts:10", "src/a.ts"]),
        ("e.g. this i.e. that", []),
        ("self.client.recall fails", ["self.client.recall"]),
        ("foo.bar()", ["foo.bar"]),
        ("file.cpp", ["file.cpp"]),
        ("fix utils.py and utils.py", ["utils.py"]),
        ("https://github.com/o/r/blob/main/x.py", ["github.com/o/r/blob/main/x.py"]),
        ("(`foo_bar`)", ["foo_bar"]),
        ("v1.2.3", []),
        ("naïve_case", ["ve_case"]),
        ("см. process_payment", ["process_payment"]),
    ],
)
def test_names_in_a_prompt(prompt, names):
    assert identifiers(prompt, 10) == names


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("sub.example.com is down", []),
        ("Node.js and Vue.js", []),
        ("README.md please", []),
        ("a.b.c", []),
        ("MAX_RETRIES limit", ["MAX_RETRIES"]),
        ("HTTPServer and JSONParser", ["HTTPServer", "JSONParser"]),
        ("getUserName please", ["getUserName"]),
        ("parseJSON breaks", ["parseJSON"]),
        ("__init__ method", ["__init__"]),
        ("the _private helper", ["_private"]),
        ("std::vector and Ledger::find", ["std::vector", "Ledger::find"]),
        ("call `process_refund()` twice", ["process_refund"]),
        ("Utf8Decoder and S3Client", ["Utf8Decoder", "S3Client"]),
        ("the APIs, PDFs and URLs of macOS and iPhone", []),
        ("1_000_000 rows", []),
    ],
)
def test_w25_all_shapes_of_names_are_seen_and_products_and_hosts_are_none(prompt, names):
    assert identifiers(prompt, 10) == names


async def test_w15_a_secret_is_never_taken_for_a_name():
    prompt = redacted(f"why does `{TOKEN}` fail in process_payment?").value
    assert TOKEN not in prompt
    assert identifiers(prompt, 10) == ["process_payment"]


@pytest.mark.parametrize(
    "prompt",
    [
        "`[redacted:token]`",
        "my_[redacted:token]",
        "[redacted:token]_rest",
        "config.api.[redacted:token]",
        "[redacted:jwt].suffix_part",
        "path/to_x/[redacted:token]/file.py",
    ],
)
def test_w15_what_touches_a_redaction_is_dropped(prompt):
    assert identifiers(prompt, 10) == []


def test_a_name_beside_a_redaction_stays():
    assert identifiers("api_client = [redacted:token]", 10) == ["api_client"]


def test_no_more_names_than_wanted_are_returned():
    assert identifiers("one_a two_b three_c") == ["one_a", "two_b"]


@given(st.text(max_size=400))
def test_any_text_is_survived_and_names_are_bounded(text):
    for name in identifiers(text, 5):
        assert SHORTEST <= len(name) <= LONGEST
        assert "\0" not in name


@pytest.mark.parametrize("unit", ["a.", "a/", "aA", "a_", "`", "`a", "_", "a::", "a-"])
def test_a_hostile_prompt_is_read_in_the_time_of_a_harmless_one(unit):
    # Quadratic patterns would take minutes here.
    identifiers(unit * 20_000, 10)


def test_the_pipeline_cuts_what_the_vector_of_w15_holds():
    value = "`ghp_" + "abcdefghijklmnop1234`"
    assert identifiers(RedactionPipeline().redact_blocking(value).value, 10) in ([], ["redacted"])
