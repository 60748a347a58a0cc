"""The environment of a drill: the person's settings, and nothing else that is theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cognee_hooks.configuration import envfile
from cognee_hooks.configuration.files import read_text
from cognee_hooks.results import NESTED
from cognee_hooks.services.paths import Paths

_PRIVATE_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|AUTH|DSN", re.IGNORECASE
)
"""Names of variables whose values a drill does without."""

_WITH_PASSWORD = re.compile(r"://[^/@\s]*@")
_PACE = {
    "COGNEE_REQUEST_TIMEOUT_MS": "800",
    "COGNEE_HEALTH_TIMEOUT_MS": "500",
    "COGNEE_BRIDGE_SETTLE_MS": "1000",
    "COGNEE_BRIDGE_BACKOFF_MS": "300",
}
"""What is given up and tried again sooner than usual, so that a drill is over soon."""
_NOT_HERE = {
    "COGNEE_LOCAL_BOOTSTRAP": "false",
    "COGNEE_CODE_AUTOINDEX": "off",
    "COGNEE_PLUGIN_IDENTITY": "false",
    "COGNEE_SHARED_AGENT_MEMORY": "false",
    "COGNEE_HOOKS_UPDATE_CHECK": "false",
    "COGNEE_STATUSLINE_CREDITS": "false",
    "COGNEE_SESSION_ID": "",
    "COGNEE_PLUGIN_READ_DATASET_IDS": "[]",
}
"""What reaches for real servers, real accounts or real repositories."""
_STATE = ("COGNEE_HOOKS_STATE_DIR", "COGNEE_PI_STATE_DIR", "COGNEE_CODE_STATE_DIR")
_XDG = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
_BACKENDS = ("COGNEE_BACKEND", "COGNEE_HOOKS_BACKEND", "COGNEE_PI_BACKEND")
_ADDRESSES = ("COGNEE_BASE_URL", "COGNEE_LOCAL_API_URL")


def drill_environment(environ: Mapping[str, str], folder: Path, url: str) -> dict[str, str]:
    """Return the environment in which a drill's agent and daemon run.

    ``config.yaml`` and the shared env file are read from where they are. State, home, server and
    key are the drill's own, and variables whose names tell of a secret are empty.

    Args:
        environ: The person's environment.
        folder: The drill's folder.
        url: Address of the drill's server.
    """
    own = Paths.of(environ, "agent")
    home = folder / "home"
    kept = {name: value for name, value in environ.items() if name != NESTED}
    # An empty variable also hides what stands in the env file.
    names = {*kept, *envfile.parse(read_text(own.env_file, envfile.MAX_BYTES) or "")}
    hidden = {
        name: ""
        for name in names
        if _PRIVATE_NAME.search(name) or _WITH_PASSWORD.search(kept.get(name, ""))
    }
    return {
        **kept,
        **hidden,
        **_PACE,
        **_NOT_HERE,
        **{name: str(home / name.lower()) for name in _XDG},
        **dict.fromkeys(_STATE, str(folder / "state")),
        **dict.fromkeys(_BACKENDS, "cloud"),
        **dict.fromkeys(_ADDRESSES, url),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(own.config_dir.parent),
        "COGNEE_ENV_FILE": str(own.env_file),
        "COGNEE_API_KEY": "drill-only-not-a-real-one",
        "COGNEE_API_KEY_CACHE": str(home / "api_key.json"),
        "COGNEE_BREAKER_FILE": str(folder / "state" / "breaker.json"),
    }
