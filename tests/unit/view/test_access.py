from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.view.access import TOKEN_SECONDS, PageAccess, Redeemed


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def token_of(access: PageAccess) -> str:
    return access.address.partition("?token=")[2]


def test_a_token_works_once():
    access = PageAccess(4321)
    assert access.redeem(token_of(access)) is Redeemed.ACCEPTED
    assert access.redeem(token_of(access)) is Redeemed.USED


def test_a_token_works_for_minutes():
    clock = Clock()
    access = PageAccess(4321, clock=clock)
    clock.now += TOKEN_SECONDS
    assert access.redeem(token_of(access)) is Redeemed.EXPIRED


def test_a_token_that_was_used_in_time_is_told_as_used_later():
    clock = Clock()
    access = PageAccess(4321, clock=clock)
    access.redeem(token_of(access))
    clock.now += 2 * TOKEN_SECONDS
    assert access.redeem(token_of(access)) is Redeemed.USED


@given(st.text())
def test_nobody_guesses_the_token_and_trying_does_not_use_it_up(guess):
    access = PageAccess(4321)
    assert access.redeem(guess) is Redeemed.UNKNOWN
    assert access.redeem(f"{token_of(access)}{guess}x") is Redeemed.UNKNOWN
    assert access.redeem(token_of(access)) is Redeemed.ACCEPTED


@given(st.dictionaries(st.text(), st.text()))
def test_no_other_cookie_lets_anybody_in(cookies):
    access = PageAccess(4321)
    assert not access.admits(cookies)
    assert not access.admits({access.cookie_name: ""})
    assert not access.admits({PageAccess(4322).cookie_name: access.cookie})
    assert access.admits({**cookies, access.cookie_name: access.cookie})


def test_every_run_has_its_own_secrets_and_every_port_its_own_cookie():
    first, second = PageAccess(4321), PageAccess(4322)
    assert token_of(first) != token_of(second)
    assert first.cookie not in {second.cookie, token_of(first)}
    assert (first.cookie_name, second.cookie_name) == (
        "cognee-hooks-view-4321",
        "cognee-hooks-view-4322",
    )
    assert all(len(each) >= 43 for each in (first.cookie, token_of(first)))  # 32 random bytes


def test_everything_is_below_a_folder_that_nobody_guesses():
    access = PageAccess(4321)
    assert access.address.startswith(f"http://127.0.0.1:4321{access.folder}/open?token=")
    assert len(access.folder) >= 23  # 16 random bytes
    assert access.folder != PageAccess(4321).folder
    assert access.inside(f"{access.folder}/api/summary") == "/api/summary"
    assert access.inside(f"{access.folder}/") == "/"
    assert access.inside(access.folder) is None


@given(st.text())
def test_no_other_path_is_inside(path):
    assert PageAccess(4321).inside(path) is None


def test_the_cookie_is_not_in_the_address():
    access = PageAccess(4321)
    assert access.cookie not in access.address
