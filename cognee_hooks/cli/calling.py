"""Calls tools and commands of plugins in the session that a person or a model means."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from cognee_hooks.caller import Caller
from cognee_hooks.cli.options import add_plugins_option
from cognee_hooks.cli.progress import Progress
from cognee_hooks.cli.terminal import TerminalDialogs, can_ask
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError, UsageError
from cognee_hooks.reach import About, Answer, Call, Offer, Reached, Whereabouts, reach
from cognee_hooks.reach.reaching import parent_process
from cognee_hooks.services.process import current_environ

T = TypeVar("T")

TIMEOUT_SECONDS = 300.0
"""How long a call may take, the person's answers included."""
REACH_SECONDS = 20.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which session is meant, and how long a call may take."""
    parser.add_argument(
        "--session", default="", metavar="ID", help="the live session, or the beginning of its id"
    )
    parser.add_argument("--agent", default="", help="the session's agent (default: any)")
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_SECONDS,
        metavar="SECONDS",
        help=f"when to give up (default: {TIMEOUT_SECONDS:g})",
    )
    add_plugins_option(parser, ", in a session of its own")


def call(
    options: argparse.Namespace, prepare: Callable[[Offer], Call], *, quiet: bool = False
) -> tuple[Answer, About]:
    """Call in the session that is meant, and say on standard error which one that is.

    Args:
        options: Parsed options with those of `add_options`.
        prepare: Returns what to call, from what can be called.
        quiet: Say nothing about the session.

    Raises:
        UsageError: The session or what is called does not exist, or several sessions may be meant.
        CallFailed: It came to nothing.
    """
    if not options.timeout > 0:
        raise UsageError("--timeout must be more than 0 seconds")

    async def work(reached: Reached) -> tuple[Answer, About]:
        made = prepare(reached.offer)
        if not quiet:
            print(f"cognee-hooks: {reached.about.sentence}", file=sys.stderr, flush=True)
        with Progress() as progress:
            dialogs = TerminalDialogs(progress) if can_ask() else None
            caller = Caller(dialogs=dialogs, progress=progress.show)
            limit = Deadline.after(options.timeout)
            return await reached.call(made, caller, limit), reached.about

    return asyncio.run(_reached(options, work))


def offer(options: argparse.Namespace) -> tuple[Offer, About]:
    """Return what can be called in the session that is meant, and which one that is.

    Raises:
        UsageError: As `call`.
        CallFailed: As `call`.
    """

    async def work(reached: Reached) -> tuple[Offer, About]:
        return reached.offer, reached.about

    return asyncio.run(_reached(options, work))


def finish(answer: Answer) -> int:
    """Print an answer; returns the exit code."""
    print(answer.text)
    return 1 if answer.failed else 0


async def _reached(options: argparse.Namespace, work: Callable[[Reached], Awaitable[T]]) -> T:
    where = Whereabouts(
        environ=current_environ(),
        cwd=_folder(),
        pid=parent_process(),
        agent=options.agent,
        session=options.session,
        plugins=options.plugins,
    )
    reached = await reach(where, Deadline.after(REACH_SECONDS))
    try:
        return await work(reached)
    finally:
        await reached.close()


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError as error:
        raise CogneeHooksError("this folder does not exist any more; go to another one") from error
