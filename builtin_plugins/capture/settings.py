"""Options of the capture plugin. The master switch is the core's ``capture``."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option

DEFAULT_TOOLS = (
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "PowerShell",
    "Read",
    "Write",
    "apply_patch",
    "bash",
    "edit",
    "find",
    "grep",
    "ls",
    "powershell",
    "read",
    "write",
)
"""Tools of the agents that we know, each in its agent's spelling."""


@dataclass(frozen=True)
class CaptureSettings:
    """What a user may choose about capture."""

    tools: tuple[str, ...] = option(
        default=DEFAULT_TOOLS,
        env="COGNEE_CAPTURE_TOOLS",
        separator="|",
        help="Tools whose calls are kept; globs, case-sensitive. Replaces the default.",
    )
    deny_paths: tuple[str, ...] = option(
        default=(),
        env="COGNEE_CAPTURE_DENY_PATHS",
        narrow=Narrow.ADD,
        help="Files that no kept call may touch, besides the built-in list; globs.",
    )
    max_question_bytes: int = option(
        default=4000,
        env="COGNEE_CAPTURE_MAX_QUESTION_BYTES",
        minimum=100,
        help="Longest kept prompt in UTF-8 bytes.",
    )
    max_answer_bytes: int = option(
        default=8000,
        env="COGNEE_CAPTURE_MAX_ANSWER_BYTES",
        minimum=100,
        help="Longest kept answer in UTF-8 bytes.",
    )
