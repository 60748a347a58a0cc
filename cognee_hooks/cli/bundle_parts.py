"""Collects what goes into a support bundle."""

from __future__ import annotations

import asyncio
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from cognee_hooks.cli.common import make_host
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import Finding, Masker
from cognee_hooks.errors import ServerFailure
from cognee_hooks.history.sessions import known_sessions
from cognee_hooks.history.waiting import Waiting, quarantined_files, waiting_files
from cognee_hooks.host import Host
from cognee_hooks.results import Act, CheckResult, CheckStatus
from cognee_hooks.services.address import is_loopback
from cognee_hooks.services.keys import only_looking
from cognee_hooks.services.logfile import read_end
from cognee_hooks.services.names import DEFAULT_DATASET
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

Shorten = Callable[[str], str]
Parts = dict[str, tuple[str, str | Mapping[str, object] | Sequence[object]]]

LOG_LINES = 300
MAX_SESSIONS = 1000
LOG_BYTES = 4_000_000
NAMES_SECONDS = 3.0
LEFT_OUT = "(left out)"
PACKAGES = (
    "cognee-hooks pluggy httpx httpcore h11 pyyaml cryptography google-re2 platformdirs rich "
    "starlette uvicorn python-multipart uv mcp openai-agents claude-agent-sdk cognee"
).split()

