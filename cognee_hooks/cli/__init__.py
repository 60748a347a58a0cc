"""The ``cognee-hooks`` command; each subcommand is a module that is imported when it is used."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
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
    "doctor": "check this installation: server, key, settings, plugins",
    "install": "set an agent up to use this memory",
    "uninstall": "take that back, and leave an agent's files as they were",
    "plugins": "list plugins and where they stand",
    "hooks": "list the hooks that plugins can implement",
    "config": "list settings with value and source",
    "run": "pass one hook event from standard input through the plugins",
    "preview": "show what an event would send, without sending anything",
    "redact": "take secrets out of text from standard input",
    "up": "start the local memory server, and install it where need be",
    "down": "stop the local memory server, until `up`",
    "logs": "show the end of the local memory server's logs",
    "server": "run the small local memory server",
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
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for command, text in COMMANDS.items():
        subparser = subparsers.add_parser(command, help=text, description=_sentence(text))
        if command == name:
            import_module(f"cognee_hooks.cli.{command}").configure(subparser)
    options = parser.parse_args(arguments)
    if options.version:
        import cognee_hooks

        print(f"cognee-hooks {cognee_hooks.__version__}")
        return 0
    if options.command is None:
        parser.print_help()
        return USAGE
    code: int = import_module(f"cognee_hooks.cli.{options.command}").run(options)
    return code


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
