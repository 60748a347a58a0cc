"""``cognee-hooks config``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from cognee_hooks.agents import DEFAULT_AGENT
from cognee_hooks.cli import env_template
from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_problems,
    print_table,
)
from cognee_hooks.errors import CogneeHooksError
from cognee_hooks.host import Host
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.settings import MASK, Narrow, OptionRow

MARKDOWN_HEADINGS = ("setting", "variable", "type", "default", "a project may", "what it does")
PROJECT_MAY = {
    Narrow.NEVER: "",
    Narrow.SWITCH_OFF: "switch it off",
    Narrow.ADD: "add to it",
    Narrow.CHOOSE: "choose it",
}
"""What ``.cognee-hooks.yaml`` may do to a setting, in words."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    add_json_option(parser)
    parser.add_argument(
        "--markdown", action="store_true", help="print all settings with their defaults"
    )
    parser.add_argument(
        "--init",
        action="store_true",
        help="write a commented ~/.cognee/.env to start from, where there is none",
    )


def run(options: argparse.Namespace) -> int:
    """List settings; exit code 1 where something in the configuration is wrong."""
    if options.init:
        return _init()
    host = make_host(options.agent, options.plugins)
    rows = host.settings.rows()
    if options.markdown:
        print(markdown_table(rows))
        return 0
    if options.json:
        print_json(_as_json(host, rows))
    else:
        print(f"config file: {host.paths.config_file}")
        print(f"env file:    {host.paths.env_file}")
        print_table(
            ("setting", "variable", "value", "source", "what it does"),
            [
                (f"{row.section}.{row.name}".lstrip("."), row.env, row.value, row.source, row.help)
                for row in rows
            ],
        )
        print_problems(host)
    return 1 if host.settings.problems else 0


def _as_json(host: Host, rows: Iterable[OptionRow]) -> dict[str, object]:
    return {
        "config_file": str(host.paths.config_file),
        "env_file": str(host.paths.env_file),
        "settings": [
            {
                "section": row.section,
                "name": row.name,
                "env": row.env,
                "value": row.value,
                "source": row.source,
                "default": row.default,
                "help": row.help,
                "type": row.type,
                "project": PROJECT_MAY[row.narrow],
            }
            for row in rows
        ],
        "problems": [
            {"name": each.name, "source": each.source, "message": each.message}
            for each in host.settings.problems
        ],
    }


def _init() -> int:
    """Write the template; exit code 1 where there is a file already, which stays as it is."""
    path = Paths.of(current_environ(), DEFAULT_AGENT).env_file
    try:
        env_template.write(path)
    except FileExistsError as error:
        raise CogneeHooksError(
            f"{path} is there already and stays as it is; `cognee-hooks config` shows what of it "
            "is in force"
        ) from error
    except OSError as error:
        raise CogneeHooksError(f"{path} cannot be written: {error.strerror}") from error
    print(f"{path} is written. All of it is commented out; set what you need.")
    return 0


def markdown_table(rows: Iterable[OptionRow]) -> str:
    """Return the settings with types, defaults and what a project may do, as a Markdown table."""
    lines = [f"| {' | '.join(MARKDOWN_HEADINGS)} |", f"|{' --- |' * len(MARKDOWN_HEADINGS)}"]
    for row in rows:
        name = f"{row.section}.{row.name}".lstrip(".")
        default = "" if row.default in {"", MASK} else f"`{row.default}`"
        cells = (f"`{name}`", f"`{row.env}`", row.type, default, PROJECT_MAY[row.narrow], row.help)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
