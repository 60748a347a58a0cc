"""The error answers of the cognee 1.6 HTTP contract, as exceptions.

The server's own errors carry their name in brackets at the end of ``detail``: clients decide on it.
"""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """An answer other than success.

    Attributes:
        status: HTTP status.
        body: What the answer's JSON body holds.
    """

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body


def detail(status: int, text: str, name: str = "") -> ApiError:
    """A ``{"detail": "text [Name]"}`` answer, or plain text without a name."""
    return ApiError(status, {"detail": f"{text} [{name}]" if name else text})


def plain(status: int, text: str) -> ApiError:
    """An ``{"error": "text"}`` answer of a route that reports its own failures."""
    return ApiError(status, {"error": text})


def validation(issues: list[dict[str, Any]], body: Any) -> ApiError:
    """The 400 of request validation, which echoes the request as cognee does."""
    return ApiError(400, {"detail": issues, "body": body})


def permission_denied(permission: str) -> ApiError:
    """The 403 for a dataset id that is foreign or unknown: the contract never tells which."""
    return detail(
        403,
        "Request owner does not have necessary permission: "
        f"[{permission}] for all datasets requested.",
        "PermissionDeniedError",
    )


def datasets_not_found(names: list[str]) -> ApiError:
    """The 404 of a recall that names datasets which are not there."""
    listed = ", ".join(repr(name) for name in names)
    return detail(
        404,
        f"Dataset(s) not found: {listed}. Dataset names resolve only among the datasets you own "
        "in the current tenant; pass dataset_ids for datasets shared with you.",
        "DatasetNotFoundError",
    )


def no_data(name: str, dataset_id: str) -> ApiError:
    """The 404 of a recall from a dataset that holds nothing yet."""
    return detail(
        404,
        f"No searchable memory in dataset '{name}' (id: {dataset_id}): no data has been added; "
        "add data and run cognify before searching.",
        "NoDataError",
    )


def invalid_entry() -> ApiError:
    """The 400 of an entry without a session, or for a dataset that its session is not bound to."""
    return plain(400, "Invalid remember request.")


def no_dataset_given() -> ApiError:
    """The 400 of a call that names its dataset neither by id nor by name."""
    return detail(400, "Either datasetId or datasetName must be provided.")


def rejected_by_cache(action: str, model: str, field: str, reason: str, value: Any) -> ApiError:
    """The 503 with which the contract answers some entries that can never be stored."""
    return detail(
        503,
        f"Unexpected error while {action} to SQL cache: "
        + _one_validation_error(model, field, reason, value),
        "CacheConnectionError",
    )


def rejected_feedback(field: str, reason: str, value: Any) -> ApiError:
    """The 422 of a feedback entry with an impossible value."""
    return detail(
        422,
        "Session QA entry validation failed: "
        + _one_validation_error("SessionQAEntry", field, reason, value),
        "SessionQAEntryValidationError",
    )


def _one_validation_error(model: str, field: str, reason: str, value: Any) -> str:
    kind = type(value).__name__
    return (
        f"1 validation error for {model}\n{field}\n  Value error, {reason} "
        f"[type=value_error, input_value={value!r}, input_type={kind}]"
    )
