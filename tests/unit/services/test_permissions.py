from __future__ import annotations

import stat

import pytest

from cognee_hooks.services.permissions import open_to_others

TYPES = [0, stat.S_IFREG, stat.S_IFDIR]


@pytest.mark.parametrize("of_type", TYPES)
@pytest.mark.parametrize("mode", [0o600, 0o700, 0o400, 0])
def test_what_is_the_owners_alone_is_not_open(mode, of_type):
    assert open_to_others(of_type | mode) is False


@pytest.mark.parametrize("of_type", TYPES)
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o710, 0o701])
def test_any_right_of_a_group_or_of_everybody_is_open(mode, of_type):
    assert open_to_others(of_type | mode) is True
