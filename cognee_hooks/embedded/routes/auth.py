"""Health, login, the account, and its API keys."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from cognee_hooks.embedded.accounts import EMAIL
from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.fields import Fields
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.services.answers import EMBEDDED

COMPATIBLE_VERSION = "1.6.5"
"""The cognee release whose behaviour this server has; clients read it from ``/health``."""


def health(memory: EmbeddedMemory, _call: RouteCall) -> Response:
    """``GET /health``: 200 while the data file can be read, else 503."""
    body = {"status": "ready", "health": "healthy", "version": COMPATIBLE_VERSION}
    try:
        memory.database.row("SELECT count(*) FROM datasets")
    except sqlite3.Error:
        broken = {**body, "status": "not ready", "health": "unhealthy"}
        return JSONResponse(broken, 503)
    return JSONResponse({**body, "server": EMBEDDED})


def login(memory: EmbeddedMemory, call: RouteCall) -> Response:
    """``POST /api/v1/auth/login``: a bearer token, in the body and as a cookie."""
    token = memory.accounts.login(call.field("username") or "", call.field("password") or "")
    answer = JSONResponse({"access_token": token, "token_type": "bearer"})
    answer.set_cookie("auth_token", token, httponly=True, samesite="lax", path="/")
    return answer


def me(_memory: EmbeddedMemory, _call: RouteCall) -> dict[str, Any]:
    """``GET /api/v1/auth/me``."""
    return {"email": EMAIL}


def user(memory: EmbeddedMemory, _call: RouteCall) -> dict[str, Any]:
    """``GET /api/v1/users/me``."""
    return memory.accounts.profile()


def list_keys(memory: EmbeddedMemory, _call: RouteCall) -> list[dict[str, Any]]:
    """``GET /api/v1/auth/api-keys``."""
    return memory.accounts.keys()


def create_key(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/auth/api-keys``."""
    fields = Fields(call.body, "body")
    name = fields.optional_text("name")
    fields.check(call.body)
    return memory.accounts.create_key(name)


def delete_key(memory: EmbeddedMemory, call: RouteCall) -> Response:
    """``DELETE /api/v1/auth/api-keys/{id}``; the contract answers 500 for an unknown id."""
    if memory.accounts.delete_key(call.path_id("key_id")):
        return JSONResponse(None)
    return PlainTextResponse("Internal Server Error", 500)
