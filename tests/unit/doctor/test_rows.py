from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.doctor.rows import MAX_NAME, MAX_TEXT, Masker, secrets_in
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.settings import MASK

SECRET = "correcthorse" + "batterystaple"


@given(
    before=st.text(max_size=700),
    after=st.text(max_size=700),
    secret=st.text("abcdefXYZ0189-_", min_size=6, max_size=60),
)
def test_a_known_secret_is_in_no_part_of_a_row_wherever_it_stands(before, after, secret):
    text = f"{before}{secret}{after}"
    row = CheckResult(name=text, status=CheckStatus.OK, detail=text, remedy=text)
    shown = Masker([secret]).row(row)
    # It may be spelled by what stands around it, but not more often than there.
    around = f"{before}{MASK}{after}".count(secret)
    for part in (shown.name, shown.detail, shown.remedy):
        assert part.count(secret) <= around
    assert len(shown.name) <= MAX_NAME
    assert len(shown.detail) <= MAX_TEXT


@given(st.text(max_size=2000))
def test_any_text_becomes_one_line(text):
    row = CheckResult(name="x", status=CheckStatus.OK, detail=text)
    assert "\n" not in Masker([]).row(row).detail


def test_the_longest_secret_goes_first():
    assert Masker(["secret", "secret-and-more"]).text("a secret-and-more b") == f"a {MASK} b"


def test_a_password_in_an_address_goes():
    assert Masker([]).text("at https://me:pw@host/x") == f"at https://{MASK}@host/x"


def test_short_values_are_words_and_stay():
    assert Masker(["test"]).text("a test") == "a test"


def test_secrets_are_found_by_the_names_of_variables():
    variables = {
        "LLM_API_KEY": SECRET,
        "COGNEE_API_KEY_CACHE": "/x/api_key.json",
        "DB_PASSWORD": "",
    }
    assert secrets_in(variables, {"GITHUB_TOKEN": f" {SECRET}2 "}) == [SECRET, f"{SECRET}2"]


def test_where_the_shell_is_and_was_is_no_secret():
    assert secrets_in({"PWD": "/home/ann/billing", "OLDPWD": "/home/ann", "DB_PWD": SECRET}) == [
        SECRET
    ]
