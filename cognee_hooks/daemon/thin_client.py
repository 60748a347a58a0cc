"""The thin client: hands one event of an agent to the daemon, and prints what it answers.

An agent starts it for every event (see ``client.py``), so it imports only what a bare interpreter
has built in; whatever costs more is imported where it is needed. It is one file, though a long one:
to look for another takes longer than to load it all. It understands nothing of what it passes on:
the daemon decides when the document on standard input is complete, and what the answer is.

Where no daemon takes the event it starts one and keeps the event in the spool, from where the
daemon takes it up. Then, and whenever anything goes wrong, it prints EMPTY, the agent's answer that
changes nothing. It prints nothing else, and its exit code is always 0.
"""

import _socket
import posix
import select
import sys
import time

VERSION = "0.1.0"
"""Version of the package; `pyproject.toml` reads it here, because this file can import nothing."""
NESTED = b"COGNEE_HOOKS_NESTED"
"""Set for agents that work for us, so that they are not captured in turn."""
KEPT = ("COGNEE_", "CLAUDE_P", "CODEX_HOME", "HOME", "PATH", "PI_", "XDG_")
"""Beginnings of the names of variables that are kept on disk with an event; the rest may be secret
and is not ours."""
STATUS = "statusLine"
"""The event that asks for the status line; nothing is lost when nobody answers."""
START = "start"
"""The event that only makes sure that a daemon runs."""

LIMIT = 8.0
"""Seconds that the client takes at most, unless the daemon asks for more in its answer's head."""
TAKE_SECONDS = 1.5
"""Longest that a daemon may take to say that it has the event, once that is complete."""
IDLE_SECONDS = 2.0
"""How long standard input may say nothing before it is given up."""
BOOT_SECONDS = 4.0
"""How long an event that the model waits for waits for a daemon that is being started."""
MAX_BYTES = 32 * 1024 * 1024
"""Largest payload that is kept without a daemon."""
MAX_SPOOLED = 5000
"""Events that are kept without a daemon; where none ever comes up, nobody takes them away."""
_CHUNK = 1024 * 1024


class Refused(Exception):
    """The daemon does not want the event."""


def run(agent: str, event: str, empty: str = "") -> bytes:
    """Pass the event on and return what to print, as bytes."""
    environ = posix.environ
    nothing = empty.encode("utf-8", "surrogateescape")
    if NESTED in environ:
        return nothing
    received = bytearray()
    until = time.monotonic() + LIMIT
    try:
        folder = daemon_folder(environ)
        ident = identify()
        opening = compose("hook", agent, event, environ, ident=ident)
        connection = _found(folder)
        if connection is not None and event == START:
            connection.close()
            return nothing
        for _ in range(2):
            if connection is None:
                start_daemon(folder, environ)
                connection = _started(folder, event, until)
            if connection is None:
                break
            try:
                return exchange(connection, opening, received, until)
            except TimeoutError:
                start_daemon(folder, environ)  # which waits for the one that stands still
                break
            except OSError:
                pass  # it was just ending: the next one is worth waiting for
            finally:
                connection.close()
            connection = None
        if event not in (START, STATUS):
            complete(received, until)
            # Under the same id: a daemon that took it, and could not say so, knows it again.
            opening = compose("hook", agent, event, environ, KEPT, ident)
            spool(folder, opening, bytes(received))
    except (OSError, Refused, ValueError, LookupError):
        pass  # nobody is there to be told, and the agent must not be disturbed
    return nothing


def _found(folder: bytes) -> _socket.socket | None:
    """Return a connection to the daemon; None where there is none."""
    try:
        return connect(folder)
    except OSError:
        return None


def _started(folder: bytes, event: str, until: float) -> _socket.socket | None:
    """Wait for the daemon that is being started, if the model waits for the event; None if not."""
    waits = any(word in event.lower() for word in ("start", "prompt", "before"))
    starting = waits and event != START
    until = min(until, time.monotonic() + BOOT_SECONDS)
    while starting and time.monotonic() < until:
        time.sleep(0.02)
        # Asked first: a daemon listens before it says that it has started.
        starting = is_starting(folder)
        if (connection := _found(folder)) is not None:
            return connection
    return None


def identify() -> str:
    """Return a new id for an event; ids sort by time."""
    return f"{time.time_ns():020d}-{posix.getpid()}"


def compose(
    kind: str,
    agent: str,
    event: str,
    environ: dict[bytes, bytes],
    names: tuple[str, ...] = ("",),
    ident: str = "",
) -> bytes:
    """Return the opening of a request; `cognee_hooks.daemon.protocol` describes it."""
    try:
        cwd = posix.getcwd().encode("utf-8", "surrogateescape")
    except OSError:
        cwd = b""  # the folder is gone
    words = (ident or identify(), agent, event)
    fields = [each.encode("utf-8", "surrogateescape") for each in words]
    fields += [b"%d" % posix.getppid(), cwd, b""]
    begins = tuple(name.encode() for name in names)
    fields += [name + b"=" + environ[name] for name in environ if name.startswith(begins)]
    block = b"\0".join(fields)
    return b"cognee-hooks %b %b %d\n" % (VERSION.encode(), kind.encode(), len(block)) + block


