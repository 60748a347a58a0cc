from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import Body, error_text, excerpt, failure_of, stranger

K = FailureKind


def _named(name, text="something went wrong"):
    return {"detail": f"{text} [{name}]"}


@pytest.mark.parametrize(
    ("document", "name", "text"),
    [
        (_named("NoDataError", "No data."), "NoDataError", "No data."),
        (
            {"detail": "Embedding failed. [EmbeddingException]", "remediation": "Start it."},
            "EmbeddingException",
            "Embedding failed. Start it.",
        ),
        ({"detail": "session not found"}, "", "session not found"),
        ({"error": "Invalid remember request."}, "", "Invalid remember request."),
        (
            {"error": {"message": "You have reached the maximum."}},
            "",
            "You have reached the maximum.",
        ),
        ({"status": "errored", "error": "unknown qa", "entry_type": "feedback"}, "", "unknown qa"),
        ({"error": "stopped", "improve_result": {"status": "errored"}}, "", "stopped"),
        (Body.NOT_JSON, "", ""),
        (
            {
                "detail": [
                    {"type": "missing", "loc": ["body", "query"], "msg": "m", "input": {"a": 1}},
                    {"type": "int_type", "loc": ["body", "top_k", 0], "msg": "m", "input": "x"},
                ],
                "body": {"query": "x"},
            },
            "RequestValidationError",
            "body.query: missing; body.top_k.0: int_type",
        ),
    ],
)
def test_w32_each_of_the_eight_error_shapes_gives_a_name_and_a_text(document, name, text):
    found = error_text(document)
    assert (found.name, found.text) == (name, text)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "text",
        7,
        {},
        {"detail": None},
        {"detail": {"a": 1}},
        {"error": [1]},
        {"error": {"message": 3}},
        {"detail": [3, None, {"loc": 7}, {"loc": [{"a": 1}], "type": None}]},
        {"detail": "", "remediation": 3},
    ],
)
def test_an_error_of_no_known_shape_is_survived(document):
    found = error_text(document)
    assert found.name in {"", "RequestValidationError"}
    assert isinstance(found.text, str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["detail", "error", "body", "remediation"]), st.integers(100, 999))
def test_any_answer_is_classified_in_one_bounded_plain_line(value, field, status):
    failure = failure_of(status, {field: value})
    assert len(failure.detail) <= 320
    assert not any(
        unicodedata.category(each) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for each in failure.detail
    )


SECRET = "hunter" + "2-" * 5 + "correct horse"


@given(st.sampled_from(["body", "input", "ctx", "msg"]))
def test_the_request_that_a_validation_error_echoes_is_never_repeated(place):
    problem = {"type": "string_type", "loc": ["body", "entry"], "msg": "m", "input": 1, "ctx": {}}
    document = {"detail": [problem], "body": {}}
    (document if place == "body" else problem)[place] = {"question": SECRET}
    if place == "msg":
        problem["msg"] = f"Input tag '{SECRET}' does not match"
    failure = failure_of(400, document)
    assert failure.kind is K.REJECTED
    assert SECRET not in str(failure) + failure.detail + repr(failure)


