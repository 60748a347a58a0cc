from __future__ import annotations

from cognee_hooks.view.pages import page, refusal


def test_what_stands_in_backticks_is_code():
    assert "<p>Start <code>it</code> again.</p>" in page("No", "Start `it` again.")


def test_nothing_in_it_is_markup():
    made = page("<b>", "a < b & `<i>`", forward='/"><script>')
    assert "<h1>&lt;b&gt;</h1>" in made
    assert "a &lt; b &amp; <code>&lt;i&gt;</code>" in made
    assert "<script>" not in made


def test_it_goes_on_by_itself_or_by_a_link():
    made = page("Opening", "It opens.", forward="/next")
    assert '<meta http-equiv="refresh" content="0; url=/next">' in made
    assert '<a href="/next">Go on</a>' in made
    assert "refresh" not in page("No", "No.")


def test_programs_are_refused_in_json_and_people_on_a_page():
    assert refusal("/api/x", 403, "No", "Never.").body == b'{"error":"No. Never."}'
    assert b"<h1>No</h1>" in bytes(refusal("/x", 403, "No", "Never.").body)