def daemon_folder(environ: dict[bytes, bytes]) -> bytes:
    """Return the daemon's folder, as bytes; `cognee_hooks.services.paths` has the same rule."""
    home = environ.get(b"HOME", b"")
    if not home.startswith(b"/"):
        import pwd

        home = pwd.getpwuid(posix.getuid()).pw_dir.encode()
    state = environ.get(b"COGNEE_HOOKS_STATE_DIR", b"").strip() or b"~/.cognee-plugin/hooks"
    if state == b"~" or state.startswith(b"~/"):
        state = home + state[1:]
    return (state if state.startswith(b"/") else home + b"/" + state) + b"/daemon"


def connect(folder: bytes) -> _socket.socket:
    """Return a connection to the daemon.

    Raises:
        OSError: Nobody listens, or somebody who is not us.
    """
    # A folder that one may enter but not read is no place to fail at.
    here = posix.open(".", getattr(posix, "O_PATH", posix.O_RDONLY))
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(TAKE_SECONDS)
    try:
        # The address of a socket must be short, and a folder may have a long name.
        posix.chdir(folder)
        connection.connect("socket")
        ours = peer_user(connection) == posix.geteuid()
    except OSError:
        connection.close()
        raise
    finally:
        posix.fchdir(here)
        posix.close(here)
    if not ours:
        connection.close()
        raise OSError("another user's daemon")
    return connection


def peer_user(connection: _socket.socket) -> int:
    """Return the user that the other end runs as."""
    # Linux: struct ucred (pid, uid, gid); macOS: struct xucred (version, uid, ...).
    level, name = (1, 17) if sys.platform == "linux" else (0, 1)
    return int.from_bytes(connection.getsockopt(level, name, 12)[4:8], sys.byteorder)


def exchange(
    connection: _socket.socket, opening: bytes, received: bytearray, until: float
) -> bytes:
    """Send the event as it comes in, and return the daemon's answer, as bytes.

    Args:
        connection: A connection to the daemon.
        opening: The request's beginning.
        received: What is read from standard input is added to it; what is in it is sent first.
        until: When to give up, unless the daemon takes the event and asks for more time.

    Raises:
        TimeoutError: The daemon does not answer.
        OSError: It ended before it took the event.
        Refused: It took it and did not answer, or does not want it.
    """
    connection.sendall(opening + received)
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(0, select.POLLIN)
    reading, taken, answer = True, False, bytearray()
    while (left := until - time.monotonic()) > 0:
        wait = left if taken else IDLE_SECONDS if reading else TAKE_SECONDS
        ready = {each for each, _ in poll.poll(min(wait, left) * 1000)}
        still_reading = reading
        if connection.fileno() in ready:
            if not (chunk := connection.recv(_CHUNK)):
                break
            answer += chunk
            if not taken and b"\n" in answer:
                until = time.monotonic() + _budget(answer)
                taken, still_reading = True, False
            if taken and (text := _whole(answer)) is not None:
                return text
        elif reading:
            still_reading = _pass_on(connection, received, 0 in ready)
        elif not taken:
            raise TimeoutError("the daemon does not answer")
        if reading and not still_reading:
            poll.unregister(0)
            reading = False
    if taken:
        raise Refused
    raise OSError("the daemon ended")


def _pass_on(connection: _socket.socket, received: bytearray, ready: bool) -> bool:
    """Send on what standard input has; tells whether more may come."""
    chunk = posix.read(0, _CHUNK) if ready else b""
    received += chunk
    if chunk:
        connection.sendall(chunk)
    else:
        connection.shutdown(_socket.SHUT_WR)
    return bool(chunk)


def _budget(answer: bytearray) -> float:
    """Take the head off an answer, ``+<milliseconds>``, and return it in seconds."""
    head, _, rest = bytes(answer).partition(b"\n")
    answer[:] = rest
    if head.startswith(b"-"):
        raise Refused
    if not head.startswith(b"+"):
        raise OSError("the daemon hands over to another version")
    return int(head[1:]) / 1000 + 1


def _whole(answer: bytearray) -> bytes | None:
    """Return the agent's answer, behind its length; None while it is not all there."""
    size, end, text = bytes(answer).partition(b"\n")
    return text if end and len(text) >= int(size) else None


