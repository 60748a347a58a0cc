"""What ``cognee-hooks doctor`` says about capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builtin_plugins.capture.settings import DEFAULT_TOOLS, CaptureSettings
from cognee_hooks.results import CheckResult, CheckStatus

if TYPE_CHECKING:
    from cognee_hooks import PluginContext

NAME, POLICY = "capture", "capture policy"


def rows(
    context: PluginContext, settings: CaptureSettings, bad_patterns: Sequence[str]
) -> list[CheckResult]:
    """Return all rows.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
        bad_patterns: Patterns that cannot be used.
    """
    if not context.core.capture:
        remedy = "set COGNEE_CAPTURE=true to keep prompts, answers and tool calls"
        return [CheckResult.off(NAME, remedy)]
    return [_patterns(bad_patterns), _policy(context, settings)]


def _patterns(bad: Sequence[str]) -> CheckResult:
    if not bad:
        return CheckResult(name=NAME, status=CheckStatus.OK, detail="on")
    return CheckResult(
        name=NAME,
        status=CheckStatus.WARNING,
        detail=f"on; patterns that cannot be used: {', '.join(bad)}",
        remedy="mend COGNEE_CAPTURE_TOOLS or COGNEE_CAPTURE_DENY_PATHS",
    )


def _policy(context: PluginContext, settings: CaptureSettings) -> CheckResult:
    core = context.core
    whose = "the default" if settings.tools == DEFAULT_TOOLS else "your own"
    parts = (
        f"tools: {len(settings.tools)} patterns ({whose})",
        f"denied paths of yours: {len(settings.deny_paths)}",
        f"redaction: {'on' if core.redact else 'off'}",
        f"patterns of yours: {len(core.redact_patterns)}",
    )
    return CheckResult(name=POLICY, status=CheckStatus.OK, detail=" · ".join(parts))