def test_a_key_that_the_server_repeats_is_hidden_also_where_the_text_is_cut():
    key = "ab12" * 16
    for padding in range(260, 300):
        failure = failure_of(500, {"error": "x" * padding + f" {key} is bad"}, hide=key)
        assert key[:8] not in str(failure)
    spaced = failure_of(500, {"error": f"{key[:30]}\x1b[0m{key[30:]} [{key}]"}, hide=key)
    assert key not in str(spaced) + spaced.name


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[31mred\x1b[0m", "a red"),
        ("title \x1b]0;owned\x07 end", "title end"),
        ("link \x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "link text"),
        ("clip\x1b]52;c;ZXZpbA", "clip"),
        ("two\nlines\r\nand\ttabs\0", "two lines and tabs"),
        ("\u202eevil\u2069 \u2028x", "evil x"),
        ("lone \ud800 half", "lone half"),
        ("\x9b31mred", "31mred"),
    ],
)
def test_a_line_is_safe_for_a_terminal(raw, shown):
    assert excerpt(raw) == shown


def test_a_long_line_is_cut_visibly():
    assert excerpt("x" * 1_000_000) == "x" * 299 + "…"


@pytest.mark.parametrize(
    ("status", "document", "kind"),
    [
        (400, {"error": "Invalid remember request."}, K.REJECTED),
        (400, {"detail": []}, K.REJECTED),
        (401, {"detail": "Unauthorized"}, K.AUTH),
        (401, Body.PAGE, K.AUTH),
        (402, {"error": "budget", "improve_result": {}}, K.NEEDS_USER),
        (403, _named("PermissionDeniedError"), K.FORBIDDEN),
        (403, Body.NOT_JSON, K.FORBIDDEN),
        (403, Body.PAGE, K.MISCONFIGURED),
        (404, {"detail": "Not Found"}, K.NOT_FOUND),
        (404, _named("DataNotFoundError"), K.NOT_FOUND),
        (405, {"detail": "Method Not Allowed"}, K.NOT_FOUND),
        (407, Body.PAGE, K.MISCONFIGURED),
        (408, Body.NOT_JSON, K.RATE_LIMITED),
        (409, _named("EmbeddingDimensionMismatchError"), K.NEEDS_USER),
        (409, _named("SessionNodeSetConflictError"), K.REJECTED),
        (409, _named("EntityAlreadyExistsError"), K.REJECTED),
        (409, {"error": "An error occurred during remember: x"}, K.SERVER_ERROR),
        (413, Body.PAGE, K.REJECTED),
        (415, _named("UnreadableFileContentError"), K.REJECTED),
        (422, _named("EmbeddingException"), K.MODEL_DOWN),
        (422, _named("SessionQAEntryValidationError"), K.REJECTED),
        (429, Body.PAGE, K.RATE_LIMITED),
        (500, Body.NOT_JSON, K.SERVER_ERROR),
        (502, Body.PAGE, K.SERVER_ERROR),
        (503, _named("CacheConnectionError", "database is locked"), K.UNAVAILABLE),
        (503, Body.PAGE, K.UNAVAILABLE),
        (
            503,
            _named("CacheConnectionError", "1 validation error for SessionQAEntry"),
            K.REJECTED,
        ),
        (504, Body.PAGE, K.SERVER_ERROR),
        (599, {}, K.SERVER_ERROR),
        (418, {}, K.REJECTED),
        (307, Body.NOT_JSON, K.MISCONFIGURED),
        (304, Body.NOT_JSON, K.MISCONFIGURED),
        (101, Body.NOT_JSON, K.MISCONFIGURED),
    ],
)
def test_an_answer_means_what_the_contract_says(status, document, kind):
    failure = failure_of(status, document)
    assert failure.kind is kind
    assert failure.status == status


@pytest.mark.parametrize("name", ["NoDataError", "DatasetNotFoundError"])
def test_an_empty_memory_is_no_error_where_memory_is_read(name):
    assert failure_of(404, _named(name), empty_is_404=True).kind is K.NO_MEMORY


@pytest.mark.parametrize("name", ["NoDataError", "DatasetNotFoundError"])
def test_w46_a_404_where_entries_are_written_is_kept_for_later(name):
    failure = failure_of(404, _named(name))
    assert failure.kind is K.NOT_FOUND
    assert failure.retryable


@pytest.mark.parametrize(
    ("status", "ambiguous"),
    [(503, False), (500, True), (502, True), (504, True), (401, False), (429, False)],
)
def test_only_a_server_that_broke_down_may_have_stored_what_it_was_sent(status, ambiguous):
    assert failure_of(status, Body.NOT_JSON).ambiguous is ambiguous


@pytest.mark.parametrize(
    ("kind", "ambiguous"),
    [
        (K.REFUSED, False),
        (K.UNREACHABLE, False),
        (K.TIMED_OUT, True),
        (K.LOST, True),
    ],
)
def test_w4_only_what_was_surely_not_sent_is_unambiguous(kind, ambiguous):
    assert ServerFailure(kind).ambiguous is ambiguous
    assert not ServerFailure(kind, sent=False).ambiguous


@pytest.mark.parametrize("status", [302, 307, 403, 400])
def test_what_a_stranger_refused_was_surely_not_stored(status):
    failure = failure_of(status, Body.PAGE)
    assert failure.kind is K.MISCONFIGURED
    assert not failure.ambiguous
    assert failure.retryable
    assert stranger("is a page").ambiguous


def test_retry_after_is_taken_along():
    headers = {"retry-after": "7"}
    assert failure_of(429, Body.NOT_JSON, headers=headers).retry_after == 7.0
    assert failure_of(429, Body.NOT_JSON).retry_after is None


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://user:pw@sso.example.com/login?token=abc", "https://sso.example.com"),
        ("/login", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_w10_a_redirect_is_explained_without_what_may_be_secret_in_it(location, told):
    failure = failure_of(302, Body.PAGE, headers={"location": location})
    assert told in failure.detail
    assert "redirect" in failure.detail
    for secret in ("user", "pw@", "abc", "/login", "javascript"):
        assert secret not in failure.detail


def test_an_answer_of_a_stranger_says_what_to_check():
    failure = stranger("is no list")
    assert failure.kind is K.MISCONFIGURED
    assert "is no list" in failure.detail
    assert "URL" in failure.detail
