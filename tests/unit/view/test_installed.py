from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from cognee_hooks.registry import PluginState
from cognee_hooks.services.paths import Paths
from cognee_hooks.view.installed import InstalledPlugins
from tests.support.command import install_plugin
from tests.support.waiting import wait_until

REGISTERS = """
from cognee_hooks import hookimpl


class Threaded:
    @hookimpl
    def cognee_register_lanes(self):
        return []


PLUGIN = Threaded()
"""


@pytest.fixture
def config(isolated_environment) -> Path:
    path = Paths.of(os.environ, "pi").config_file
    path.parent.mkdir(parents=True)
    return path


def states(installed: InstalledPlugins) -> dict[str, PluginState]:
    return {each.name: each.state for each in installed.look().records}


def test_plugins_that_are_blocked_are_there_with_the_reason(config, tmp_path):
    config.write_text("plugins:\n  block: [recall]\n")
    installed = InstalledPlugins(dict(os.environ), tmp_path)
    assert (states(installed)["recall"], states(installed)["capture"]) == (
        PluginState.BLOCKED,
        PluginState.ACTIVE,
    )
    (recall,) = [each for each in installed.look().records if each.name == "recall"]
    assert "config" in recall.reason


def test_another_configuration_is_looked_at_and_the_same_one_is_not(config, tmp_path):
    installed = InstalledPlugins(dict(os.environ), tmp_path)
    assert states(installed)["recall"] is PluginState.ACTIVE
    assert installed.look() is installed.look()
    config.write_text("plugins:\n  block: [recall]\n")
    assert states(installed)["recall"] is PluginState.BLOCKED
    config.unlink()
    assert states(installed)["recall"] is PluginState.ACTIVE


def test_no_look_leaves_a_plugins_thread_behind(config, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "threaded_plugin"
    install_plugin(tmp_path, name, REGISTERS, "PLUGIN")
    assert states(InstalledPlugins(dict(os.environ), tmp_path))[name] is PluginState.ACTIVE
    wait_until(lambda: not [each for each in threading.enumerate() if name in each.name])


def test_what_is_wrong_with_the_configuration_is_told(config, tmp_path):
    config.write_text("plugins: [\n")
    (problem, *_) = InstalledPlugins(dict(os.environ), tmp_path).look().problems
    assert "config.yaml" in problem


def test_what_is_said_in_the_shared_settings_is_looked_at_again_too(config, tmp_path):
    installed = InstalledPlugins(dict(os.environ), tmp_path)
    assert not installed.look().problems
    env_file = Paths.of(os.environ, "pi").env_file
    env_file.parent.mkdir(parents=True)
    env_file.write_text("COGNEE_CAPTURE=perhaps\n")
    assert installed.look().problems
