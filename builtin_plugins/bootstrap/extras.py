"""Which extras of cognee the configured databases and models need."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from builtin_plugins.bootstrap.version import PIN

_RULES = (
    ("DB_PROVIDER", frozenset({"postgres", "postgresql"}), "postgres-binary"),
    ("VECTOR_DB_PROVIDER", frozenset({"pgvector"}), "postgres-binary"),
    ("GRAPH_DATABASE_PROVIDER", frozenset({"neo4j"}), "neo4j"),
    ("EMBEDDING_PROVIDER", frozenset({"fastembed"}), "fastembed"),
    ("LLM_PROVIDER", frozenset({"ollama"}), "ollama"),
)

SENTINELS: dict[str, str] = {
    "postgres-binary": "asyncpg",
    "neo4j": "neo4j",
    "fastembed": "fastembed",
    "ollama": "transformers",
}
"""The distribution of each extra whose presence tells that the extra is installed."""


def needed(environ: Mapping[str, str]) -> list[str]:
    """Return the extras that a server with this environment needs, each once."""
    found = (
        extra
        for variable, values, extra in _RULES
        if environ.get(variable, "").strip().lower() in values
    )
    return list(dict.fromkeys(found))


def missing(extras: Sequence[str], absent: Collection[str]) -> list[str]:
    """Return those extras whose distribution is absent."""
    return [extra for extra in extras if SENTINELS[extra] in absent]


def requirement(extras: Sequence[str], version: str = PIN) -> str:
    """Return what an installer is told, such as ``cognee[neo4j]==1.6.5``."""
    return f"cognee[{','.join(extras)}]=={version}" if extras else f"cognee=={version}"
