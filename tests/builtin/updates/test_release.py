from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.updates.release import is_update, newest


def page(*names: str, **more: object) -> dict[str, object]:
    return {"files": [{"filename": name, **more} for name in names]}


def wheel(version: str) -> str:
    return f"cognee_hooks-{version}-py3-none-any.whl"


def test_the_newest_release_is_that_of_the_highest_number_not_of_the_last_line():
    assert newest(page(wheel("0.9.0"), wheel("0.10.0"), "cognee_hooks-0.2.tar.gz")) == "0.10.0"


@pytest.mark.parametrize("version", ["2.0.0rc1", "2.0.0.dev1", "2.0a1", "2.0.0+local", "x", ""])
def test_what_is_no_final_release_does_not_count(version):
    assert newest(page(wheel("1.0.0"), wheel(version))) == "1.0.0"


@pytest.mark.parametrize("yanked", [True, "broken"])
def test_a_withdrawn_release_does_not_count(yanked):
    found = (
        page(wheel("1.0.0"), yanked=False)["files"] + page(wheel("2.0.0"), yanked=yanked)["files"]
    )
    assert newest({"files": found}) == "1.0.0"


@pytest.mark.parametrize(
    "name", ["other-9.9.tar.gz", "cognee_hooks_x-9.9.tar.gz", "cognee_hooks-9.9.exe", 9, None, {}]
)
def test_files_of_others_do_not_count(name):
    assert newest(page(name)) == ""


@pytest.mark.parametrize("document", [None, [], {}, {"files": 3}, {"files": [None, 3, {}]}, "x"])
def test_a_page_of_another_form_has_no_release(document):
    assert newest(document) == ""


@pytest.mark.parametrize(
    ("release", "current", "newer"),
    [
        ("0.2.0", "0.1.0", True),
        ("0.1.0", "0.1.0", False),
        ("0.1", "0.1.0", False),
        ("0.1.0.1", "0.1.0", True),
        ("0.1.0", "0.1.0rc1", True),
        ("0.1.0", "0.1.0.dev3", True),
        ("0.1.0", "0.1.0.post1", False),
        ("0.1.0", "0.1.0+local", False),
        ("0.1.0", "0.2.0.dev1", False),
        ("", "0.1.0", False),
        ("1.0", "unknown", False),
    ],
)
def test_a_final_release_is_newer_than_what_came_before_it(release, current, newer):
    assert is_update(release, current) is newer


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["files", "filename", "yanked", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_no_page_is_too_much(document):
    assert isinstance(newest(document), str)
