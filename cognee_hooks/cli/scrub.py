"""``cognee-hooks scrub``: take a leaked value out of everything that we keep."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from cognee_hooks.agents import DEFAULT_AGENT
from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_table,
)
from cognee_hooks.cli.terminal import can_ask
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError, ServerFailure, UsageError
from cognee_hooks.history.sessions import state_folders
from cognee_hooks.host import Host
from cognee_hooks.leak import Leak
from cognee_hooks.printable import clean
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub.check import value_problem
from cognee_hooks.scrub.here import Here
from cognee_hooks.scrub.pending import PendingFile
from cognee_hooks.scrub.server import ServerSide
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.keys import only_looking
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

STOP_SECONDS = 15.0
LOCK_SECONDS = 10.0
LOOK_SECONDS = 600.0
SERVER_SECONDS = 900.0
MAX_VALUE = 64 * 1024
"""Bytes of a value; private keys are a few thousand."""

LEFT = 1
ROTATE = (
    "Whatever was cleaned: the value was on this machine and at the server in the clear. Revoke it "
    "where it was issued, and use a new one."
)
_MARKS = {ScrubState.FOUND: "holds it", ScrubState.CLEANED: "cleaned", ScrubState.LEFT: "stays"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Declared, so that whoever tries is not answered with the value.
    parser.add_argument("value", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="show what holds the value, and change nothing"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="do it without asking")
    parser.add_argument(
        "--local-only", action="store_true", help="leave the server out, and do not ask it either"
    )
    parser.add_argument(
        "--forget-dataset",
        metavar="ID",
        default="",
        help="only delete this dataset, with all that is in it, because its name holds the value",
    )
    add_host_options(parser, agent=False)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Read the value from standard input, show what holds it, ask, and take it out.

    Returns:
        0 where nothing holds it any more, 1 where something does, or the person said no.

    Raises:
        UsageError: No usable value came, or nobody is there to answer.
        CogneeHooksError: The daemon does not end, or the server does not do its part.
    """
    if options.value:
        raise UsageError(
            "the value is read from standard input and never taken from the command line, where "
            "every program sees it; if you typed it there, remove it from your shell's history"
        )
    asked = sys.stdin is not None and sys.stdin.isatty()
    value = _value(prompting=asked)
    environ = current_environ()
    problem = value_problem(value, environ.get("HOME", ""))
    if problem:
        raise UsageError(problem)
    if not asked and not (options.yes or options.dry_run):
        raise UsageError(
            "nobody is there to answer, so nothing was looked at or changed. Add --yes to take the "
            "value out without being asked, or --dry-run to look only"
        )
    if options.json and not (options.yes or options.dry_run):
        raise UsageError("--json needs --yes or --dry-run: a question is no JSON")
    return asyncio.run(_run(options, Leak(value), _folders(environ)))


def _value(*, prompting: bool) -> str:
    """Read the value; it is never echoed."""
    if prompting:
        if not can_ask():
            raise UsageError("there is no terminal to ask on; give the value on standard input")
        return getpass.getpass("Value that leaked (it is not shown): ")
    data = sys.stdin.buffer.read(MAX_VALUE + 1) if sys.stdin is not None else b""
    if len(data) > MAX_VALUE:
        raise UsageError(f"a value has {MAX_VALUE} bytes at most")
    try:
        return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise UsageError("the value is no UTF-8 text") from None


def _folders(environ: dict[str, str]) -> list[Paths]:
    return [*state_folders(environ), Paths.of(environ, "daemon")]


async def _run(options: argparse.Namespace, leak: Leak, folders: Sequence[Paths]) -> int:
    environ = current_environ()
    there = [paths.agent for paths in folders[:-1] if paths.state_dir.is_dir()]
    hosts = [make_host(agent, options.plugins) for agent in there or [DEFAULT_AGENT]]
    work = _Work(options, leak, hosts, Here(hosts, folders, environ, leak), folders[-1])
    try:
        with only_looking():
            return await work.do()
    finally:
        for host in hosts:
            await host.close(Deadline.after(0))


