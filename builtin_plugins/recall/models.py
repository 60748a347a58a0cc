"""Whether the server's models take its keys: what the server says when it tries them.

By the cognee 1.6 HTTP contract ``/health`` looks at no model, so a server whose model key is wrong
calls itself healthy while nothing is recalled or remembered. ``/health/detailed`` makes one call to
each of its models; where an endpoint is dead that takes half a minute, so that it is for people who
ask, and not for prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.printable import one_line
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.wire import SMALL_BODY

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.client import CogneeClient

MAX_DETAIL = 200

_PARTS = {
    "llm_provider": ("model", "LLM_API_KEY"),
    "embedding_service": ("embedding model", "EMBEDDING_API_KEY or LLM_API_KEY"),
}
_GONE = (404, 405)
_REFUSED = re.compile(
    r"(?i)\b(?:401|403)\b|authenticat|unauthori[sz]ed|forbidden|permission.?denied|"
    r"(?:invalid|incorrect|missing|no)\W+api\W*key|api\W*key\W+(?:is\W+)?(?:invalid|not|missing)"
)


async def rows(client: CogneeClient, deadline: Deadline) -> list[CheckResult]:
    """Have the server try its models, and return a row for each that it tells of.

    Args:
        client: The server's client.
        deadline: How long to wait for it.
    """
    try:
        answer = await client.look_up(
            "/health/detailed", deadline, accept="application/json", max_bytes=SMALL_BODY
        )
    except ServerFailure as failure:
        # That a server does not answer at all is another row's matter.
        return [_unknown()] if failure.kind is FailureKind.TIMED_OUT else []
    document = answer.document
    components = document.get("components") if isinstance(document, Mapping) else None
    # The embedded server has no models, and no such route.
    if answer.status in _GONE or not isinstance(components, Mapping):
        return []
    return list(_of(components))


def _of(components: Mapping[str, object]) -> Iterator[CheckResult]:
    for part, (name, variable) in _PARTS.items():
        found = components.get(part)
        if isinstance(found, Mapping):
            yield _row(name, variable, found)


def _row(name: str, variable: str, found: Mapping[str, object]) -> CheckResult:
    detail = one_line(str(found.get("details") or ""))[:MAX_DETAIL]
    if found.get("status") == "healthy":
        spent = found.get("response_time_ms")
        time = f" in {spent} ms" if type(spent) is int else ""
        return CheckResult(name=name, status=CheckStatus.OK, detail=f"answers the server{time}")
    if _REFUSED.search(detail):
        return CheckResult(
            name=name,
            status=CheckStatus.FAILED,
            detail=f"refuses the server's key: {detail}",
            remedy=f"correct {variable} where the server gets it (for the local one "
            "~/.cognee/.env), and start the server again",
        )
    return CheckResult(
        name=name,
        status=CheckStatus.WARNING,
        detail=f"does not answer the server: {detail or 'no reason is given'}",
        remedy="look at the server's log, and at the address of its model endpoint",
    )


def _unknown() -> CheckResult:
    return CheckResult(
        name="model",
        status=CheckStatus.INFO,
        detail="the server did not say in time whether its models answer; a dead model endpoint "
        "holds it up for half a minute",
        remedy="if recall is slow, or nothing new is remembered, look at the server's log",
    )
