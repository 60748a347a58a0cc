"""What can be chosen by word, in tools and commands alike."""

from __future__ import annotations

NODE_SETS = ("user_context", "project_docs", "agent_actions")
"""What something that is remembered is about; the first where nobody says."""

HYBRID = "HYBRID_COMPLETION"
SEARCH_TYPES = (
    HYBRID,
    "GRAPH_COMPLETION",
    "RAG_COMPLETION",
    "CHUNKS",
    "CHUNKS_LEXICAL",
    "SUMMARIES",
    "TEMPORAL",
)
"""Ways to search that need no model's answer; the first where nobody says."""

DEFAULT_TOP_K = 5
MAX_TOP_K = 20
