"""The chain: its order, and that nothing leaves when any part of it fails."""

from __future__ import annotations

import json
import logging
import threading
import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognee_hooks.errors import RedactionFailed
from cognee_hooks.redaction import Pattern, RedactionPipeline, Redactor
from cognee_hooks.redaction.pipeline import MAX_INPUT
from tests.unit.redaction.hostile import FAULTS, Answer, NoText, forever

KEY = "AKIA" + "Q7ZK2M4N6P8R1T3V"
SECRET_TEXT = "the codename is Bluebottle-Heron"
CORPUS_WORDS = [
    "token",
    "=",
    ": ",
    '"',
    "'",
    "password",
    "\n",
    "sk-",
    "Bearer ",
    "<",
    ">",
    "--",
    "@",
    "://",
    "\\",
    "[redacted:x]",
    "[red",
    "a1B2c3D4",
    "value",
    "name",
    "eyJ",
    ".",
    "cookie",
]


def functional(function, name="custom-one"):
    return Redactor(name, function=function)


async def redact_one_way(pipeline, value, *, blocking):
    return pipeline.redact_blocking(value) if blocking else await pipeline.redact(value)


async def redact_both_ways(make, value, **options):
    """Return the two outcomes of a pipeline made afresh, which must be alike."""
    blocking = make().redact_blocking(value, **options).value
    assert (await make().redact(value, **options)).value == blocking
    return blocking


async def test_a_text_passes_private_marks_rules_redactors_and_patterns_in_order():
    seen: list[str] = []

    def function(text: str) -> str:
        seen.append(text)
        return text.replace("Bluebottle", "[redacted:bird]")

    def make() -> RedactionPipeline:
        return RedactionPipeline([functional(function)], [r"EMP-\d+"])

    text = f"a <private>p</private>b {KEY} Bluebottle EMP-1234 \ud800"
    after = await redact_both_ways(make, text)
    assert after == ("a b [redacted:aws-access-key-id] [redacted:bird] [redacted:custom] \ufffd")
    assert set(seen) == {"a b [redacted:aws-access-key-id] Bluebottle EMP-1234 \ufffd"}


def test_redactors_run_in_the_order_of_their_names():
    pipeline = RedactionPipeline(
        [functional(lambda text: text + "2", "b"), functional(lambda text: text + "1", "a")]
    )
    assert pipeline.redact_blocking("x").value == "x12"


def test_a_redactor_cannot_bring_a_secret_back():
    pipeline = RedactionPipeline([functional(lambda text: text + " " + KEY)])
    assert pipeline.redact_blocking("x").value == "x [redacted:aws-access-key-id]"


