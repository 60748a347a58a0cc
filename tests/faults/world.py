"""A machine in small: a home, an agent's hooks, the daemon that they start, and a memory server."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from random import Random
from typing import Any

from cognee_hooks.daemon import thin_client
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.paths import Paths
from tests.faults.script import Script, Step, short
from tests.faults.server_process import ServerProcess
from tests.support.command import payload
from tests.support.daemon import agent_environment, argv, folder_of

PACE = {
    "COGNEE_REQUEST_TIMEOUT_MS": "600",
    "COGNEE_HEALTH_TIMEOUT_MS": "500",
    "COGNEE_RECALL_TIMEOUT_MS": "600",
    "COGNEE_BRIDGE_SETTLE_MS": "1500",
    "COGNEE_BRIDGE_BACKOFF_MS": "300",
    "COGNEE_BUFFER_LIMIT": "1000",
}
"""Settings under which a server is given up soon, and looked for again soon; how long it may go on
with what was given up is `tests.faults.kinds.LATE`."""
HOOK_SECONDS = 20.0
ASK_SECONDS = 3.0
UP_SECONDS = 30.0
HOOK_MOMENT = 0.03
"""Seconds that a hook takes about, so that one is killed at any stage of its work."""
LOG_LINES = 30
CALM = 3
"""Looks in a row without a daemon after which there is none."""
UNLIMITED = resource.RLIM_INFINITY


@asynccontextmanager
async def opened_world(**settings: str) -> AsyncIterator[World]:
    """A machine with its server; every process of it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="ch-", ignore_cleanup_errors=True) as folder:
        world = World(Path(folder), **settings)
        try:
            await world.open()
            yield world
        finally:
            await world.close()


async def side_by_side(
    cases: Mapping[str, Any], scene: Callable[[World, Any], Awaitable[None]]
) -> None:
    """Play a scene for each case, on a machine of its own: most of the time each of them waits."""

    async def alone(name: str, case: Any) -> str:
        try:
            async with opened_world() as world:
                await scene(world, case)
        except AssertionError as error:
            return f"{name}: {error}"
        return ""

    failed = await asyncio.gather(*(alone(name, case) for name, case in cases.items()))
    assert not any(failed), "\n".join(failed)


