"""Who may use the server: one account, its API keys, and its login tokens."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
import uuid
from typing import Any

from cognee_hooks.embedded.clock import utc_now
from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.errors import ApiError, detail

EMAIL = "default_user@example.com"
DEFAULT_PASSWORD = "default_password"  # noqa: S105 - the contract's published default
MAX_API_KEYS = 10
TOKEN_SECONDS = 3600


class Accounts:
    """The owner account.

    API keys live in the data file (in clear, as the contract's list of them shows them; the file is
    readable by its owner only). Login tokens live in memory and end with the server.
    """

    def __init__(self, database: Database, password: str) -> None:
        self._database = database
        self._password = password
        self._tokens: dict[str, float] = {}
        self._lock = threading.Lock()
        self.owner_id = self._owner_id()

    def _owner_id(self) -> str:
        with self._database.transaction() as connection:
            row = connection.execute("SELECT value FROM settings WHERE name = 'owner'").fetchone()
            if row is not None:
                return str(row["value"])
            owner = str(uuid.uuid4())
            connection.execute("INSERT INTO settings VALUES ('owner', ?)", (owner,))
            return owner

    def profile(self) -> dict[str, Any]:
        """The account as ``GET /api/v1/users/me`` shows it."""
        return {
            "id": self.owner_id,
            "email": EMAIL,
            "is_active": True,
            "is_superuser": True,
            "is_verified": True,
            "tenant_id": None,
            "parent_user_id": None,
        }

    def login(self, username: str, password: str) -> str:
        """A token for an hour.

        Raises:
            ApiError: 400 where name or password is wrong.
        """
        known = hmac.compare_digest(username.encode(), EMAIL.encode())
        if not (hmac.compare_digest(password.encode(), self._password.encode()) and known):
            raise detail(400, "LOGIN_BAD_CREDENTIALS")
        token = secrets.token_urlsafe(32)
        now = time.monotonic()
        with self._lock:
            self._tokens = {held: end for held, end in self._tokens.items() if end > now}
            self._tokens[token] = now + TOKEN_SECONDS
        return token

    def accepts_token(self, token: str) -> bool:
        """Whether a login token is known and not expired."""
        with self._lock:
            return self._tokens.get(token, 0.0) > time.monotonic()

    def accepts_key(self, key: str) -> bool:
        """Whether this is one of the API keys."""
        return self._database.row("SELECT 1 FROM api_keys WHERE key = ?", (key,)) is not None

    def keys(self) -> list[dict[str, Any]]:
        """All API keys, oldest first."""
        rows = self._database.rows("SELECT id, key, name FROM api_keys ORDER BY created_at, id")
        return [_shown(row["id"], row["key"], row["name"]) for row in rows]

    def create_key(self, name: str | None) -> dict[str, Any]:
        """Mint an API key.

        Raises:
            ApiError: 400 where there are ten already.
        """
        key_id, key = str(uuid.uuid4()), secrets.token_hex(32)
        with self._database.transaction() as connection:
            count: int = connection.execute("SELECT count(*) FROM api_keys").fetchone()[0]
            if count >= MAX_API_KEYS:
                message = "You have reached the maximum number of API keys."
                raise ApiError(400, {"error": {"message": message}})
            connection.execute(
                "INSERT INTO api_keys VALUES (?, ?, ?, ?)", (key_id, key, name, utc_now())
            )
        return _shown(key_id, key, name)

    def delete_key(self, key_id: str) -> bool:
        """Delete an API key; False where there is none of that id."""
        with self._database.transaction() as connection:
            gone = connection.execute("DELETE FROM api_keys WHERE id = ?", (key_id,))
            return gone.rowcount == 1


def _shown(key_id: str, key: str, name: str | None) -> dict[str, Any]:
    return {"key": key, "label": f"{key[:8]}****", "name": name, "id": key_id}