async def test_patterns_of_a_redactor_carry_its_label_and_their_group():
    redactor = Redactor(
        "staff",
        label="employee",
        patterns=(Pattern(r"EMP-(\d+)", group=1), Pattern("desk", "seat")),
    )
    after = await redact_both_ways(lambda: RedactionPipeline([redactor]), "EMP-77 at desk 4")
    assert after == "EMP-[redacted:employee] at [redacted:seat] 4"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_fault_drops_the_payload_and_leaves_no_text_anywhere(fault, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    for blocking in (False, True):
        pipeline = RedactionPipeline([functional(fault)])
        with pytest.raises(RedactionFailed) as caught:
            await redact_one_way(pipeline, {"text": SECRET_TEXT}, blocking=blocking)
        error = caught.value
        assert error.redactor == "custom-one"
        assert error.__context__ is None
        assert error.__cause__ is None
        told = "".join(traceback.format_exception(error)) + repr(error) + caplog.text
        output = capfd.readouterr()
        assert "Bluebottle" not in told + output.out + output.err
        assert pipeline.closed_because == ""


async def test_a_fault_drops_one_payload_and_the_next_passes():
    answers = iter([Answer(7), Answer("fine")])
    pipeline = RedactionPipeline([functional(lambda _: next(answers).value)])
    with pytest.raises(RedactionFailed):
        await pipeline.redact(SECRET_TEXT)
    assert (await pipeline.redact(SECRET_TEXT)).value == "fine"


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
async def test_a_redactor_that_does_not_answer_closes_the_chain(blocking):
    release = threading.Event()
    pipeline = RedactionPipeline([functional(forever(release))], redactor_timeout=0.02)
    try:
        for cause in ("timeout", "closed"):
            with pytest.raises(RedactionFailed) as caught:
                await redact_one_way(pipeline, SECRET_TEXT, blocking=blocking)
            assert caught.value.cause_type == cause
            assert caught.value.__context__ is None
        assert "custom-one" in pipeline.closed_because
        assert "Bluebottle" not in pipeline.closed_because
    finally:
        release.set()


@pytest.mark.parametrize(
    "pattern",
    ["(unclosed", r"(?=ahead)", r"(a)\1", "x{1001}"],
    ids=["syntax", "ahead", "back", "repeat"],
)
async def test_a_custom_pattern_that_cannot_be_used_closes_the_chain_at_load(pattern, capfd):
    pipeline = RedactionPipeline(custom_patterns=["fine", pattern])
    assert pipeline.closed_because.startswith("Nothing is captured or sent, because pattern 2 of ")
    assert "COGNEE_CAPTURE_REDACT_PATTERNS" in pipeline.problems[0]
    with pytest.raises(RedactionFailed, match="closed"):
        await pipeline.redact("harmless")
    with pytest.raises(RedactionFailed, match="closed"):
        pipeline.redact_blocking("harmless")
    assert capfd.readouterr() == ("", "")


def test_a_pattern_with_a_group_that_it_lacks_closes_the_chain():
    redactor = Redactor("staff", patterns=(Pattern("abc", group=1),))
    pipeline = RedactionPipeline([redactor])
    assert pipeline.problems == ("pattern 1 of staff has no group 1",)
    with pytest.raises(RedactionFailed):
        pipeline.redact_blocking("x")


def test_a_reason_from_outside_closes_the_chain():
    pipeline = RedactionPipeline(closed_because="The redactor 'x' is required and missing.")
    assert pipeline.closed_because == "The redactor 'x' is required and missing."
    with pytest.raises(RedactionFailed, match="closed"):
        pipeline.redact_blocking("x")


def test_custom_patterns_match_in_linear_time():
    pipeline = RedactionPipeline(custom_patterns=["(a+)+$"])
    assert pipeline.redact_blocking("a" * 50_000 + "!").value == "a" * 50_000 + "!"
    assert pipeline.redact_blocking("b aaaa").value == "b [redacted:custom]"


def test_a_pattern_that_matches_nothing_at_all_places_is_harmless():
    assert RedactionPipeline(custom_patterns=["z*"]).redact_blocking("abc").value == "abc"


async def test_switched_off_only_private_marks_and_surrogates_are_cared_for():
    def make() -> RedactionPipeline:
        return RedactionPipeline([functional(lambda _: "never")], ["(bad"], enabled=False)

    assert make().problems
    assert make().closed_because == ""
    value = {"password": "hunter2", "text": f"{KEY} <private>x</private>\ud800"}
    after = await redact_both_ways(make, value)
    assert after == {"password": "hunter2", "text": f"{KEY} \ufffd"}
    assert make().explain(KEY) == (KEY, [])


def test_explain_says_which_rule_cut_what_and_never_shows_it():
    pipeline = RedactionPipeline(
        [Redactor("staff", patterns=(Pattern(r"EMP-\d+", "employee"),))], ["Heron"]
    )
    text, hits = pipeline.explain(f"{KEY} EMP-12 Heron password=hunter2")
    assert text == (
        "[redacted:aws-access-key-id] [redacted:employee] [redacted:custom]"
        " password=[redacted:password]"
    )
    assert {(hit.rule, hit.label) for hit in hits} == {
        ("aws-access-key-id", "aws-access-key-id"),
        ("staff", "employee"),
        ("COGNEE_CAPTURE_REDACT_PATTERNS", "custom"),
        ("assignment", "password"),
    }
    assert "hunter2" not in repr(hits)


@pytest.mark.parametrize("cap", [500, 4000, 8000, 20, 80])
def test_a_key_that_straddles_a_cap_leaves_no_fragment(cap):
    pipeline = RedactionPipeline()
    fragments = {KEY[at : at + 8] for at in range(len(KEY) - 7)}
    for offset in range(max(0, cap - len(KEY) - 4), cap + 4):
        text = ("word " * (offset // 5 + 1))[:offset] + " " + KEY + " and a tail" * 3
        for value in (text, {"output": text}, {"output": {"deep": [text]}}):
            for flatten in (False, True):
                after = json.dumps(
                    pipeline.redact_blocking(value, max_bytes=cap, flatten=flatten).value
                )
                assert not [each for each in fragments if each in after]


def test_a_text_that_is_too_long_is_cut_between_words():
    start = "word " * ((MAX_INPUT - 15) // 5)
    for gap in range(24):
        after = (
            RedactionPipeline(enabled=True).redact_blocking(start + " " * gap + KEY + " tail").value
        )
        assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in after]


def test_a_text_that_is_too_long_and_has_no_gap_loses_what_could_be_half_a_key():
    filler = "," * (MAX_INPUT - 10)
    after = RedactionPipeline().redact_blocking(filler + KEY + "," * 99).value
    assert KEY[:8] not in after
    assert after.endswith("[left out: text too long]")


async def test_flattened_objects_hold_strings_only():
    value = {"text": "a", "list": [1, None, {"password": "x"}], "none": None, "number": 1.5}
    after = await redact_both_ways(RedactionPipeline, value, flatten=True, max_bytes=20)
    assert after == {"text": "a", "list": '[1,null,{"passwor...', "none": "null", "number": "1.5"}
    assert RedactionPipeline().redact_blocking("text", flatten=True).value == "text"


def test_a_text_with_methods_of_its_own_is_taken_as_plain_text():
    after = RedactionPipeline().redact_blocking({"text": NoText(f"x {KEY}")}).value
    assert after == {"text": "x [redacted:aws-access-key-id]"}
    assert type(after["text"]) is str


@given(st.text())
def test_redacting_twice_is_redacting_once(text):
    pipeline = RedactionPipeline()
    once = pipeline.redact_blocking(text).value
    assert pipeline.redact_blocking(once).value == once


@settings(max_examples=300)
@given(st.lists(st.sampled_from(CORPUS_WORDS), max_size=14).map("".join))
def test_redacting_syntax_twice_is_redacting_once(text):
    pipeline = RedactionPipeline()
    once = pipeline.redact_blocking(text).value
    assert pipeline.redact_blocking(once).value == once


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["same", "upper", "pattern"]), max_size=4),
    st.sampled_from(FAULTS),
    st.integers(0, 4),
)
def test_a_chain_with_one_faulty_member_never_emits(kinds, fault, place):
    members = [_member(kind, f"m{number}") for number, kind in enumerate(kinds)]
    members.insert(place, Redactor(f"m{place}-faulty", function=fault))
    pipeline = RedactionPipeline(members)
    with pytest.raises(RedactionFailed) as caught:
        pipeline.redact_blocking([SECRET_TEXT])
    assert caught.value.redactor == f"m{place}-faulty"


def _member(kind: str, name: str) -> Redactor:
    if kind == "pattern":
        return Redactor(name, patterns=(Pattern("zzz"),))
    return Redactor(name, function=str.upper if kind == "upper" else lambda text: text)
