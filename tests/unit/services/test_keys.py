from __future__ import annotations

import asyncio
import logging
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services import keys as module
from cognee_hooks.services.keys import Key, KeyChain
from cognee_hooks.services.statefile import read_object, write_json

URL = "http://127.0.0.1:8011"
GOOD = "a1" * 32
OTHER = "b2" * 32
TOKEN = "header." + "payload." + "signature"
PASSWORD = "default_" + "password"


class Server:
    """The three routes that a key is made with."""

    def __init__(self):
        self.listed = []
        self.login = (200, {"access_token": TOKEN})
        self.created = (200, {"key": GOOD, "label": "x"})
        self.calls = []
        self.delay = 0.0
        self.failure = None

    async def __call__(self, method, path, *, deadline, headers=None, form=None, json=None):
        self.calls.append((method, path))
        if self.failure:
            raise ServerFailure(self.failure)
        await asyncio.sleep(self.delay)
        if path.endswith("/login"):
            assert form == {"username": "default_user@example.com", "password": PASSWORD}
            return self.login
        assert headers["Authorization"] == f"Bearer {TOKEN}"
        assert headers["Cookie"] == f"auth_token={TOKEN}"
        if method == "GET":
            return 200, self.listed
        assert json == {"name": "pi-owner-bootstrap"}
        return self.created


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / ".cognee-plugin" / "api_key.json"


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def make(server, cache, now):
    def build(url=URL, configured=None, *, transport=True):
        chain = KeyChain(
            url,
            configured,
            cache_path=cache,
            email="default_user@example.com",
            password=PASSWORD,
            agent="pi",
            clock=lambda: now[0],
        )
        if transport:
            chain.mint_with(server)
        return chain

    return build


def _soon(seconds=30.0):
    return Deadline.after(seconds)


async def test_a_configured_key_wins_and_nothing_is_asked(make, server, cache):
    write_json(cache, {"base_url": URL, "api_key": OTHER})
    chain = make(configured=Key(GOOD, "shell env"))
    assert await chain.key(_soon()) == Key(GOOD, "shell env")
    assert chain.source == "shell env"
    await chain.rejected(Key(GOOD, "shell env"))
    assert await chain.key(_soon()) == Key(GOOD, "shell env")
    assert not server.calls


async def test_the_cached_key_of_this_server_is_used(make, server, cache):
    write_json(cache, {"base_url": URL + "/", "api_key": f" {GOOD}\n", "updated_at": "x"})
    chain = make()
    assert await chain.key(_soon()) == Key(GOOD, module.CACHED)
    assert chain.source == module.CACHED
    assert not server.calls


@pytest.mark.parametrize(
    "content",
    [
        {"api_key": OTHER},
        {"base_url": "", "api_key": OTHER},
        {"base_url": "http://127.0.0.1:8012", "api_key": OTHER},
        {"base_url": URL + "/v2", "api_key": OTHER},
        {"base_url": "HTTP://127.0.0.1:8011", "api_key": OTHER},
        {"base_url": URL, "api_key": ""},
        {"base_url": URL, "api_key": OTHER + "\nX-Evil: 1"},
        {"base_url": URL, "api_key": "schlüssel"},
        {"base_url": URL, "api_key": "k" * 5000},
        {"base_url": URL, "api_key": [OTHER]},
        [URL, OTHER],
    ],
)
async def test_w13_a_cached_key_is_used_for_exactly_its_server(make, cache, content):
    """W12 of the control plane: one that names no server is used for none."""
    write_json(cache, content)
    assert await make(transport=False).key(_soon()) is None


async def test_a_cache_that_others_can_write_is_not_believed(make, cache):
    write_json(cache, {"base_url": URL, "api_key": OTHER})
    cache.chmod(0o666)
    assert await make(transport=False).key(_soon()) is None


async def test_a_hostile_cache_never_blocks(make, cache):
    cache.parent.mkdir()
    os.mkfifo(cache)
    assert await make(transport=False).key(_soon()) is None


async def test_on_loopback_a_key_is_made_and_cached_for_its_owner_only(make, server, cache):
    chain = make()
    assert chain.source == module.NOT_SET
    assert await chain.key(_soon()) == Key(GOOD, module.MINTED)
    assert chain.source == module.MINTED
    content = read_object(cache)
    assert (content["base_url"], content["api_key"]) == (URL, GOOD)
    assert content["updated_at"].endswith("+00:00")
    assert cache.read_text().endswith("}\n")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert [path for _, path in server.calls] == [
        "/api/v1/auth/login",
        "/api/v1/auth/api-keys",
        "/api/v1/auth/api-keys",
    ]


async def test_a_key_that_the_account_has_is_used_again(make, server):
    server.listed = [{"key": "*" * 12}, None, {"key": OTHER}]
    assert (await make().key(_soon())).value == OTHER
    assert ("POST", "/api/v1/auth/api-keys") not in server.calls


async def test_keys_that_the_server_does_not_show_are_not_used(make, server):
    server.listed = [{"key": "*" * 12, "label": "abc****"}]
    assert (await make().key(_soon())).value == GOOD


async def test_an_account_with_too_many_hidden_keys_is_explained(make, server):
    server.listed = [{"key": "*" * 12}] * 10
    server.created = (
        400,
        {"error": {"message": "You have reached the maximum number of API keys."}},
    )
    chain = make()
    assert await chain.key(_soon()) is None
    assert "COGNEE_API_KEY" in chain.problem
    assert "as many API keys" in chain.problem


