"""Writes skills: texts that tell a model when to call our command line, and how.

A skill is a folder with a ``SKILL.md``: front matter with name and description, then Markdown. What
the plugins of a host registered decides what there is, and what it says.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cognee_hooks.core_commands import commands_of
from cognee_hooks.printable import clean, one_line
from cognee_hooks.redaction import cut

if TYPE_CHECKING:
    from cognee_hooks.host import Host
    from cognee_hooks.results import Command, Tool

MARK = "  written-by: cognee-hooks"
MAX_DESCRIPTION = 1000
"""UTF-8 bytes; agents take 1024 characters."""
MAX_SCHEMA_LINES = 60

_HOW_IT_WORKS = (
    "Write a line break inside a text as `\\n`. The marks keep the shell from touching what is "
    "between them. Exit code 0 means that it was done; otherwise the output says why not. Do not "
    "run it in the background."
)
_FOR_PEOPLE = (
    "Only for a person who asks for it. Run this in the shell, with their words between the two "
    "marks, or nothing; show them what it prints:"
)
_PREFIX = "cognee_"
_DIGEST = re.compile(r'^  digest: "([0-9a-f]{16})"$', re.MULTILINE)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TYPES = {"string": "…", "boolean": True, "number": 1, "object": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill.

    Attributes:
        name: Its name, and its folder's.
        text: The whole ``SKILL.md``.
        for_model: Whether the model may use it by itself; otherwise only the person calls it.
    """

    name: str
    text: str
    for_model: bool


def skills_of(host: Host, argv: Sequence[str], *, tools: bool, arguments: str) -> list[Skill]:
    """Return the skills for what the plugins of a host registered.

    Args:
        host: The host.
        argv: How our command line is started.
        tools: Whether the model's tools are wanted, and not only what people call.
        arguments: What the agent replaces by the words with which a person called the skill; ""
            where it replaces nothing.
    """
    found: dict[str, Skill] = {}
    by_tool = {_skill_name(name): tool for name, tool in host.registered.tools.items()}
    for name, tool in by_tool.items():
        if tools and _NAME.fullmatch(name):
            found[name] = _tool_skill(name, tool, argv, arguments)
    for name, command in commands_of(host).items():
        if name not in found and _NAME.fullmatch(name):
            found[name] = _command_skill(name, command, argv, arguments)
    return [found[name] for name in sorted(found)]


def is_ours(text: str) -> bool:
    """Tell whether we wrote a skill."""
    return MARK in text.partition("\n---")[0].splitlines()


def is_untouched(text: str) -> bool:
    """Tell whether a skill of ours is as we wrote it."""
    found = _DIGEST.search(text)
    return found is not None and found[1] == _digest(_DIGEST.sub(_line(""), text, count=1))


def _skill_name(tool: str) -> str:
    return "cognee-" + tool.removeprefix(_PREFIX).replace("_", "-").lower()


def _tool_skill(name: str, tool: Tool, argv: Sequence[str], arguments: str) -> Skill:
    call = shlex.join([*argv, "tool", tool.name])
    rows = _rows(tool.parameters)
    body = [
        f"# {name}",
        clean(tool.description).strip(),
        "Run this in the shell, with the arguments as one JSON object between the two marks:",
        f"```sh\n{call} <<'JSON'\n{_example(tool.parameters)}\nJSON\n```",
        "Arguments:\n\n" + "\n".join(rows) if rows else "There are no arguments.",
        _HOW_IT_WORKS,
    ]
    if arguments:
        body.append(f"If a person called this skill, these are their words: {arguments}")
    return _skill(name, tool.description, body, for_model=True)


def _command_skill(name: str, command: Command, argv: Sequence[str], arguments: str) -> Skill:
    call = shlex.join([*argv, name, "-"])
    told = clean(command.help).strip()
    told = f"{told[:1].upper()}{told[1:]}"
    body = [
        f"# {name}",
        told,
        _FOR_PEOPLE,
        f"```sh\n{call} <<'COGNEE_WORDS'\n{arguments}\nCOGNEE_WORDS\n```",
    ]
    return _skill(name, told, body, for_model=False)


def _skill(name: str, description: str, body: Sequence[str], *, for_model: bool) -> Skill:
    about = json.dumps(cut(one_line(description), MAX_DESCRIPTION), ensure_ascii=False)
    head = ["---", f"name: {name}", f"description: {about}"]
    if not for_model:
        head.append("disable-model-invocation: true")
    head += ["metadata:", MARK, _line(""), "---"]
    text = "\n".join(head) + "\n\n" + "\n\n".join(body) + "\n"
    text = text.replace(_line(""), _line(_digest(text)), 1)
    return Skill(name=name, text=text, for_model=for_model)


def _line(digest: str) -> str:
    return f'  digest: "{digest}"'


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    needed = required if isinstance(required, (list, tuple)) else ()
    rows = []
    for name, each in list(_properties(schema).items())[:MAX_SCHEMA_LINES]:
        about = each if isinstance(each, Mapping) else {}
        kind = one_line(str(about.get("type", "any")))
        facts = [kind, "required"] if name in needed else [kind]
        if isinstance(about.get("enum"), (list, tuple)):
            facts.append("one of " + ", ".join(one_line(str(value)) for value in about["enum"]))
        facts += [
            f"{word} {about[bound]}"
            for bound, word in (("minimum", "at least"), ("maximum", "at most"))
            if isinstance(about.get(bound), int)
        ]
        text = one_line(str(about.get("description", "")))
        rows.append(
            f"* `{one_line(str(name))}` ({'; '.join(facts)})" + (f": {text}" if text else "")
        )
    return rows


def _example(schema: Mapping[str, Any]) -> str:
    properties = _properties(schema)
    required = schema.get("required")
    names = [name for name in properties if name in (required or ())] or list(properties)[:1]
    return json.dumps({name: _value(properties[name]) for name in names}, ensure_ascii=False)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _value(about: Any) -> Any:
    if not isinstance(about, Mapping):
        return "…"
    enum = about.get("enum")
    if isinstance(enum, (list, tuple)) and enum:
        return enum[0]
    if about.get("type") == "array":
        return [_value(about.get("items"))]
    if about.get("type") == "integer":
        least = about.get("minimum", 1)
        return least if isinstance(least, int) else 1
    return _TYPES.get(str(about.get("type")), "…")
