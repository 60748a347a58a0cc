"""What ``cognee-hooks doctor`` says about datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks import federation
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.printable import brief
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.names import DEFAULT_DATASET

if TYPE_CHECKING:
    from cognee_hooks import PluginContext
    from cognee_hooks.deadline import Deadline

SHOWN = 10
"""Datasets that are named; the command ``datasets`` names more."""
MARGIN_SECONDS = 0.3
"""Left of the time by the server, so that it is still told that it did not answer."""


async def rows(context: PluginContext, deadline: Deadline) -> list[CheckResult]:
    """Return all rows.

    Args:
        context: The plugin's context.
        deadline: When to be done.
    """
    found = [_dataset(context), _federation(context)]
    if not context.services.mode.missing_base_url:
        found.append(await _readable(context, deadline))
    return found


def _dataset(context: PluginContext) -> CheckResult:
    dataset = context.session.dataset
    if context.services.bindings.default() == dataset:
        where = f"switched to; kept in {context.services.paths.active_dataset_file}"
    elif dataset == DEFAULT_DATASET:
        where = "the default"
    else:
        where = f"as configured ({context.core_source('dataset')})"
    return CheckResult(name="dataset", status=CheckStatus.OK, detail=f"{brief(dataset)} — {where}")


def _federation(context: PluginContext) -> CheckResult:
    problem = context.core_problem(federation.OPTION)
    detail = federation.described(
        context.core.read_dataset_ids,
        context.core_source(federation.OPTION),
        problem,
        brief(context.session.dataset),
    )
    if problem:
        return CheckResult(
            name="federation",
            status=CheckStatus.WARNING,
            detail=detail,
            remedy=f'write it as ["<uuid>", "<uuid>"], or remove {federation.VARIABLE}',
        )
    return CheckResult(name="federation", status=CheckStatus.INFO, detail=detail)


async def _readable(context: PluginContext, deadline: Deadline) -> CheckResult:
    limit = deadline.sparing(MARGIN_SECONDS)
    try:
        found = await context.services.client.datasets(limit)
    except ServerFailure as failure:
        # Why it fails, and what to do, is said of the server and the key.
        why = "the server tells them only to a key" if failure.kind is FailureKind.AUTH else failure
        return CheckResult(name="datasets", status=CheckStatus.INFO, detail=f"unavailable ({why})")
    if not found:
        return CheckResult(name="datasets", status=CheckStatus.INFO, detail="(none readable)")
    shown = ", ".join(f"{brief(each.name)} ({each.id[:8]}…)" for each in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return CheckResult(name="datasets", status=CheckStatus.OK, detail=f"{shown}{more}")
