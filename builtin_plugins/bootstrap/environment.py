"""The environment of the server, made from the session's and the shared ``.env`` file.

An agent's environment is full of what is none of a server's business: variables of the agent and of
the terminal, and other programs' secrets. The server lives on when the agent ended, so it gets what
a program needs, what cognee and its models and databases are configured by, and everything that
stands in ``~/.cognee/.env``, which was written for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_PLAIN = frozenset(
    """
    ENV HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TZ USER
    ALL_PROXY HTTP_PROXY HTTPS_PROXY NO_PROXY
    CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
    """.split()
)
"""What any program may need, in either case."""

_INSTALLERS = ("PIP_", "UV_")

_FAMILIES = _INSTALLERS + tuple(
    """
    LC_ XDG_
    ACCEPT_ ALLOW_ AUTO_ BAML_ CACHE_ CACHING CHUNK_ COGNEE_ CORS_ DATA_ DATABASE_ DATASET_ DB_
    DEFAULT_USER_ EMBEDDING_ ENABLE_ ENOLA_ FASTAPI_ GRAPH HASH_ JWT_ LANGFUSE_ LLM_ LOG_ MIGRATION_
    MONITORING_ ONTOLOGY_ OTEL_ REQUIRE_ RESPONSES_ S3_ SENTRY_ STORAGE_ STRUCTURED_ SYSTEM_
    TELEMETRY_ TRANSCRIPTION_ TRIPLET_ USE_ VECTOR_ WEB_SCRAPER_
    ANTHROPIC_ AWS_ AZURE_ BEDROCK_ COHERE_ DEEPSEEK_ FASTEMBED_ GEMINI_ GOOGLE_ GROQ_ HF_
    HUGGINGFACE_ LADYBUG_ LITELLM_ MISTRAL_ NEO4J_ NEPTUNE_ OLLAMA_ OPENAI_ OPENROUTER_ REDIS_
    TIKTOKEN_ TRANSFORMERS_ VERTEX VOYAGE_ XAI_
    """.split()
)
"""Beginnings of names: of the system and of what installs, of cognee, of its models and stores."""

_NOT_THE_SERVERS = (
    "COGNEE_AGENT_MODE",  # with it the server ends when the last agent takes its leave
    "COGNEE_API_KEY",
    "COGNEE_BASE_URL",
    "COGNEE_HOOKS_",
    "COGNEE_LOCAL_API_URL",
    "COGNEE_PI_",
    "COGNEE_SESSION",
    "COGNEE_USER_",  # handed over as the names that the server knows
    "UV_PYTHON_INSTALL_DIR",
)

_DEFAULTS = {
    "CACHING": "true",
    "AUTO_FEEDBACK": "true",
    "LLM_INSTRUCTOR_MODE": "json_schema_mode",
}

FOLDERS = ("SYSTEM_ROOT_DIRECTORY", "DATA_ROOT_DIRECTORY", "CACHE_ROOT_DIRECTORY")
"""Variables that say where the server keeps what it knows, in ``~/.cognee`` where unset."""


def server_environment(
    environ: Mapping[str, str],
    env_values: Mapping[str, str],
    *,
    home: Path,
    email: str,
    password: str,
) -> dict[str, str]:
    """Return the server's whole environment.

    Args:
        environ: The session's environment.
        env_values: What stands in the shared ``.env`` file; a variable of the environment wins.
        home: The person's home folder.
        email: The login with which we make a key there; the server must know the same one.
        password: Its password.
    """
    found = {name: value for name, value in env_values.items() if not _denied(name)}
    for name, value in environ.items():
        if not _denied(name) and (name in found or _wanted(name)):
            found[name] = value
    roots = {name: str(home / ".cognee" / name.partition("_")[0].lower()) for name in FOLDERS}
    login = {"DEFAULT_USER_EMAIL": email, "DEFAULT_USER_PASSWORD": password}
    return {**roots, **_DEFAULTS, **login, "HOME": str(home), **found}


def without_installers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what only installing needs, such as a package index's login."""
    return {name: value for name, value in environ.items() if not name.startswith(_INSTALLERS)}


def _denied(name: str) -> bool:
    return name.startswith(_NOT_THE_SERVERS)


def _wanted(name: str) -> bool:
    return name.upper() in _PLAIN or name.startswith(_FAMILIES)
