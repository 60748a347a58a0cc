from __future__ import annotations

import pytest

from cognee_hooks.denied import DeniedPaths


def test_a_file_is_denied_by_the_name_behind_its_links_too(tmp_path):
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("x")
    (tmp_path / "harmless").symlink_to(tmp_path / ".ssh")
    denied = DeniedPaths()
    assert denied.denies_file(tmp_path / "harmless" / "config")
    assert not denied.denies_file(tmp_path / "config")


def test_a_path_that_cannot_be_followed_is_denied(tmp_path):
    assert DeniedPaths().denies_file(tmp_path / "a\0b")


@pytest.mark.parametrize("path", ["plan.md", "docs/PLAN.md", "/x/plan.md"])
def test_patterns_of_the_user_are_added(path):
    assert DeniedPaths(["plan.*"]).denies(path)
    assert not DeniedPaths().denies(path)
