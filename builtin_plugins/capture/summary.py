"""What a tool call comes to in few words.

The server keeps 1000 characters of each text of a trace, and of a trace only the return value
reaches the graph (cognee 1.6). So the return value begins with what was called, and a long output
keeps its beginning and its end.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

LIMIT = 997
"""Characters that the server stores without a mark of its own at the end."""
HEADLINE_LIMIT = 300
_HEADLINE_KEYS = ("command", "file_path", "path", "notebook_path", "pattern", "query", "url")
_GAP = "\n…\n"
_HEAD, _TAIL = 12_000, 6_000


def headline(tool_input: Mapping[str, Any]) -> str:
    """Return the argument that says what a call is about, in one line; "" if none does."""
    for key in _HEADLINE_KEYS:
        value = tool_input.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return " ".join(" ".join(command_lines(tool_input)).split())


def command_lines(tool_input: Mapping[str, Any]) -> list[str]:
    """Return the command lines of a call; some agents send one as a list of arguments."""
    command = tool_input.get("command")
    if isinstance(command, (list, tuple)):
        return [shlex.join(each for each in command if isinstance(each, str))]
    return [command] if isinstance(command, str) else []


def response_text(response: Any) -> str:
    """Return the text of a tool's response, whatever shape the agent gives it."""
    if response is None:
        return ""
    if isinstance(response, str):
        return response
    if isinstance(response, (list, tuple)):
        return "\n".join(filter(None, map(_block_text, response)))
    if isinstance(response, Mapping):
        return _object_text(response)
    return _compact(response)


def _block_text(block: Any) -> str:
    if isinstance(block, Mapping) and isinstance(block.get("text"), str):
        return str(block["text"])
    return block if isinstance(block, str) else ""


def _object_text(response: Mapping[str, Any]) -> str:
    if isinstance(response.get("stdout"), str) or isinstance(response.get("stderr"), str):
        outputs = (response.get("stdout"), response.get("stderr"))
        return "\n".join(each for each in outputs if isinstance(each, str) and each)
    if isinstance(response.get("structuredPatch"), list):
        hunks = [hunk for hunk in response["structuredPatch"] if isinstance(hunk, Mapping)]
        parts = [hunk["lines"] for hunk in hunks if isinstance(hunk.get("lines"), list)]
        lines = [line for part in parts for line in part if isinstance(line, str)]
        if lines:
            return "\n".join(lines)
    file = response.get("file")
    if isinstance(file, Mapping) and isinstance(file.get("content"), str):
        return str(file["content"])
    if isinstance(response.get("content"), (str, list)):
        return response_text(response["content"])
    return _compact(response)


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def clipped(text: str) -> str:
    """Return the beginning and the end of a very long output, before anything is done with it.

    Both are many times longer than what is kept in the end, so that whatever a cut damages, such as
    a secret that is no longer recognised as one, lies far outside of it. Words at the cuts go
    whole.
    """
    if len(text) <= _HEAD + _TAIL:
        return text
    head, _, _ = text[:_HEAD].rpartition("\n")
    _, _, tail = text[-_TAIL:].partition("\n")
    return f"{head}{_GAP}{tail}" if head and tail else text[:_HEAD].rpartition(" ")[0]


def summary(called: str, output: str, limit: int = LIMIT) -> str:
    """Join what was called and what came out into at most ``limit`` characters.

    Args:
        called: The headline.
        output: The output.
        limit: Characters.
    """
    if len(called) > HEADLINE_LIMIT:
        called = called[: HEADLINE_LIMIT - 1] + "…"
    start = f"{called}\n" if called and output else called
    return start + _middle_out(output.strip(), limit - len(start))


def _middle_out(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    tail = room // 3
    return text[: room - tail - len(_GAP)] + _GAP + text[len(text) - tail :]