class _Work:
    """One run of the command.

    Args:
        options: Parsed options.
        leak: The value.
        hosts: One for each agent.
        here: This machine's part.
        paths: The daemon's places.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        leak: Leak,
        hosts: Sequence[Host],
        here: Here,
        paths: Paths,
    ) -> None:
        self._options = options
        self._leak = leak
        self._hosts = hosts
        self._here = here
        self._paths = paths

    async def do(self) -> int:
        """Look, ask, and clean; returns the exit code."""
        limit = Deadline.after(SERVER_SECONDS)
        sides, problems = await self._sides(limit)
        if self._options.forget_dataset:
            return await self._forget(sides, limit)
        rows = [*await self._here.look(), *self._here.database(dry_run=True)]
        for side in sides:
            rows += await _tried(side, side.look(limit.within(LOOK_SECONDS)))
        rows += problems
        to_do = any(row.state is ScrubState.FOUND for row in rows)
        if self._options.dry_run or not to_do:
            return self._report(rows, changed=False)
        if not self._options.yes:
            _print(rows)
            if not _agreed():
                print("Nothing was changed.")
                return LEFT
        with self._alone():
            kept = await self._here.plugins(dry_run=False)
            rows = self._here.files(dry_run=False)
            for side in sides:
                rows += await _tried(side, side.clean(limit))
            if sides:
                # A server of this machine has let go of things that its files still hold.
                kept = _settled(kept, await self._here.plugins(dry_run=False))
            rows += [*kept, *self._here.others(kept)]
            rows += self._here.database(dry_run=False)
            rows += await self._still(rows)
        return self._report([*rows, *problems], changed=True)

    async def _still(self, rows: Sequence[Scrubbed]) -> list[Scrubbed]:
        """Look once more at all that lies here; returns what was written meanwhile."""
        known = {row.place for row in rows if row.state is ScrubState.LEFT}
        again = await self._here.look()
        detail = "somebody has written it again; run scrub once more"
        return [
            Scrubbed(place=row.place, state=ScrubState.LEFT, count=row.count, detail=detail)
            for row in again
            if row.place not in known
        ]

    async def _sides(self, limit: Deadline) -> tuple[list[ServerSide], list[Scrubbed]]:
        """Return each account in use, and which servers cannot be asked."""
        sides: dict[tuple[str, str], ServerSide] = {}
        problems: dict[str, Scrubbed] = {}
        for host in () if self._options.local_only else self._hosts:
            url = host.mode.url
            try:
                account = await host.services.client.whoami(limit.within(10.0))
            except ServerFailure as failure:
                detail = (
                    f"it cannot be asked ({failure.kind.value}), so it may hold the value; run "
                    "scrub again when it works, or with --local-only"
                )
                problems[url] = Scrubbed(place=url, state=ScrubState.LEFT, detail=detail)
                continue
            folder = self._paths.daemon_dir.parent / "scrub"
            pending = PendingFile(folder, self._paths.key_file, f"{url}\n{account.id}")
            side = ServerSide(host.services.client, url, account, self._leak, pending)
            sides.setdefault((url, account.id), side)
        return list(sides.values()), list(problems.values())

    async def _forget(self, sides: Sequence[ServerSide], limit: Deadline) -> int:
        dataset = self._options.forget_dataset
        if self._options.dry_run:
            print(f"Would delete dataset {clean(dataset)} with all that is in it (--dry-run).")
            return 0
        if not self._options.yes and not _confirmed_by_id(dataset):
            print("Nothing was changed.")
            return LEFT
        reasons = [await side.forget_dataset(dataset, limit) for side in sides]
        if "" not in reasons:
            raise CogneeHooksError(next(iter(reasons), "no server can be asked"))
        if self._options.json:
            print_json({"deleted": dataset, "advice": ROTATE})
        else:
            print(f"Deleted dataset {clean(dataset)}. {ROTATE}")
        return 0

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Have the daemon finish and end, and let none start meanwhile; events go to the spool."""
        folder = self._paths.daemon_dir
        if not control.stop(folder, Deadline.after(STOP_SECONDS)):
            raise CogneeHooksError(
                f"the daemon has not ended within {STOP_SECONDS:g} s, so nothing was changed; see "
                "`cognee-hooks daemon logs`"
            )
        lock = KernelLock(folder / "lock")
        if not lock.acquire(Deadline.after(LOCK_SECONDS)):
            raise CogneeHooksError(
                "agents start the daemon again and again, so nothing was changed; end them first"
            )
        try:
            yield
        finally:
            lock.release()

    def _report(self, rows: Sequence[Scrubbed], *, changed: bool) -> int:
        left = any(row.state is ScrubState.LEFT for row in rows)
        if self._options.json:
            shown = [{**asdict(row), "state": row.state.value} for row in rows]
            print_json({"changed": changed, "places": shown, "advice": ROTATE})
        else:
            _print(rows)
            if not changed:
                print("Nothing was changed.")
            print(ROTATE)
        return LEFT if left else 0


def _settled(first: Sequence[Scrubbed], later: Sequence[Scrubbed]) -> list[Scrubbed]:
    """Return what became of what plugins keep; what they said later is how it is now."""
    told = {row.place for row in later}
    cleaned = [row for row in first if row.state is ScrubState.CLEANED and row.place not in told]
    return [*cleaned, *later]


async def _tried(side: ServerSide, work: Awaitable[list[Scrubbed]]) -> list[Scrubbed]:
    """Have a server do its part; that it does not is a row, too."""
    try:
        return await work
    except ServerFailure as failure:
        reason = failure.detail or failure.kind.value
    except OSError as error:
        reason = f"what has to go back to it cannot be kept here: {error.strerror}"
    detail = f"its part is not done ({clean(reason)}); run scrub again, and it goes on from there"
    return [Scrubbed(place=side.url, state=ScrubState.LEFT, detail=detail)]


def _print(rows: Sequence[Scrubbed]) -> None:
    if not rows:
        print("Nothing that we keep holds the value.")
        return
    order = [ScrubState.FOUND, ScrubState.CLEANED, ScrubState.LEFT]
    rows = sorted(rows, key=lambda row: order.index(row.state))
    print_table(
        ["", "where", "times", "what it means"],
        [[_MARKS[row.state], row.place, str(row.count or ""), row.detail] for row in rows],
    )


def _agreed() -> bool:
    print("Take the value out of these places? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _confirmed_by_id(dataset: str) -> bool:
    print(f"This deletes all that is in dataset {clean(dataset)}. Type its id again: ", end="")
    sys.stdout.flush()
    return sys.stdin.readline().strip() == dataset
