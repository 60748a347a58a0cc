from __future__ import annotations

import pytest

from cognee_hooks.services.address import bare, is_loopback, problem_of


@pytest.mark.parametrize(
    "url",
    ["http://localhost:8011", "https://memory.example.com/tenant", "http://[::1]:8011"],
)
def test_a_server_can_be_asked_at_an_address(url):
    assert problem_of(url) == ""


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "not an http or https address"),
        ("localhost:8011", "not an http or https address"),
        ("ftp://example.com", "not an http or https address"),
        ("http://", "not an http or https address"),
        ("http://example.com:0", "not an http or https address"),
        ("http://example.com:99999", "not an http or https address"),
        ("http://[::1", "not an http or https address"),
        ("http://exämple.com", "not an http or https address"),
        ("http://example.com/a b", "not an http or https address"),
        ("http://me:hunter@example.com", "user name or password"),
        ("http://example.com?key=hunter", "before '?' and '#'"),
        ("http://example.com#hunter", "before '?' and '#'"),
    ],
)
def test_an_address_that_cannot_be_asked_is_told_without_being_repeated(url, said):
    assert said in problem_of(url)
    assert "hunter" not in problem_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8011",
        "http://LOCALHOST.",
        "http://127.0.0.1",
        "http://127.0.0.2:1",
        "https://[::1]:8011",
        "http://[::1]",
    ],
)
def test_w37_every_spelling_of_this_machine_is_loopback(url):
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://0.0.0.0",
        "http://[::]",
        "http://127.1",
        "http://192.168.0.1",
        "http://user@example.com#@localhost",
        "http://[::1",
        "",
    ],
)
def test_w37_what_only_resembles_this_machine_is_not_loopback(url):
    assert not is_loopback(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8011", "http://localhost:8011"),
        ("https://me:" + "pass" + "@host.example/base?key=1#x", "https://host.example/base"),
        ("https://to" + "ken@host.example:444", "https://host.example:444"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("http://host:port", "?"),
        ("http://[", "?"),
        ("nonsense", "?"),
        ("http://a/\x1b[2J\x9bb\x07", "http://a/b"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url, expected):
    assert bare(url) == expected