class World:
    """One machine; several rounds may follow each other on it.

    Args:
        folder: A folder of its own, with a short name.
        server: Its memory server; one with an embedded server inside, if none is given.
        settings: Variables of the agent beside the usual ones.

    Attributes:
        server: The memory server.
        environ: The agent's environment.
        folder: The daemon's folder.
        scripts: All sessions so far.
        timeline: What happened, for a person.
        file_bytes: How large files may get at most: a full disk, while it is less than unlimited.
        kill_hooks: Share of the agent's hooks that is killed.
        torn: Files that were cut; a daemon leaves alone what it cannot read.
    """

    def __init__(
        self, folder: Path, *, server: ServerProcess | None = None, **settings: str
    ) -> None:
        self.server = server or ServerProcess(folder)
        self._home = folder / "home"
        self._home.mkdir()
        everything = agent_environment(self._home, self.server.url, **(PACE | settings))
        # What is killed leaves no measurement behind, and measuring makes it several times slower.
        self.environ = {
            name: everything[name]
            for name in everything
            if not name.startswith(("COVERAGE_", "XDG_"))
        }
        self.folder = folder_of(self.environ)
        self.scripts: list[Script] = []
        self.timeline: list[str] = []
        self.file_bytes = UNLIMITED
        self.kill_hooks = 0.0
        self.torn: list[Path] = []
        self._hooks = 0
        self._unwritten: list[tuple[Script, Step]] = []
        self._daemon_ended = False
        self._full_periods = 0
        self._visits = self._left = 0
        self._go_on = asyncio.Event()
        self._go_on.set()
        self._began = time.monotonic()
        self._started: list[asyncio.subprocess.Process] = []

    async def open(self) -> None:
        """Start the server."""
        await self.server.start()
        self.environ["COGNEE_API_KEY"] = self.server.key

    async def close(self) -> None:
        """End every process of this machine."""
        await self.no_daemon()
        await asyncio.gather(*(each.wait() for each in self._started))
        await self.server.kill()
        self.server.close()

    def note(self, what: str) -> None:
        """Put something on the timeline."""
        self.timeline.append(f"{time.monotonic() - self._began:8.3f} {what}")

    def log_tail(self) -> str:
        """The last lines of the daemon's log."""
        with suppress(OSError):
            return "\n".join((self.folder / "daemon.log").read_text().splitlines()[-LOG_LINES:])
        return "no daemon has written a log"

    # -- the agent -------------------------------------------------------------------------------

    async def play(self, script: Script, random: Random) -> None:
        """Let an agent go through a session: one event after the other."""
        self.scripts.append(script)
        for step in script.steps:
            await self._go_on.wait()
            killed = random.random() < self.kill_hooks
            self._hooks += 1
            try:
                kill_after = random.uniform(0, HOOK_MOMENT) if killed else None
                await self.hook(script, step, kill_after=kill_after)
            finally:
                self._hooks -= 1

    async def come_back(self) -> None:
        """Begin to work again: somebody opens the agent."""
        self._visits += 1
        await self._visit(self._visits, "SessionStart", "startup")

    async def leave(self) -> None:
        """End all sessions that only `come_back` has begun."""
        for number in range(self._left + 1, self._visits + 1):
            await self._visit(number, "SessionEnd", "other")
        self._left = self._visits

    async def _visit(self, number: int, event: str, how: str) -> None:
        who = {"session_id": f"visit-{number}"}
        await self.hook(Script("visit"), Step(event, payload(f"{event}.{how}", **who)))

    async def hooks_rest(self) -> None:
        """Let agents begin no more hooks, and wait for those that run."""
        self._go_on.clear()
        while self._hooks:  # noqa: ASYNC110 - a moment of a test
            await asyncio.sleep(0.01)

    def hooks_go_on(self) -> None:
        """Let agents go on."""
        self._go_on.set()

    async def hook(self, script: Script, step: Step, *, kill_after: float | None = None) -> str:
        """Hand an event over as the agent does, and return the answer.

        Args:
            script: Its session.
            step: The event.
            kill_after: Seconds after which the hook is killed.
        """
        room, periods = self.file_bytes, self._full_periods
        process = await self._run(*argv(step.event), payload=json.dumps(step.payload).encode())
        step.pid = process.pid
        if kill_after is not None:
            script.doubt(step)
            asyncio.get_running_loop().call_later(kill_after, _kill, process)
        try:
            async with asyncio.timeout(HOOK_SECONDS):
                out, err = await process.communicate()
        except TimeoutError:
            _kill(process)
            await process.wait()
            raise AssertionError(f"{step.event} hangs") from None
        self.note(f"{script.conversation} {step.event} {short(step.entry)} pid {process.pid}")
        if kill_after is None:
            assert (process.returncode, err) == (0, b""), (out, err)
        if {room, self.file_bytes} != {UNLIMITED} or self._full_periods != periods:
            # It is in the daemon's memory, and nowhere if there was no daemon.
            self._unwritten.append((script, step))
            if await self.ask() is None:
                script.doubt(step)
        if self._full_periods:
            # A daemon that was just being started then has taken the limit over.
            self.limit_files(self.file_bytes)
        return out.decode()

    # -- the daemon ------------------------------------------------------------------------------

    def daemons(self) -> list[int]:
        """Processes that are daemons of this machine, or about to become one."""
        home = f"HOME={self._home}\0".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                line = (process / "cmdline").read_bytes()
                if b"cognee_hooks.daemon" in line and home in (process / "environ").read_bytes():
                    found.append(int(process.name))
        return found

    def signal_daemons(self, number: signal.Signals) -> None:
        """Send a signal to every daemon."""
        pids = self.daemons()
        self.note(f"{number.name} to daemons {pids}")
        for pid in pids:
            self._send(pid, number)

    def signal_daemon(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to one daemon."""
        self.note(f"{number.name} to daemon {pid}")
        self._send(pid, number)

    def lose_daemon(self) -> None:
        """Remove the daemon's socket and lock, so that nobody finds it any more."""
        self.note("the daemon's socket and lock are removed")
        self._daemon_ended = True
        for name in ("socket", "lock"):
            (self.folder / name).unlink(missing_ok=True)

    async def no_daemon(self) -> None:
        """Kill every daemon, and whatever is about to become one."""
        calm = 0
        while calm < CALM:
            pids = self.daemons()
            for pid in pids:
                self._send(pid, signal.SIGKILL)
            starting = thin_client.is_starting(os.fsencode(self.folder))
            calm = 0 if pids or starting else calm + 1
            await asyncio.sleep(0.01)

    async def start_daemon(self) -> None:
        """Start a daemon process, whether one runs or not."""
        self._started.append(await self._run(sys.executable, "-P", "-m", "cognee_hooks.daemon"))

    async def ask(self, verb: str = "status") -> Mapping[str, Any] | None:
        """Ask the daemon; None where none answers."""
        data = thin_client.compose("control", "", "", {}) + json.dumps({"do": verb}).encode()
        try:
            async with asyncio.timeout(ASK_SECONDS):
                reader, writer = await asyncio.open_unix_connection(self.folder / "socket")
                with closing(writer):
                    writer.write(data)
                    reply: Mapping[str, Any] = json.loads(await reader.read())
                    return reply
        except (OSError, TimeoutError, ValueError):
            return None

    async def daemon_up(self) -> None:
        """Make sure that a daemon runs and answers."""
        until = time.monotonic() + UP_SECONDS
        while await self.ask() is None:
            assert time.monotonic() < until, "no daemon comes up"
            start = await self._run(*argv("start"))
            await start.wait()
            await asyncio.sleep(0.05)

    def acts(self) -> Counter[str]:
        """What became of all entries, as the ledgers of their sessions tell."""
        paths = Paths.of(self.environ, "claude-code")
        ledger = Ledger(paths.ledger_dir, "claude-code", paths.key_file)
        counts: Counter[str] = Counter()
        for script in self.scripts:
            counts.update({act.value: n for act, n in ledger.totals(script.session_id).items()})
        return counts

    # -- the disk --------------------------------------------------------------------------------

    def limit_files(self, size: int) -> None:
        """Let no process of this machine write beyond so many bytes of a file.

        The system refuses the write, after a part of it where there is room for that, and leaves
        what was written before as it is: what a full disk does, with another error number.
        """
        self.file_bytes = size
        self._full_periods += size != UNLIMITED
        for pid in self.daemons():
            with suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, UNLIMITED))

    def files(self) -> list[Path]:
        """Files that hold what is not at the server yet."""
        state = self.folder.parent
        return sorted(
            [
                *state.glob("*/bridge/*.json"),
                *state.glob("*/bridge/*.log"),
                *self.folder.glob("journal/*.sealed"),
                *self.folder.glob("spool/*.event"),
            ]
        )

    def cut(self, path: Path, size: int) -> None:
        """Let a file end after so many bytes.

        An event in the journal or the spool may be lost with that. What the bridge keeps is in two
        files, and has to be read from the other one.
        """
        self.note(f"{path.parent.name}/{path.name} of {path.stat().st_size} is cut to {size}")
        os.truncate(path, size)
        self.torn.append(path)
        pid = path.stem.rpartition("-")[2]
        for script in self.scripts:
            for step in script.steps:
                if pid == str(step.pid):
                    script.doubt(step)

    def doubt_unwritten(self) -> None:
        """Give up on what was taken while the disk was full, if the daemon that had it is gone."""
        if self._daemon_ended:
            for script, step in self._unwritten:
                script.doubt(step)
        self._daemon_ended = False
        self._unwritten.clear()

    # -- inside ----------------------------------------------------------------------------------

    def _send(self, pid: int, number: signal.Signals) -> None:
        # One that stands still makes its clients rely on the disk, too.
        self._daemon_ended |= number is not signal.SIGCONT
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    async def _run(self, *command: str, payload: bytes | None = None) -> asyncio.subprocess.Process:
        """Start a program; with a payload for it, its output can be read."""
        size = self.file_bytes

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, UNLIMITED))

        output = asyncio.subprocess.DEVNULL if payload is None else asyncio.subprocess.PIPE
        # It is all there from the start: agents do not hesitate, as this process does when many
        # machines are at work.
        source, sink = os.pipe()
        try:
            assert os.write(sink, payload or b"") == len(payload or b"")
            os.close(sink)
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=source,
                stdout=output,
                stderr=output,
                env=self.environ,
                preexec_fn=None if size == UNLIMITED else limit,
            )
        finally:
            os.close(source)


def _kill(process: asyncio.subprocess.Process) -> None:
    # Not its own method, which would look for its end and take that from whoever waits for it.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
