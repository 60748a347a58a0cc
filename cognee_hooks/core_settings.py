"""The core's own options, and which server follows from them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from cognee_hooks.configuration.values import to_uuids
from cognee_hooks.services.address import is_loopback
from cognee_hooks.services.names import DEFAULT_DATASET, safe_dataset_name, safe_session_id
from cognee_hooks.settings import ENV_FILE, SHELL, Narrow, Settings, option

DEFAULT_LOCAL_URL = "http://localhost:8011"
LOCAL_WORDS = frozenset({"local", "native", "sdk"})
CLOUD_WORDS = frozenset({"cloud", "http", "api", "server"})
_PINS = ("COGNEE_HOOKS_BACKEND", "COGNEE_BACKEND")
_PI_PIN = "COGNEE_PI_BACKEND"


@dataclass(frozen=True)
class CoreSettings:
    """Options of the core. Times are in milliseconds, as the shared variable names say."""

    base_url: str = option(
        default="", env="COGNEE_BASE_URL", help="Address of a cognee server of yours."
    )
    local_api_url: str = option(
        default=DEFAULT_LOCAL_URL,
        env="COGNEE_LOCAL_API_URL",
        help="Address of the local server, used where no other is set.",
    )
    backend: str = option(
        default="",
        env=_PINS,
        help="Pin the mode: local or cloud.",
    )
    api_key: str = option(
        default="", env="COGNEE_API_KEY", secret=True, help="Key for the cognee server."
    )
    api_key_cache: str = option(
        default="",
        env="COGNEE_API_KEY_CACHE",
        help="File with the owner key of the local server, shared with other cognee plugins.",
    )
    user_email: str = option(
        default="default_user@example.com",
        env="COGNEE_USER_EMAIL",
        help="Login with which a key is made on a local server.",
    )
    user_password: str = option(
        default="default_password",
        env="COGNEE_USER_PASSWORD",
        secret=True,
        help="Password of that login.",
    )
    dataset: str = option(
        default=DEFAULT_DATASET,
        env="COGNEE_PLUGIN_DATASET",
        parse=safe_dataset_name,
        narrow=Narrow.CHOOSE,
        help="Dataset that sessions read and write.",
    )
    read_dataset_ids: tuple[str, ...] = option(
        default=(),
        env="COGNEE_PLUGIN_READ_DATASET_IDS",
        parse=to_uuids,
        help="JSON list of dataset ids to recall from instead; writing is not affected.",
    )
    session_id: str = option(default="", env="COGNEE_SESSION_ID", help="Fixed session id.")
    session_prefix: str = option(
        default="",
        env="COGNEE_SESSION_PREFIX",
        help="Start of session ids; the agent's own if empty.",
    )
    capture: bool = option(
        default=True,
        env="COGNEE_CAPTURE",
        narrow=Narrow.SWITCH_OFF,
        help="Master switch: false stops capture and recall; commands still work.",
    )
    redact: bool = option(
        default=True,
        env="COGNEE_CAPTURE_REDACT",
        help="Take secrets out of everything that leaves. Switching it off is reported loudly.",
    )
    redact_patterns: tuple[str, ...] = option(
        default=(),
        env="COGNEE_CAPTURE_REDACT_PATTERNS",
        separator="\n",
        narrow=Narrow.ADD,
        help="Further patterns to take out, in RE2 syntax, one a line.",
    )
    redactor_timeout_ms: int = option(
        default=250,
        env="COGNEE_REDACTOR_TIMEOUT_MS",
        minimum=10,
        help="Time that a redactor of a plugin has for one text.",
    )
    recall_timeout_ms: int = option(
        default=4000,
        env="COGNEE_RECALL_TIMEOUT_MS",
        minimum=200,
        help="Longest that a prompt waits for memory.",
    )
    request_timeout_ms: int = option(
        default=10_000,
        env="COGNEE_REQUEST_TIMEOUT_MS",
        minimum=100,
        help="Longest that writing one entry is waited for.",
    )
    health_timeout_ms: int = option(
        default=2500,
        env="COGNEE_HEALTH_TIMEOUT_MS",
        minimum=100,
        help="Longest that one look at the server's health is waited for.",
    )
    buffer_limit: int = option(
        default=1000,
        env="COGNEE_BUFFER_LIMIT",
        minimum=1,
        help="Captured entries that wait for the server; beyond it the oldest are dropped.",
    )
    breaker_threshold: int = option(
        default=5,
        env="COGNEE_BREAKER_THRESHOLD",
        minimum=1,
        help="Failed recalls after which recall pauses.",
    )
    breaker_window_ms: int = option(
        default=300_000,
        env="COGNEE_BREAKER_WINDOW_MS",
        minimum=1000,
        help="Time in which those failures must lie.",
    )
    breaker_cooldown_ms: int = option(
        default=120_000, env="COGNEE_BREAKER_COOLDOWN_MS", minimum=1000, help="Length of the pause."
    )
    breaker_file: str = option(
        default="", env="COGNEE_BREAKER_FILE", help="File that processes share the pause through."
    )
    strict_plugins: bool = option(
        default=False,
        env="COGNEE_HOOKS_STRICT",
        help="Fail where a plugin cannot be used, instead of going on without it; for authors.",
    )

    @property
    def recall_seconds(self) -> float:
        """How long a prompt waits for memory, in seconds."""
        return self.recall_timeout_ms / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Which server, and why.

    Attributes:
        backend: ``local`` or ``cloud``.
        url: Address without a trailing slash; "" where it is missing.
        reason: Why this one, for people.
        explicit_url: The user named the address, be it the default one; no local server is ever
            started there.
        forced_by: The variable or option that pins the mode; "" where nothing does.
        missing_base_url: Cloud is pinned, but no address is set.
    """

    backend: str
    url: str
    reason: str
    explicit_url: bool
    forced_by: str = ""
    missing_base_url: bool = False

    @property
    def words(self) -> str:
        """What it is called for people: a server of their own on this machine is no cloud."""
        return "own server" if self.backend == "cloud" and is_loopback(self.url) else self.backend


