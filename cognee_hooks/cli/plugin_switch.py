"""``cognee-hooks plugins enable|disable NAME``: changes the person's own configuration file."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cognee_hooks._defaults import ESSENTIAL
from cognee_hooks.cli.common import make_host
from cognee_hooks.configuration.edit import with_list
from cognee_hooks.configuration.files import load_mapping
from cognee_hooks.configuration.selection import names_of
from cognee_hooks.errors import CogneeHooksError, UsageError
from cognee_hooks.host import Host
from cognee_hooks.install import engine
from cognee_hooks.install.files import read, refused
from cognee_hooks.install.plan import FileChange, Plan
from cognee_hooks.registry import PluginRecord, PluginState

ACTIONS = ("enable", "disable")


def configure(actions: Any) -> None:
    """Declare both actions.

    Args:
        actions: Subparsers of the command.
    """
    for action, text in zip(
        ACTIONS,
        ("load a plugin again", "leave a plugin out, by a line in your config.yaml"),
        strict=True,
    ):
        parser = actions.add_parser(action, help=text, description=f"{text[0].upper()}{text[1:]}.")
        parser.add_argument("name", metavar="NAME", help="its name, as `plugins --all` lists it")


def run(options: argparse.Namespace) -> int:
    """Change the configuration, and say what holds from now on.

    Returns:
        0 where it holds, 1 where another source than the file says otherwise.

    Raises:
        UsageError: No plugin has this name, or it cannot be left out.
        InstallRefused: The file cannot be changed safely.
    """
    name, on = options.name, options.action == "enable"
    host = make_host(options.agent, options.plugins)
    record = _record(host, name)
    if not on and name in ESSENTIAL:
        raise UsageError(f"{name} cannot be left out: {ESSENTIAL[name]}")
    written = _write(host, record, on=on)
    now = _record(make_host(options.agent, []), name)
    if on and now.state is PluginState.BLOCKED:
        print(f"{name} is still not loaded. {now.reason}")
        return 1
    held = f"{name} is {'on' if on else 'off'}"
    where = f"from the next conversation on ({host.paths.config_file})" if written else "already"
    print(f"{held} {where}.")
    if on and now.state is PluginState.FAILED:
        print(f"It cannot be used, though: {now.reason}")
        return 1
    return 0


def lists_with(
    config: Mapping[str, Any], record: PluginRecord, *, on: bool, autoload: bool
) -> dict[str, list[str]]:
    """Return the lists that have to change so that a plugin is loaded, or left out.

    Args:
        config: What stands under ``plugins`` in the file.
        record: The plugin.
        on: Whether it is to be loaded.
        autoload: Whether installed plugins are loaded that nobody asked for.
    """
    name = record.name
    lists: dict[str, list[str]] = {}
    blocked = list(names_of(config.get("block")))
    if on == (name in blocked):
        lists["block"] = [each for each in blocked if each != name] if on else [*blocked, name]
    if on and config.get("only") is not None:
        lists["only"] = list(dict.fromkeys([*names_of(config["only"]), name]))
    if on and not record.built_in and not autoload:
        lists["require"] = list(dict.fromkeys([*names_of(config.get("require")), name]))
    return lists


def _record(host: Host, name: str) -> PluginRecord:
    found = next((each for each in host.registry.records if each.name == name), None)
    if found is None and name not in ESSENTIAL:
        known = ", ".join(sorted(each.name for each in host.registry.records))
        raise UsageError(f"no plugin is called {name!r}; there are: {known}")
    return found or PluginRecord(name=name, built_in=True)


def _write(host: Host, record: PluginRecord, *, on: bool) -> bool:
    """Change the file; tells whether there was anything to change."""
    path = host.paths.config_file
    before = read(path)
    text = (before or b"").decode("utf-8", "replace")
    config = (load_mapping(text) or {}).get("plugins")
    autoload = host.settings.plugins.autoload
    lists = lists_with(config if isinstance(config, dict) else {}, record, on=on, autoload=autoload)
    try:
        for name, names in lists.items():
            text = with_list(text, ("plugins", name), names)
    except CogneeHooksError as error:
        wanted = "; ".join(f"plugins.{name}: [{', '.join(names)}]" for name, names in lists.items())
        raise refused(path, f"{error}. Write there yourself: {wanted}") from error
    change = FileChange(path=path, before=before, after=text.encode(), wholly_ours=True)
    if not lists or not change.changes:
        return False
    engine.apply(Plan(changes=[change]), datetime.now().astimezone())
    return True
