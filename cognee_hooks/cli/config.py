"""``cognee-hooks config``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_problems,
    print_table,
)
from cognee_hooks.settings import Row


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    add_json_option(parser)
    parser.add_argument(
        "--markdown", action="store_true", help="print all settings with their defaults"
    )


def run(options: argparse.Namespace) -> int:
    """List settings; exit code 1 where something in the configuration is wrong."""
    host = make_host(options.agent, options.plugins)
    rows = host.settings.rows()
    problems = host.settings.problems
    if options.markdown:
        print(markdown_table(rows))
        return 0
    if options.json:
        print_json(
            {
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
                    }
                    for row in rows
                ],
                "problems": [
                    {"name": each.name, "source": each.source, "message": each.message}
                    for each in problems
                ],
            }
        )
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
    return 1 if problems else 0


def markdown_table(rows: Iterable[Row]) -> str:
    """Return the settings with their defaults as a Markdown table."""
    lines = ["| setting | variable | default | what it does |", "| --- | --- | --- | --- |"]
    for row in rows:
        name = f"{row.section}.{row.name}".lstrip(".")
        default = "" if row.default in {"", "********"} else f"`{row.default}`"
        lines.append(f"| `{name}` | `{row.env}` | {default} | {row.help} |")
    return "\n".join(lines)