def decide_mode(settings: Settings, core: CoreSettings, agent: str = "") -> Mode:
    """Decide between the local server and one that the user named.

    A pin (``COGNEE_HOOKS_BACKEND`` or ``COGNEE_BACKEND``, for pi ``COGNEE_PI_BACKEND`` before them)
    beats everything; without one a set ``COGNEE_BASE_URL`` means cloud. Cloud never falls back to
    local.

    Args:
        settings: Where an unknown pin is reported, and where pi's own pin is looked up.
        core: The options, resolved from the same settings.
        agent: Short name of the agent.
    """
    pin, forced_by = _pin(settings, core, agent)
    base_url = _address(core.base_url)
    if pin in CLOUD_WORDS or (not pin and base_url):
        return Mode(
            backend="cloud",
            url=base_url,
            reason=f"{forced_by} is {pin}" if pin else "COGNEE_BASE_URL is set",
            explicit_url=True,
            forced_by=forced_by,
            missing_base_url=not base_url,
        )
    return Mode(
        backend="local",
        url=_address(core.local_api_url),
        reason=f"{forced_by} is {pin}" if pin else "no other server is set",
        explicit_url=settings.get_source("", "local_api_url") != "default",
        forced_by=forced_by,
    )


def own_session_id(core: CoreSettings, agent: str, session_id: str) -> str:
    """Return our id of a conversation, made up where the agent has none for it.

    Args:
        core: The options, of which one may name the session.
        agent: Short name of the agent.
        session_id: What its adapter says, or "".
    """
    made_up = f"{core.session_prefix or agent}_{secrets.token_hex(4)}"
    return safe_session_id(core.session_id or session_id or made_up)


def _pin(settings: Settings, core: CoreSettings, agent: str) -> tuple[str, str]:
    """Return the pin and where it stands; an unknown word is reported and counts as none."""
    if agent == "pi" and (own := settings.lookup(_PI_PIN).strip()):
        pin, forced_by, source = own.lower(), _PI_PIN, settings.get_variable_source(_PI_PIN)
    else:
        pin, forced_by, source = core.backend.lower(), "backend", settings.get_source("", "backend")
        if source in {SHELL, ENV_FILE}:
            forced_by = next(name for name in _PINS if settings.lookup(name).strip())
    if not pin:
        return "", ""
    if pin in LOCAL_WORDS | CLOUD_WORDS:
        return pin, forced_by
    settings.problem(
        forced_by,
        source,
        f"{forced_by} is {pin!r}, which is no known mode; use local or cloud. The mode is decided "
        "without it.",
    )
    return "", ""


def _address(url: str) -> str:
    return url.strip().rstrip("/")
