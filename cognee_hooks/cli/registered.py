"""Runs commands of plugins as subcommands, in the session that is meant.

Nothing of a host is imported here: where an agent's session lives, none is needed in this process.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence

from cognee_hooks.cli import calling
from cognee_hooks.cli.stdin import read_stream
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.printable import one_line
from cognee_hooks.reach import Call, Offer

STDIN_SECONDS = 30.0
HELP_COLUMNS = 79
OPTIONS = frozenset({"--session", "--agent", "--timeout", "-p"})
"""Options of ours that have a value."""
PREFIX = "cognee-"
"""What agents have in front of a command's name."""
HELP = """\
usage: cognee-hooks {name} [--session ID] [--agent AGENT]
                    [--timeout SECONDS] [-p NAME] ...

{told}

It runs in the live session of the agent that calls it, or that works in this
folder; without one, in a session of its own. A lone - reads the text from
standard input, and what stands behind a lone -- is the command's, also where
it looks like an option of ours.

options:
  -h, --help         show this help message and exit
  --session ID       the live session, or the beginning of its id
  --agent AGENT      the session's agent (default: any)
  --timeout SECONDS  when to give up (default: 300)
  -p NAME            load an installed plugin, or with no:NAME leave one out,
                     in a session of its own"""


def run_registered(name: str, arguments: Sequence[str]) -> int:
    """Run a command of a plugin as a subcommand, in the session that is meant.

    Our own options may stand anywhere before a ``--``; everything else is the command's.

    Args:
        name: The subcommand.
        arguments: What stands behind it.

    Returns:
        0 where the command did what it was asked for, 1 where not.

    Raises:
        UsageError: There is no such command or session.
        CallFailed: It came to nothing.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    calling.add_options(parser)
    parser.add_argument("-h", "--help", action="store_true")
    own, words = split(arguments)
    try:
        options = parser.parse_args(own)
    except argparse.ArgumentError as error:
        raise UsageError(f"{error}. See `cognee-hooks {name} --help`.") from error
    if options.help:
        return _help(name, options)
    text = _text(words)

    offered: list[str] = []

    def prepare(offer: Offer) -> Call:
        require(offer, name)
        offered.extend(offer.commands)
        return Call(name=name, text=text)

    answer, _ = calling.call(options, prepare)
    code = calling.finish(answer)
    if not name.startswith(PREFIX):
        _translate(answer.text, offered)
    return code


def _translate(text: str, offered: Sequence[str]) -> None:
    """Say how to type the commands that an answer names as agents know them."""
    named = [each for each in offered if f"{PREFIX}{each.removeprefix(PREFIX)} " in text]
    for each in sorted({each.removeprefix(PREFIX) for each in named}):
        print(f"cognee-hooks: here `{PREFIX}{each}` is `cognee-hooks {each}`", file=sys.stderr)


def require(offer: Offer, name: str) -> None:
    """Refuse a command that nobody brings.

    Raises:
        UsageError: There is none of this name.
    """
    if not offer.has_command(name):
        raise UsageError(
            f"{one_line(name)!r} is no command, and no plugin that is in force brings one of this "
            "name. See `cognee-hooks --help`."
        )


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the words of a command."""
    own: list[str] = []
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return own, words + rest
        if word in OPTIONS:
            own += [word, *rest[:1]]
            rest = rest[1:]
        elif word in {"-h", "--help"} or word.partition("=")[0] in OPTIONS - {"-p"}:
            own.append(word)
        else:
            words.append(word)
    return own, words


def joined(words: Sequence[str]) -> str:
    """Return words of a command line as the one text that a command gets.

    What the shell kept together as one word stays together in quotes; JSON needs none.
    """
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    if word.startswith("{") or (word and not any(each.isspace() for each in word)):
        return word
    for mark in ('"', "'"):
        if mark not in word:
            return f"{mark}{word}{mark}"
    return word


def _text(words: Sequence[str]) -> str:
    if list(words) == ["-"]:
        return read_stream(sys.stdin, Deadline.after(STDIN_SECONDS)).strip()
    return joined(words)


def _help(name: str, options: argparse.Namespace) -> int:
    offer, _ = calling.offer(options)
    require(offer, name)
    told = offer.commands.get(name) or offer.commands.get(f"cognee-{name}", "")
    print(HELP.format(name=one_line(name), told=_wrapped(one_line(told), "")))
    return 0


def page(rows: Sequence[tuple[str, str]]) -> str:
    """Return the commands of plugins as the help page shows them.

    Args:
        rows: Their names and what they do.
    """
    width = max(len(name) for name, _ in rows) + 4
    lines = [f"  {name:<{width - 4}}  {_wrapped(text, ' ' * width)}" for name, text in sorted(rows)]
    return "\n".join(["commands of plugins:", *lines])


def _wrapped(text: str, indent: str) -> str:
    lines = textwrap.wrap(text, HELP_COLUMNS - len(indent), break_on_hyphens=False)
    return f"\n{indent}".join(lines)


def table() -> list[tuple[str, str]]:
    """Return the commands of the plugins that are in force, with their help."""
    from cognee_hooks.agents import DEFAULT_AGENT
    from cognee_hooks.cli.common import make_host

    commands = make_host(DEFAULT_AGENT, []).registered.commands
    return [(one_line(each.name), one_line(each.help)) for each in commands.values()]
