from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.install.codex_config import trusted_hashes, with_trust, without_trust
from cognee_hooks.install.tomltable import ConfigEditError

WILD = Path(__file__).parents[2] / "data" / "settings" / "codex" / "config.toml"
A, B = "/home/ü ser/.codex/hooks.json:stop:0:0", '/q"uote\\/hooks.json:session_end:1:0'
HASHES = {A: "sha256:aa", B: "sha256:bb"}


def test_tables_are_appended_and_the_rest_is_left_alone():
    text = WILD.read_text()
    trusted = with_trust(text, HASHES)
    assert trusted.startswith(text)
    assert tomllib.loads(trusted)["hooks"]["state"] == {
        A: {"trusted_hash": "sha256:aa"},
        B: {"trusted_hash": "sha256:bb"},
    }
    assert with_trust(trusted, HASHES) == trusted
    assert without_trust(trusted, [A, B], {}) == text


def test_a_file_begins_with_the_first_table():
    assert with_trust("", {A: "x"}) == f'[hooks.state."{A}"]\ntrusted_hash = "x"\n'
    assert without_trust(with_trust("", HASHES), HASHES, {}) == ""


def test_lines_end_as_the_file_has_them():
    trusted = with_trust('model = "x"\r\n', {A: "x"})
    assert "\n" not in trusted.replace("\r\n", "")


def test_a_missing_final_newline_is_added():
    assert with_trust("a = 1", {A: "x"}).startswith("a = 1\n\n[hooks.state")


def test_an_outdated_hash_is_replaced_where_it_stands():
    text = f'[hooks.state."{A}"] # mine\nenabled = true\ntrusted_hash = "old"\n\n[tui]\na = 1\n'
    trusted = with_trust(text, {A: "new"})
    assert trusted == (
        f'[hooks.state."{A}"] # mine\ntrusted_hash = "new"\nenabled = true\n\n[tui]\na = 1\n'
    )


def test_keys_are_found_in_whatever_way_they_are_quoted():
    text = "[ hooks . state . 'a:stop:0:0' ]\ntrusted_hash = 'x'\n"
    assert trusted_hashes(text) == {"a:stop:0:0": "x"}
    assert without_trust(text, ["a:stop:0:0"], {}) == ""
    assert with_trust(text, {"a:stop:0:0": "y"}).splitlines()[1] == 'trusted_hash = "y"'


def test_the_table_above_goes_when_nothing_is_left_in_it():
    text = f'a = 1\n\n[hooks.state]\n\n[hooks.state."{A}"]\ntrusted_hash = "x"\n\n[tui]\nb = 2\n'
    assert without_trust(text, [A], {}) == "a = 1\n\n[tui]\nb = 2\n"
    used = text.replace("[hooks.state]\n", "[hooks.state]\nsomething = {}\n")
    assert "[hooks.state]" in without_trust(used, [A], {})


def test_comments_before_the_next_table_stay():
    text = f'[hooks.state."{A}"]\ntrusted_hash = "x"\n# about the next\n[tui]\nb = 2\n'
    assert without_trust(text, [A], {}) == "# about the next\n[tui]\nb = 2\n"


def test_hooks_that_moved_keep_their_trust():
    text = with_trust(
        "[hooks.state.'x:stop:1:0']\ntrusted_hash = \"theirs\"\n", {"x:stop:0:0": "h"}
    )
    after = without_trust(text, ["x:stop:0:0"], {"x:stop:1:0": "x:stop:0:0"})
    assert trusted_hashes(after) == {"x:stop:0:0": "theirs"}


def test_nothing_changes_where_nothing_of_ours_is_trusted():
    text = WILD.read_text()
    assert without_trust(text, [A], {B: A}) == text
    assert without_trust("broken = ", [A], {}) == "broken = "


@pytest.mark.parametrize(
    "text",
    [
        "broken = ",
        "hooks = 1\n",
        "[hooks]\nstate = {}\n",
        f'[hooks.state]\n"{A}" = {{ trusted_hash = "old" }}\n',
    ],
)
def test_a_file_to_which_lines_cannot_be_added_is_refused(text):
    with pytest.raises(ConfigEditError):
        with_trust(text, {A: "x"})


def test_a_file_from_which_lines_cannot_be_taken_is_refused():
    with pytest.raises(ConfigEditError, match="cannot be edited line by line"):
        without_trust(f'[hooks.state]\n"{A}" = {{ trusted_hash = "old" }}\n', [A], {})


def test_hooks_in_the_configuration_itself_stay():
    text = "[hooks]\nStop = []\n"
    assert without_trust(with_trust(text, {A: "x"}), [A], {}) == text


def test_a_header_that_is_no_table_is_passed_over():
    with pytest.raises(ConfigEditError):
        with_trust('[hooks.state."\\x"]\n', {A: "x"})


def test_states_without_a_hash_are_not_trusted():
    assert (
        trusted_hashes("[hooks.state.a]\nenabled = true\n[hooks.state.b]\ntrusted_hash = 1") == {}
    )
    assert trusted_hashes("[hooks]\nstate = 1") == {}
    assert trusted_hashes("hooks = 1") == {}
    assert trusted_hashes("[hooks.state]\na = 1") == {}


_keys = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
)


@given(hashes=st.dictionaries(_keys, st.text("abc:0", max_size=5), max_size=3))
def test_any_key_can_be_trusted_and_forgotten(hashes):
    text = WILD.read_text()
    trusted = with_trust(text, hashes)
    assert trusted_hashes(trusted) == hashes
    assert without_trust(trusted, hashes, {}) == text
