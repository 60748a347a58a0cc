"""Options of the capture plugin. The master switch is the core's ``capture``."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option

DEFAULT_TOOLS = (
    "Bash",
    "Delete",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "PowerShell",
    "Read",
    "Shell",
    "Write",
    "apply_patch",
    "bash",
    "create",
    "edit",
    "find",
    "glob",
    "grep",
    "grep_search",
    "list",
    "list_directory",
    "ls",
    "patch",
    "powershell",
    "read",
    "read_file",
    "read_many_files",
    "replace",
    "run_shell_command",
    "search_file_content",
    "view",
    "write",
    "write_file",
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
