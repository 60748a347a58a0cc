"""Options of the status line."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import option


@dataclass(frozen=True)
class StatuslineSettings:
    """What a user may choose about the status line."""

    credits: bool = option(
        default=True,
        env="COGNEE_STATUSLINE_CREDITS",
        help="Show what is left of the credits of a cloud server.",
    )
    credits_file: str = option(
        default="",
        env="COGNEE_CREDITS_FILE",
        help="File in which the cognee plugins note the credits.",
    )
    cost: bool = option(
        default=True,
        env="COGNEE_STATUSLINE_COST",
        help="Show about how many tokens of the model's context memory has used in this session.",
    )
    billing_url: str = option(
        default="https://platform.cognee.ai/billing",
        env="COGNEE_BILLING_URL",
        help="Where credits are bought; shown when at most one dollar is left.",
    )
    llm_api_key: str = option(
        default="",
        env="LLM_API_KEY",
        secret=True,
        help="Key of the local server's model; here it is only looked at whether there is one.",
    )
