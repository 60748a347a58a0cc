"""Texts that a redactor is judged by: what has to go, and what has to stay.

The secrets are made up, and put together when they are needed, so that no scanner takes this file
for a leak.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_SEED = 20260611


@dataclass(frozen=True, slots=True)
class Sample:
    """One text.

    Attributes:
        kind: What it is, in a word or two.
        text: The text.
        secret: What must not be in it afterwards; "" where it must come back as it is.
    """

    kind: str
    text: str
    secret: str = ""


def samples() -> Iterator[Sample]:
    """Yield all samples, the same ones each time."""
    yield from _secrets(random.Random(_SEED))  # noqa: S311 - made up on purpose
    yield from (Sample(kind, text) for kind, text in HARMLESS)


def _secrets(source: random.Random) -> Iterator[Sample]:
    def made(length: int, alphabet: str = _LETTERS) -> str:
        return "".join(source.choices(alphabet, k=length))

    for kind, prefix, length in (
        ("GitHub token", "ghp_", 36),
        ("GitLab token", "glpat-", 20),
        ("OpenAI key", "sk-proj-", 48),
        ("Anthropic key", "sk-ant-api03-", 93),
        ("npm token", "npm_", 36),
        ("Slack token", "xoxb-123456789012-123456789012-", 24),
    ):
        secret = prefix + made(length)
        yield Sample(kind, f"export TOKEN={secret} && ./deploy", secret)
        yield Sample(f"{kind} in prose", f"I used {secret}, and it still says no.", secret)
    access = "AKIA" + made(16, string.ascii_uppercase + "234567")
    yield Sample("AWS access key", f"aws_access_key_id = {access}", access)
    bearer = made(40)
    header = f"curl -H 'Authorization: Bearer {bearer}' https://api.example.com"
    yield Sample("bearer header", header, bearer)
    password = made(8) + "!" + made(8)
    yield Sample("address", f"postgres://app:{password}@db.internal:5432/orders", password)
    yield Sample("assignment", f"PGPASSWORD={password} psql -h db.internal", password)
    yield Sample("JSON", f'{{"user": "app", "password": "{password}"}}', password)
    yield Sample("YAML", f"db:\n  user: app\n  password: {password}\n  port: 5432", password)
    body = "\n".join(made(64) for _ in range(6))
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    yield Sample("private key", f"{begin}\n{body}\n{end}", body.split("\n", maxsplit=1)[0])


HARMLESS: tuple[tuple[str, str], ...] = (
    ("prose", "The refund job runs on Fridays; see docs/refunds.md for the details."),
    ("commit ids", "shipped via #1466, squash 0fda534e, merge 4c536992"),
    ("commit id", "git show 3f9ac1e57b2d8c4410a6f0e2b95d7713c8aa0e41"),
    ("UUID", "dataset 42391ba7-2487-5312-8912-589684ac04d2 is ready"),
    ("reference", "password: ${{ secrets.DB_PASSWORD }}"),
    ("variable", "Authorization: Bearer ${GITHUB_TOKEN}"),
    ("code", "def token_count(text: str) -> int:\n    return len(tokenize(text))"),
    ("path", "/home/user/project/src/auth/password_reset.py:41"),
    ("time", "2026-01-14T09:27:33.418203+00:00 INFO worker started pid=48213"),
    ("address", "https://docs.example.com/guide?page=2&sort=asc#tokens"),
    ("other alphabets", "Das Passwort wurde geändert. 密碼已更改。 Пароль изменён."),
    ("emoji", "done 👍🏽 and 👩‍👩‍👧‍👦 shipped"),
    ("numbers", "rows: 1,234,567; 3.14159; 0x7ffee4c0; 192.168.0.12:8080"),
    ("table", "| key | value |\n| --- | --- |\n| port | 7431 |"),
    ("empty", ""),
)
"""Kind and text of what has to come back as it is."""
