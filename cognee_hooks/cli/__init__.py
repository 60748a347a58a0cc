"""The ``cognee-hooks`` command; each subcommand is a module that is imported when it is used."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from cognee_hooks.errors import CogneeHooksError, UsageError

COMMANDS: dict[str, str] = {
    "daemon": "look after the process that serves the agents",
    "demo": "play a whole session against a small local server and show what happens",
    "status": "show daemon, server, and what waits to be sent",
    "sessions": "list conversations with what was captured, sent and recalled",
    "recap": "sum one session up: what it captured, recalled and cost",
    "stats": "add up what memory did and cost, by day, agent or dataset",
    "ledger": "show what went into the model's context and what became of captures",
    "view": "show sessions, injections, buffer and plugins on a local page, live",
    "doctor": "check this installation: server, key, settings, plugins",
    "install": "set an agent up to use this memory",
    "uninstall": "undo an install, and leave the agent's files as they were",
    "plugins": "list plugins and where they stand",
    "hooks": "list the hooks that plugins can implement",
    "new-plugin": "write a plugin package to start from, with tests that pass",
    "config": "list settings with value and source",
    "run": "pass one hook event from standard input through the plugins",
    "preview": "show what an event would send, without sending anything",
    "redact": "take secrets out of text from standard input",
    "scrub": "take a leaked value, read from standard input, out of all that is kept",
    "up": "start the local memory server, and install it where need be",
    "down": "stop the local memory server, until `up`",
    "logs": "show the end of the local memory server's logs",
    "server": "run the small local memory server",
    "tool": "call a tool of the model's, with JSON arguments, in the live session",
    "mcp": "serve the model's tools to an MCP client on standard input and output",
}
"""Subcommands with their one-line help, in the order of the help page."""

USAGE = 2
FAILED = 1
INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Raises instead of leaving, so that each command decides on its exit code."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        Exit code: 0 fine, 1 a problem was found or the work failed, 2 wrong usage, 130 interrupted.
        ``run`` never returns 2, which agents read as "block".
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = next((each for each in arguments if not each.startswith("-")), "")
    try:
        if arguments[:1] == [name] and name not in COMMANDS:
            from cognee_hooks.cli.registered import run_registered

            return run_registered(name, arguments[1:])
        return _run(name, arguments)
    except UsageError as error:
        print(f"cognee-hooks: {error}", file=sys.stderr)
        return FAILED if name == "run" else USAGE
    except CogneeHooksError as error:
        print(f"cognee-hooks: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # Whoever read our output has enough; keep the interpreter from complaining at exit.
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(name: str, arguments: list[str]) -> int:
    parser = _Parser(
        prog="cognee-hooks",
        description="Lasting memory for coding agents, kept by a cognee server.",
        add_help=False,
    )
    parser.add_argument(
        "-h", "--help", action=_HelpAction, nargs=0, help="show this help message and exit"
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for command, text in COMMANDS.items():
        subparser = subparsers.add_parser(command, help=text, description=_sentence(text))
        if command == name:
            _module(command).configure(subparser)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        of = f"{parser.prog} {options.command or ''}".rstrip()
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}. See `{of} --help`.")
    if options.version:
        import cognee_hooks

        print(f"cognee-hooks {cognee_hooks.__version__}")
        return 0
    if options.command is None:
        print(_help(parser))
        return USAGE
    code: int = _module(options.command).run(options)
    return code


def _module(command: str) -> ModuleType:
    return import_module(f"cognee_hooks.cli.{command.replace('-', '_')}")


class _HelpAction(argparse.Action):
    """Prints the help page with the commands of plugins, which are looked for only now."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(_help(parser))
        parser.exit()


def _help(parser: argparse.ArgumentParser) -> str:
    from cognee_hooks.cli.registered import page, table

    rows = [(name, text) for name, text in table() if name not in COMMANDS]
    if not rows:
        return parser.format_help()
    return f"{parser.format_help()}\n{page(rows)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