# Numbers, switches and the few words that options choose from.
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?|true|false|on|off|auto|always|full|local|cloud|embedded")
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ )([\w.]+): (.*)")
_OURS = re.compile(r"cognee_hooks\.(?!plugins\.)")
_EVENT = re.compile(r'"ts": "([\d:.T+-]+)", "event": "(\w+)"')
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_UUID = re.compile(r"\w*[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_VARIABLE = re.compile(r"(?:COGNEE|LLM|EMBEDDING|DEFAULT_USER)_\w+\Z")


def parts(agent: str, plugins: list[str], found: Sequence[Finding]) -> Parts:
    """Return all files by name, each with what it is.

    Args:
        agent: Agent whose settings are meant.
        plugins: Values of ``-p``.
        found: What doctor found.
    """
    environ = current_environ()
    host = make_host(agent, plugins)
    shortener = asyncio.run(_shortener(host))
    text = shortener.text
    return {
        "versions.json": ("versions of packages, Python and system", _versions()),
        "settings.json": ("settings by name and source; few values", _settings(host)),
        "plugins.json": ("plugins and how they fare", _plugins(host, text)),
        "doctor.json": ("what doctor found", _doctor(host, found, text)),
        "statistics.json": ("counts of what was done and what waits", _statistics(environ)),
        "daemon.log": ("last lines of the daemon's log", _daemon_log(host.paths, text)),
        "bootstrap.log": ("what was done for the local server", _bootstrap_log(host.paths)),
    }


class Shortener:
    """Replaces what tells of a person, a project or a server.

    Args:
        masker: Replaces what is secret.
        names: What each of some texts is replaced by.
    """

    def __init__(self, masker: Masker, names: Mapping[str, str]) -> None:
        self._masker = masker
        # The longest first: one name may be a part of another.
        self._names = sorted(names.items(), key=lambda each: -len(each[0]))

    def text(self, text: str) -> str:
        """Return a text without any of that."""
        for name, instead in self._names:
            text = text.replace(name, instead)
        return _UUID.sub("<id>", _EMAIL.sub("<email>", self._masker.text(text)))


async def _shortener(host: Host) -> Shortener:
    names = {host.session.dataset, *host.core.read_dataset_ids}
    with only_looking():
        try:
            rows = await host.services.client.datasets(Deadline.after(NAMES_SECONDS))
            names |= {row.name for row in rows} | {row.id for row in rows}
        except ServerFailure:
            pass  # nobody was told of them, so they stand nowhere
    await host.close(Deadline.after(1.0))
    replaced = {name: "<dataset>" for name in names if name and name != DEFAULT_DATASET}
    sessions = [each.session_id for each in known_sessions(host.settings.environ)[:MAX_SESSIONS]]
    replaced |= dict.fromkeys([*sessions, host.session.session_id], "<session>")
    replaced |= _address(host.mode.url)
    home = host.paths.home
    replaced |= {str(home): "~", str(home.resolve()): "~"}
    return Shortener(Masker.of(host), {name: to for name, to in replaced.items() if len(name) > 1})


def _address(url: str) -> dict[str, str]:
    """Return what of the server's address is replaced: where it is, unless that is this machine."""
    try:
        parts_of_url = urlsplit(url)
        host, port, path = parts_of_url.hostname or "", parts_of_url.port, parts_of_url.path
    except ValueError:
        return {url: "<server>"}
    replaced = {path: "/<path>"} if path.strip("/") else {}
    if host and not is_loopback(url):
        replaced |= {host: "<server>"} | ({f"{host}:{port}": "<server>"} if port else {})
    return replaced


def _versions() -> Mapping[str, object]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "cognee-hooks": VERSION,
        "python": sys.version.split()[0],
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "packages": found,
        "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _settings(host: Host) -> Mapping[str, object]:
    rows = [
        {
            "setting": f"{row.section}.{row.name}".lstrip("."),
            "variable": row.env,
            "source": row.source,
            "value": row.value
            if row.source == "default" or _PLAIN.fullmatch(row.value)
            else "(set)",
        }
        for row in host.settings.rows()
    ]
    names = {*host.settings.environ, *host.settings.env_values}
    return {
        "settings": rows,
        # What is wrong about them may quote their values.
        "problems": [
            {"name": each.name if _VARIABLE.match(each.name) else LEFT_OUT, "source": each.source}
            for each in host.settings.problems
        ],
        "variables": sorted(name for name in names if _VARIABLE.match(name)),
    }


def _plugins(host: Host, text: Shorten) -> Sequence[object]:
    return [
        {
            "name": text(record.name),
            "package": text(record.distribution),
            "version": text(record.version),
            "state": record.state.value,
            "built_in": record.built_in,
            # What an exception of a stranger says may be anything.
            "reason": text(record.reason if record.built_in else record.reason.partition(":")[0]),
            "hooks": list(record.hooks),
        }
        for record in host.registry.records
    ]


def _doctor(host: Host, found: Iterable[Finding], text: Shorten) -> Sequence[object]:
    rows = []
    for each in found:
        foreign = bool(each.plugin) and not host.registry.is_built_in(each.plugin)
        quotes = foreign or _quotes(each.row)
        rows.append(
            {
                "plugin": text(each.plugin),
                "status": each.row.status.value,
                "name": LEFT_OUT if foreign else text(each.row.name),
                "detail": LEFT_OUT if quotes else text(each.row.detail),
                "remedy": LEFT_OUT if foreign else text(each.row.remedy),
            }
        )
    return rows


def _quotes(row: CheckResult) -> bool:
    """Tell whether a row of the core quotes a setting's value or a plugin's exception."""
    wrong = row.status in {CheckStatus.WARNING, CheckStatus.FAILED}
    return wrong and (row.name == "settings" or row.name.startswith("plugin "))


def _statistics(environ: Mapping[str, str]) -> Mapping[str, object]:
    now = time.time()
    sessions = known_sessions(environ)
    totals: Counter[Act] = Counter()
    for session in sessions:
        totals.update(session.ledger.totals())
    by_stem = {each.stem: each for each in sessions}
    daemon = Paths.of(environ, "daemon").daemon_dir
    return {
        "sessions": len(sessions),
        "totals": {act.value: totals[act] for act in Act if totals[act]},
        "waiting": _counts(waiting_files(environ, by_stem, now=now), now),
        "put_aside": _counts(quarantined_files(environ, by_stem, now=now), now),
        "events_spooled": sum(1 for _ in daemon.glob("spool/*.event")),
        "events_kept": sum(1 for _ in daemon.glob("journal/*.sealed")),
    }


def _counts(files: Sequence[Waiting], now: float) -> Mapping[str, object]:
    ages = [now - each.oldest for each in files if each.oldest is not None]
    return {
        "files": len(files),
        "entries": sum(each.entries for each in files),
        "not_readable": sum(bool(each.problem) for each in files),
        "oldest_seconds": round(max(ages)) if ages else None,
    }


def _daemon_log(paths: Paths, text: Shorten) -> str:
    """Return the last lines of our own loggers; others' may hold anything, so only who wrote."""
    kept = []
    for line in _tail(paths.daemon_dir / "daemon.log"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue  # the rest of an exception, or of a line that somebody broke
        head, logger, message = match.groups()
        ours = _OURS.match(f"{logger}.")
        kept.append(f"{head}{text(logger)}: {text(message) if ours else LEFT_OUT}")
    return "\n".join(kept)


def _bootstrap_log(paths: Paths) -> str:
    """Return when what was done; the rest of a line may quote the server."""
    lines = _tail(paths.shared_dir / "hooks" / "bootstrap" / "bootstrap.log")
    return "\n".join(" ".join(match.groups()) for line in lines if (match := _EVENT.search(line)))


def _tail(path: Path) -> list[str]:
    return read_end(path, LOG_BYTES).decode(errors="replace").splitlines()[-LOG_LINES:]
