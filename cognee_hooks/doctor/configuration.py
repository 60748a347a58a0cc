"""Rows about settings: which server, which files, which variables."""

from __future__ import annotations

import platform
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cognee_hooks.doctor.rows import failed, info, ok, warning
from cognee_hooks.results import CheckResult
from cognee_hooks.services.address import bare, is_loopback
from cognee_hooks.services.permissions import open_to_others

if TYPE_CHECKING:
    from cognee_hooks.host import Host

_OURS = re.compile(r"(?:COGNEE|LLM|DEFAULT_USER)_\w+\Z")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_MAX_NAMES = 25


def checks(host: Host) -> list[CheckResult]:
    """Return all rows."""
    return [
        _version(),
        _mode(host),
        *_address(host),
        _env_file(host),
        _shell(host),
        *_settings(host),
        *_models(host),
        _timeouts(host),
        *_connection(host),
    ]


def _version() -> CheckResult:
    import cognee_hooks

    python = ".".join(map(str, sys.version_info[:3]))
    detail = f"cognee-hooks {cognee_hooks.__version__}, Python {python}, {platform.system()}"
    return ok("version", detail)


def _mode(host: Host) -> CheckResult:
    mode = host.mode
    if mode.missing_base_url:
        return failed(
            "mode",
            f"{mode.words}: {mode.reason}, but there is no URL",
            "set COGNEE_BASE_URL to the address of the server",
        )
    return ok("mode", f"{mode.words}: {mode.reason}")


def _address(host: Host) -> list[CheckResult]:
    url = host.mode.url
    return [ok("server url", bare(url))] if url else []


def _env_file(host: Host) -> CheckResult:
    path, names = host.paths.env_file, sorted(host.settings.env_values)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return info("env file", f"{path} is not there; nothing has to be in it")
    found = f"{path} ({_counted(names, 'key')})"
    if open_to_others(mode):
        return warning(
            "env file",
            f"{found}; others can read it ({mode:04o})",
            f"`chmod 600 {path}`, since it holds keys",
        )
    return ok("env file", found)


def _shell(host: Host) -> CheckResult:
    names = sorted(name for name in host.settings.environ if _OURS.match(name))
    return ok("shell env", _counted(names, "name"))


def _settings(host: Host) -> list[CheckResult]:
    problems = [
        warning(
            "settings",
            f"{problem.source}: {problem.message}",
            "see `cognee-hooks config`",
        )
        for problem in host.settings.problems
    ]
    if problems:
        return problems
    sources = sorted({row.source for row in host.settings.rows()} - {"default"})
    return [ok("settings", f"from {', '.join(sources)}" if sources else "all defaults")]


def _models(host: Host) -> Iterator[CheckResult]:
    """Yield what a server on this machine would work with; one elsewhere has its own."""
    if host.mode.backend != "local":
        return
    lookup = host.settings.lookup
    if lookup("LLM_API_KEY").strip():
        source = host.settings.get_variable_source("LLM_API_KEY")
        model = lookup("LLM_MODEL").strip()
        yield ok(
            "LLM_API_KEY",
            f"configured ({source}), {f'model {model}' if model else 'model: default'}",
        )
    else:
        yield info(
            "LLM_API_KEY",
            "not set; a local cognee server needs one, the small embedded one does not",
            "set it in ~/.cognee/.env if cognee is to run on this machine",
        )
    embedding, size = lookup("EMBEDDING_MODEL").strip(), lookup("EMBEDDING_DIMENSIONS").strip()
    if embedding or size:
        yield ok("embedding", f"model {embedding or 'default'}, {size or 'default'} dimensions")


def _timeouts(host: Host) -> CheckResult:
    core = host.core
    times = {
        "recall": core.recall_timeout_ms,
        "request": core.request_timeout_ms,
        "health": core.health_timeout_ms,
    }
    return ok("timeouts", " · ".join(f"{name} {value} ms" for name, value in times.items()))


def _connection(host: Host) -> Iterator[CheckResult]:
    """Yield how bytes travel; only where that is not this machine alone."""
    url, environ = host.mode.url, host.settings.environ
    if not url or is_loopback(url):
        return
    proxies = sorted(name for name in environ if name.lower() in _PROXIES and environ[name])
    if proxies:
        yield info(
            "proxy",
            f"{', '.join(proxies)} set, and not used: the key would pass through it",
            "let the server be reached directly",
        )
    if urlsplit(url).scheme == "https":
        stores = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if environ.get(name)]
        more = f", and those in {' and '.join(stores)}" if stores else ""
        yield ok("tls", f"certificates are checked, with the system's authorities{more}")
    else:
        yield warning(
            "tls",
            "none: whoever carries the bytes can read memory and key",
            "use an https address",
        )


def _counted(names: Iterable[str], what: str) -> str:
    """Return names, as far as there is room for them; never values."""
    known = list(names)
    if not known:
        return f"no {what}s"
    shown = ", ".join(known[:_MAX_NAMES])
    more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
    return f"{len(known)} {what}{'s' if len(known) > 1 else ''}: {shown}{more}"
