from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.embedded.chunks import passages


@given(st.text(st.sampled_from("ab \n\té中"), max_size=6000))
def test_passages_are_bounded_not_blank_and_lose_no_visible_character(text: str):
    cut = passages(text)
    assert all(passage.strip() and len(passage) <= 1200 for passage in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())


def test_short_paragraphs_share_a_passage():
    assert passages("# Title\n\nFirst.\n\nSecond.\n") == ["# Title\n\nFirst.\n\nSecond."]


def test_a_long_paragraph_is_cut_at_a_space():
    first, second = passages("word " * 300)
    assert first.endswith("word")
    assert second.startswith("word")


def test_blank_text_has_no_passages():
    assert passages(" \n\n\t\n") == []