@pytest.mark.parametrize(
    ("attribute", "answer"),
    [
        ("login", (400, {"detail": "LOGIN_BAD_CREDENTIALS"})),
        ("login", (200, {"access_token": ""})),
        ("login", (200, {"access_token": "a b"})),
        ("login", (200, "text")),
        ("created", (500, None)),
        ("created", (400, {"error": "no"})),
        ("created", (200, {"key": None})),
        ("listed", "no list"),
    ],
)
async def test_a_server_that_gives_no_key_is_asked_again_later(
    make, server, now, attribute, answer
):
    good = getattr(server, attribute)
    setattr(server, attribute, answer)
    chain = make()
    found = await chain.key(_soon())
    if attribute == "listed":
        assert found.value == GOOD
        return
    assert found is None
    assert chain.source == module.MINT_FAILED
    assert PASSWORD not in chain.problem
    asked = len(server.calls)
    assert await chain.key(_soon()) is None
    assert len(server.calls) == asked
    setattr(server, attribute, good)
    now[0] += 2.0
    assert (await chain.key(_soon())).value == GOOD
    assert chain.problem == ""


async def test_w12_after_a_healthy_probe_a_key_is_asked_for_at_once(make, server):
    """W13 of the control plane."""
    server.failure = FailureKind.REFUSED
    chain = make()
    assert await chain.key(_soon()) is None
    assert "refused" in chain.problem
    server.failure = None
    assert await chain.key(_soon()) is None
    chain.server_ready()
    assert (await chain.key(_soon())).value == GOOD


async def test_w9_looking_for_a_key_ends_at_the_callers_deadline(make, server):
    server.delay = 60.0
    chain = make()
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await chain.key(_soon(0.1)) is None
    assert loop.time() - began < 30.0
    assert chain.source == module.MINT_FAILED


async def test_calls_at_the_same_time_make_one_key(make, server):
    server.delay = 0.02
    chain = make()
    found = await asyncio.gather(*(chain.key(_soon()) for _ in range(10)))
    assert {key.value for key in found} == {GOOD}
    assert len(server.calls) == 3


async def test_calls_at_the_same_time_fail_once(make, server):
    server.delay = 0.02
    server.login = (400, {})
    chain = make()
    assert await asyncio.gather(*(chain.key(_soon()) for _ in range(5))) == [None] * 5
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "url",
    ["https://api.example.com", "http://10.0.0.1:8011", "http://localhost.example.com", "rubbish"],
)
async def test_nobody_logs_in_to_a_server_elsewhere(make, server, url):
    assert await make(url).key(_soon()) is None
    assert not server.calls


async def test_w11_a_cached_key_that_is_refused_is_forgotten_and_replaced_once(make, server, cache):
    write_json(cache, {"base_url": URL, "api_key": OTHER})
    chain = make()
    stale = await chain.key(_soon())
    await chain.rejected(stale)
    assert not cache.exists()
    fresh = await chain.key(_soon())
    assert fresh == Key(GOOD, module.MINTED)
    asked = len(server.calls)
    await chain.rejected(fresh)
    assert await chain.key(_soon()) is None
    assert len(server.calls) == asked
    assert chain.source == module.MINT_FAILED


async def test_a_made_key_that_goes_stale_later_is_replaced_at_once(make, server, now):
    chain = make()
    first = await chain.key(_soon())
    now[0] += 3600
    server.created = (200, {"key": OTHER})
    await chain.rejected(first)
    assert (await chain.key(_soon())).value == OTHER


async def test_a_key_that_another_process_put_in_the_cache_meanwhile_stays(make, cache, server):
    write_json(cache, {"base_url": URL, "api_key": OTHER})
    chain = make()
    stale = await chain.key(_soon())
    write_json(cache, {"base_url": URL, "api_key": GOOD})
    await chain.rejected(stale)
    assert await chain.key(_soon()) == Key(GOOD, module.CACHED)
    assert not server.calls


async def test_an_old_rejection_does_not_end_a_new_key(make, cache):
    write_json(cache, {"base_url": URL, "api_key": GOOD})
    chain = make()
    await chain.key(_soon())
    await chain.rejected(Key(OTHER))
    assert cache.exists()
    assert (await chain.key(_soon())).value == GOOD


async def test_a_key_that_cannot_be_cached_is_still_used(make, cache):
    cache.parent.parent.mkdir(exist_ok=True)
    cache.parent.write_text("in the way")
    assert (await make().key(_soon())).value == GOOD


async def test_no_key_password_or_token_is_ever_shown(make, server, caplog):
    caplog.set_level(logging.DEBUG)
    chain = make()
    key = await chain.key(_soon())
    await chain.rejected(key)
    shown = caplog.text + repr(key) + str(key) + repr(chain) + chain.problem + chain.source
    for secret in (GOOD, TOKEN, PASSWORD):
        assert secret not in shown


@given(st.text(min_size=1, max_size=80))
def test_a_keys_value_is_in_no_representation(value):
    shown = f"{Key('<' + value + '>', 'env')!r} {Key('<' + value + '>', 'env')!s}"
    assert f"<{value}>" not in shown
