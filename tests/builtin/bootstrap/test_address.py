from __future__ import annotations

from pathlib import Path

import pytest

from builtin_plugins.bootstrap.address import port_of, why_not
from cognee_hooks.core_settings import CoreSettings, Mode, decide_mode
from cognee_hooks.services.address import is_loopback
from cognee_hooks.settings import Settings


def mode(url: str, **changes: object) -> Mode:
    fields = {"backend": "local", "reason": "no other server is set", "explicit_url": False}
    return Mode(url=url, **(fields | changes))


def decided(**environ: str) -> Mode:
    settings = Settings.load(environ)
    return decide_mode(settings, settings.resolve("", CoreSettings))


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://localhost:8011", 8011),
        ("http://localhost", 80),
        ("https://localhost", 443),
        ("not a url", 8011),
        ("http://localhost:eighty", 8011),
    ],
)
def test_v33_the_port_of_an_address(url: str, port: int):
    assert port_of(url) == port


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://LOCALHOST:1", True),
        ("http://0.0.0.0:9", False),
        ("http://127.0.0.2:8011", True),
        ("http://[::1]:8011", True),
    ],
)
def test_v34_w20_addresses_are_read_not_compared(url: str, local: bool):
    assert is_loopback(url) is local


def test_the_default_address_is_where_a_server_may_start():
    assert why_not(decided()) == ""


@pytest.mark.parametrize(
    "environ",
    [
        {"COGNEE_BASE_URL": "http://localhost:9000"},
        {"COGNEE_LOCAL_API_URL": "http://localhost:9000"},
        {"COGNEE_LOCAL_API_URL": "http://localhost:8011"},
        {"COGNEE_BACKEND": "local", "COGNEE_LOCAL_API_URL": "http://127.0.0.1:9000"},
        {"COGNEE_BACKEND": "cloud"},
    ],
)
def test_p08_no_server_starts_at_an_address_that_the_person_named(environ: dict[str, str]):
    assert why_not(decided(**environ))


def test_p08_a_named_address_in_the_shared_file_counts_too(isolated_environment: Path):
    file = isolated_environment / ".env"
    file.write_text("COGNEE_LOCAL_API_URL=http://localhost:8011\n")
    settings = Settings.load({}, env_file=file)
    found = decide_mode(settings, settings.resolve("", CoreSettings))
    assert "You named the server's address" in why_not(found)


@pytest.mark.parametrize(
    "url",
    ["https://localhost:8011", "http://localhost:80", "http://localhost", "http://0.0.0.0:8011"],
)
def test_w20_only_plain_http_on_an_own_port_of_this_machine(url: str):
    assert why_not(mode(url))
