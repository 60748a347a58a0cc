"""Health, login, credentials and API keys."""

from __future__ import annotations

import uuid

import httpx

from tests.support.servers import PASSWORD, USERNAME, Server, login

DENIED = "not-the-password"


def test_health_needs_no_credentials_and_tells_the_version(anonymous: httpx.Client, server: Server):
    answer = anonymous.get("/health")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["health"]) == ("ready", "healthy")
    assert body["version"] == (
        server.name.removeprefix("cognee-") if "-" in server.name else "1.6.5"
    )


def test_login_takes_a_form_and_answers_with_a_bearer_token(anonymous: httpx.Client):
    answer = anonymous.post("/api/v1/auth/login", data={"username": USERNAME, "password": PASSWORD})
    assert answer.status_code == 200
    assert answer.json()["token_type"] == "bearer"
    assert "HttpOnly" in answer.headers["set-cookie"]
    headers = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    assert anonymous.get("/api/v1/auth/me", headers=headers).json() == {"email": USERNAME}


def test_the_cookie_of_a_login_is_a_credential(server: Server):
    with httpx.Client(base_url=server.url, timeout=30) as browser:
        browser.post("/api/v1/auth/login", data={"username": USERNAME, "password": PASSWORD})
        assert browser.get("/api/v1/auth/me").status_code == 200


def test_login_refuses_everything_else_alike(anonymous: httpx.Client):
    attempts = [
        {"data": {"username": USERNAME, "password": DENIED}},
        {"data": {"username": "nobody@example.com", "password": PASSWORD}},
        {"json": {"username": USERNAME, "password": PASSWORD}},
    ]
    for attempt in attempts:
        answer = anonymous.post("/api/v1/auth/login", **attempt)
        assert (answer.status_code, answer.json()) == (400, {"detail": "LOGIN_BAD_CREDENTIALS"})


def test_no_or_wrong_credentials_are_401(anonymous: httpx.Client, server: Server):
    for headers in ({}, {"X-Api-Key": "0" * 64}, {"Authorization": f"Bearer {server.key}"}):
        answer = anonymous.get("/api/v1/users/me", headers=headers)
        assert answer.status_code == 401
        assert answer.json()["detail"].startswith(server.can.unauthorized)


def test_any_valid_credential_wins(anonymous: httpx.Client, server: Server):
    headers = {"X-Api-Key": "0" * 64, "Authorization": f"Bearer {login(server.url)}"}
    assert anonymous.get("/api/v1/users/me", headers=headers).status_code == 200


def test_the_user_is_an_owner_without_tenant(api: httpx.Client):
    user = api.get("/api/v1/users/me").json()
    assert user["email"] == USERNAME
    assert user["is_active"] is True
    assert user["tenant_id"] is None
    assert user["parent_user_id"] is None


def test_a_key_can_be_minted_listed_used_and_deleted(api: httpx.Client, anonymous: httpx.Client):
    minted = api.post("/api/v1/auth/api-keys", json={"name": "agent-memory"}).json()
    assert set(minted) == {"key", "label", "name", "id"}
    assert len(minted["key"]) == 64
    assert minted["label"] == minted["key"][:8] + "****"
    assert minted in api.get("/api/v1/auth/api-keys").json()
    headers = {"X-Api-Key": minted["key"]}
    assert anonymous.get("/api/v1/auth/me", headers=headers).status_code == 200
    deleted = api.delete(f"/api/v1/auth/api-keys/{minted['id']}")
    assert (deleted.status_code, deleted.json()) == (200, None)
    assert anonymous.get("/api/v1/auth/me", headers=headers).status_code == 401


def test_deleting_an_unknown_key_is_a_500_that_is_not_json(api: httpx.Client):
    answer = api.delete(f"/api/v1/auth/api-keys/{uuid.uuid4()}")
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")


def test_an_eleventh_key_is_refused(api: httpx.Client):
    minted: list[str] = []
    while (answer := api.post("/api/v1/auth/api-keys", json={})).status_code == 200:
        assert answer.json()["name"] is None
        minted.append(answer.json()["id"])
    held = len(api.get("/api/v1/auth/api-keys").json())
    for key_id in minted:
        api.delete(f"/api/v1/auth/api-keys/{key_id}")
    assert held == 10
    assert answer.status_code == 400
    message = "You have reached the maximum number of API keys."
    assert answer.json() == {"error": {"message": message}}
