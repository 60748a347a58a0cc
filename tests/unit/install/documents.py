"""Documents as people and tools write them, for property tests."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from cognee_hooks.install.jsonhooks import HookTable

OURS = "/venv/bin/python -I -S /venv/lib/cognee_hooks/daemon/client.py"
EVENTS = ("Stop", "SessionStart", "PreCompact")


def entry(event: str, launcher: str = OURS) -> dict[str, Any]:
    """Our entry for an event."""
    return {"hooks": [{"type": "command", "command": f"{launcher} agent {event}", "timeout": 5}]}


def table(launcher: str = OURS, **options: Any) -> HookTable:
    """What belongs into the documents."""
    return HookTable(entries={event: entry(event, launcher) for event in EVENTS}, **options)


_scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
_handlers = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text(max_size=8)},
    optional={"timeout": st.integers()},
)
_groups = st.fixed_dictionaries(
    {"hooks": st.lists(_handlers, max_size=2)}, optional={"matcher": st.text(max_size=3)}
)
_entries = st.lists(_groups | _values, max_size=3)
_hooks = st.dictionaries(st.sampled_from(EVENTS), _entries, max_size=3) | st.dictionaries(
    st.sampled_from(["Notification", "Stop"]), _entries, max_size=2
)
settings = st.dictionaries(st.text(max_size=4), _values, max_size=4).flatmap(
    lambda others: st.tuples(_hooks, st.permutations([*others, "hooks"])).map(
        lambda made: {key: made[0] if key == "hooks" else others[key] for key in made[1]}
    )
) | st.dictionaries(st.text(max_size=4), _values, max_size=4).filter(
    lambda each: "hooks" not in each
)
"""Objects with and without hooks of others."""

_spaces = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "  "])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value with white space anywhere."""

    def space() -> str:
        return draw(_spaces)

    def write(each: Any) -> str:
        if isinstance(each, dict):
            members = (
                f"{space()}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{space()}:{space()}"
                f"{write(inner)}{space()}"
                for key, inner in each.items()
            )
            return f"{{{','.join(members) or space()}}}"
        if isinstance(each, list):
            return f"[{','.join(f'{space()}{write(inner)}{space()}' for inner in each) or space()}]"
        return json.dumps(each, ensure_ascii=draw(st.booleans()))

    style = draw(st.sampled_from(["free", "two", "four", "tab", "compact", "line"]))
    if style == "free":
        return space() + write(value) + space()
    indent: Any = {"two": 2, "four": 4, "tab": "\t"}.get(style)
    separators = (",", ":") if style == "compact" else None
    return json.dumps(value, indent=indent, separators=separators) + draw(
        st.sampled_from(["", "\n"])
    )
