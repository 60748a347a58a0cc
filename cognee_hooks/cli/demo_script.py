"""What is said in the demo."""

from __future__ import annotations

from cognee_hooks.events import PostToolUse

EARLIER_PROMPT = "Where does the billing service listen, and why not on 8080?"
EARLIER_ANSWER = (
    "The billing service listens on port 7431, because 8080 is taken by the legacy ledger."
)
PROMPT = "Which port does the billing service listen on?"
ANSWER = "On port 7431. I checked it: the health route answers."
OUTAGE_PROMPT = "Please add a retry to the billing client."
OUTAGE_ANSWER = "Done: three tries with jitter in billing/client.py."
FOLLOW_UP = "Remind me why the billing service is not on 8080."


def tool_call(session_id: str) -> tuple[dict[str, str], PostToolUse]:
    """Return made-up secrets by name, and a tool call that carries them.

    They are put together here so that scanners of source code stay quiet.
    """
    secrets = {
        "github": "ghp_" + "4yT8kQ2mZ6wX9cV1bN3s" + "L7jH5gF0dRaPqEuO",
        "aws": "AKIA" + "Q3VT7W2MZ5KXN4RB",
        "password": "correct-horse" + "!9battery",
    }
    command = f"curl -H 'Authorization: Bearer {secrets['github']}' localhost:7431/health"
    output = (
        f"aws_access_key_id = {secrets['aws']}\n"
        f"DB_PASSWORD={secrets['password']}\n"
        '{"status": "ok", "port": 7431}'
    )
    call = PostToolUse(
        session_id=session_id,
        agent="claude-code",
        tool_name="Bash",
        tool_input={"command": command},
        tool_response={"stdout": output, "stderr": ""},
    )
    return secrets, call
