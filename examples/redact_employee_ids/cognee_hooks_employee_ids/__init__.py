"""Takes employee ids, such as EMP-123456, out of everything that cognee-hooks sends."""

from __future__ import annotations

import re

from cognee_hooks import Pattern, PluginContext, Redactor, hookimpl

LABEL = "employee-id"

# Ids are also dictated, typed and pasted with blanks or underscores and in lower case. RE2 has no
# look-around, so what needs a look at the neighbours is a function instead of a pattern.
_LOOSE = re.compile(r"(?<![A-Za-z0-9])emp[ _]?(\d{6})(?!\d)", re.IGNORECASE)


def redact_loose_ids(text: str) -> str:
    """Return text without ids in their looser spellings.

    Args:
        text: What the built-in rules left.
    """
    return _LOOSE.sub(f"[redacted:{LABEL}]", text)


class EmployeeIds:
    """Brings two redactors: one that is a pattern, one that is a function."""

    @hookimpl
    def cognee_register_redactors(self) -> list[Redactor]:
        """Return the redactors."""
        return [
            Redactor(
                name="employee-ids",
                label=LABEL,
                patterns=(Pattern(r"\bEMP-\d{6}\b"),),
            ),
            Redactor(name="employee-ids-loose", label=LABEL, function=redact_loose_ids),
        ]


def plugin(_context: PluginContext) -> EmployeeIds:
    """Make the plugin; the entry point names this function."""
    return EmployeeIds()
