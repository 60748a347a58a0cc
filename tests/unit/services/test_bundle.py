from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from cognee_hooks.core_settings import CoreSettings, decide_mode
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.bundle import make_services
from cognee_hooks.services.keys import Key
from cognee_hooks.services.paths import Paths
from cognee_hooks.settings import Settings


@pytest.fixture
def make(tmp_path):
    environ = {"HOME": str(tmp_path)}
    paths = Paths.of(environ, "codex")
    settings = Settings.load(
        environ,
        config_file=paths.config_file,
        env_file=paths.env_file,
        project_dir=None,
        arguments=None,
    )
    core = settings.resolve("", CoreSettings)

    def build(*, client=None, **changes):
        changed = replace(core, **changes)
        mode = decide_mode(settings, changed, "codex")
        return make_services(
            changed, mode, paths, key_source="shell env", clock=time.monotonic, client=client
        )

    return build


async def test_services_speak_to_the_server_that_was_decided(make):
    services = make()
    assert services.client.base_url == services.mode.url
    assert await services.keys.key(Deadline.after(0.5)) is None


async def test_a_configured_key_comes_with_its_source(make):
    services = make(api_key="k1")
    assert await services.keys.key(Deadline.after(30)) == Key("k1", "shell env")


@pytest.mark.parametrize(
    ("chosen", "expected"), [("", None), ("~/b.json", "b.json"), ("/x/b.json", "/x/b.json")]
)
def test_a_file_can_be_moved_by_an_option(make, tmp_path, chosen, expected):
    services = make(breaker_file=chosen)
    default = tmp_path / ".cognee-plugin" / "hooks" / "codex" / "breaker.json"
    assert services.breaker._path == (default if expected is None else tmp_path / Path(expected))


def test_a_client_can_be_replaced(make):
    other = make().client
    services = make(client=other)
    assert services.client is other


def test_making_services_touches_nothing(make, tmp_path):
    make()
    assert list(tmp_path.iterdir()) == []
