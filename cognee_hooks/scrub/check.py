"""Tells which values are refused: taken out, they would take half of everything with them."""

from __future__ import annotations

from cognee_hooks.leak import MARKER

MIN_LENGTH = 6
_MIN_DISTINCT = 4
_MIN_WORD = 8
_VOCABULARY = (
    "agent_sessions answer assistant buffered captured claude-code codex cognee cognee-hooks "
    "context dataset dataset_id dataset_name delivered entries fail_count http://127.0.0.1 "
    "http://localhost hook_event_name localhost method_params method_return_value origin_function "
    "password prompt question recall recalled remember response secret sealed session session_id "
    "session_start start_time status success tool_input tool_name tool_response transcript_path"
)


def value_problem(value: str, home: str) -> str:
    """Return why a value cannot be scrubbed, in a sentence; "" where it can.

    Args:
        value: The value.
        home: The person's home folder, which stands in many files.
    """
    if not value.strip():
        return "no value came on standard input; give the value that leaked there, and only it"
    if len(value.strip()) < MIN_LENGTH:
        return f"a value of fewer than {MIN_LENGTH} characters stands in too many places by chance"
    lowered = value.strip().lower()
    plain = lowered.isalpha() and len(lowered) < _MIN_WORD
    ordinary = lowered in _VOCABULARY or lowered in MARKER or lowered in home.lower()
    if plain or ordinary or len(set(lowered)) < _MIN_DISTINCT:
        return (
            "this value is a word or a pattern that stands in most files, so taking it out would "
            "damage them; give the whole secret"
        )
    if value.isdecimal() and len(value) < MIN_LENGTH + 3:
        return "a number this short stands in times and sizes by chance; give the whole secret"
    return ""