def complete(received: bytearray, until: float) -> None:
    """Read on until the document on standard input is complete, ends, or nothing more comes.

    Raises:
        Refused: There is no document, or a larger one than is kept.
    """
    import json

    decode = json.JSONDecoder().raw_decode
    poll = select.poll()
    poll.register(0, select.POLLIN)
    while len(received) <= MAX_BYTES:
        if received.rstrip().endswith(b"}"):
            try:
                decode(received.decode("utf-8-sig", "replace").lstrip())
            except (ValueError, RecursionError):
                pass  # not complete yet
            else:
                return
        ready = poll.poll(max(0.0, min(IDLE_SECONDS, until - time.monotonic())) * 1000)
        chunk = posix.read(0, _CHUNK) if ready else b""
        if not chunk:
            break
        received += chunk
    raise Refused


def spool(folder: bytes, opening: bytes, payload: bytes) -> None:
    """Keep an event on disk for the daemon that comes next, private parts cut out.

    Raises:
        Refused: Too many are waiting already.
        OSError: It cannot be written.
    """
    for each in (folder.rpartition(b"/")[0], folder, folder + b"/spool"):
        make_folder(each)
    if len(posix.listdir(folder + b"/spool")) >= MAX_SPOOLED:
        raise Refused
    path = folder + b"/spool/" + opening.partition(b"\n")[2].partition(b"\0")[0]
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW
    file = posix.open(path + b".new", flags, 0o600)
    try:
        data = memoryview(opening + without_private(payload))
        while data:
            data = data[posix.write(file, data) :]
        posix.fsync(file)
    except OSError:  # a full disk has no room for the part either
        posix.unlink(path + b".new")
        raise
    posix.close(file)
    posix.rename(path + b".new", path + b".event")


def without_private(payload: bytes) -> bytes:
    """Cut ``<private>`` parts out of JSON text, as `cognee_hooks.redaction` does with plain text.

    Marks may be nested; one that is never closed reaches to the end of its string.
    """
    import re

    mark = rb'(?:<|\\u003c)\s*+(\\?/)?\s*+private\b(?:[^<>"\\]|\\(?!u003[ce]).){0,200}(?:>|\\u003e)'
    # An escaped character counts as a whole: it ends no string, and begins no other one.
    token = re.compile(b"(" + mark + rb')|"|\\.', re.IGNORECASE | re.DOTALL)
    kept, depth, position = [], 0, 0
    for each in token.finditer(payload):
        if each[2] and depth:
            depth -= 1
            position = each.end()
        elif each[1] and not each[2]:
            kept += [] if depth else [payload[position : each.start()]]
            depth += 1
        elif each[0] == b'"' and depth:
            depth, position = 0, each.start()
    return b"".join([*kept, b"" if depth else payload[position:]])


def make_folder(path: bytes) -> None:
    """Make a private folder, if it is not there."""
    try:
        posix.mkdir(path, 0o700)
    except FileNotFoundError:
        make_folder(path.rpartition(b"/")[0])
        make_folder(path)
    except FileExistsError:
        pass  # another client may have been faster


def start_daemon(folder: bytes, environ: dict[bytes, bytes]) -> None:
    """Start a daemon in the background, unless somebody is just doing that, or it cannot be."""
    import fcntl

    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    lock = -1
    try:
        make_folder(folder)
        lock = posix.open(folder + b"/starting", flags, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        child = posix.fork()
    except OSError:
        child = -1
    if child == 0:
        _become_daemon(lock, environ)
    if lock >= 0:
        posix.close(lock)  # the child holds it until the daemon listens, or is gone


def _become_daemon(lock: int, environ: dict[bytes, bytes]) -> None:
    # An agent waits for whoever holds its pipes, and a time limit ends the whole process group.
    try:
        posix.setsid()
        null = posix.open("/dev/null", posix.O_RDWR)
        for each in (0, 1, 2):
            posix.dup2(null, each)
        posix.set_inheritable(lock, True)
        command = [sys.executable, "-P", "-m", "cognee_hooks.daemon", "--starting", str(lock)]
        clean = {each: environ[each] for each in environ if not each.startswith(b"PYTHON")}
        posix.execve(sys.executable, command, clean)
    finally:
        posix._exit(127)  # noqa: SLF001 - what `os._exit` is


def is_starting(folder: bytes) -> bool:
    """Tell whether a daemon is being started, and has neither come up nor failed yet."""
    import fcntl

    try:
        lock = posix.open(folder + b"/starting", posix.O_RDWR | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        posix.close(lock)
    return False


def _fill_descriptors() -> None:
    """Open what the agent left closed, so that no file of ours gets a number with a meaning."""
    for each in (0, 1, 2):
        try:
            posix.fstat(each)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)  # the lowest number that is free


def main() -> None:
    """Do the work, whatever happens; an agent reads some exit codes as an order."""
    try:
        _fill_descriptors()
        data = run(*sys.argv[1:4])
        while data:
            data = data[posix.write(1, data) :]
    finally:
        # Leaves no time to clean up, and no way to complain.
        posix._exit(0)  # noqa: SLF001 - what `os._exit` is
