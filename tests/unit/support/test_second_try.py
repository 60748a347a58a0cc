from __future__ import annotations

import sys

import pytest

from tests.support.second_try import MOST, deserves_another, run_tests

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
BUSY = """
from pathlib import Path

def test_late():
    mark = Path(__file__).with_name("seen")
    seen = mark.exists()
    mark.touch()
    assert seen

def test_fine():
    with Path(__file__).with_name("runs").open("a") as file:
        file.write("x")
"""
WRONG = "def test_wrong():\n    assert False\n"


@pytest.fixture
def project(tmp_path):
    """Makes a project with a file of tests."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    def make(source: str):
        (tmp_path / "test_it.py").write_text(source)
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("code", "count", "expected"),
    [
        (1, 1, True),
        (1, MOST, True),
        (1, MOST + 1, False),
        (1, 0, False),  # something before pytest ended with 1
        (0, 0, False),
        (2, 1, False),  # interrupted, or a file that cannot be collected
        (3, 1, False),  # pytest itself failed
        (4, 0, False),
        (5, 0, False),
        (-9, 1, False),
    ],
)
def test_only_a_few_tests_that_failed_get_a_second_try(code, count, expected):
    assert deserves_another(code, [f"test_{each}" for each in range(count)]) is expected


def test_what_passes_alone_has_passed_and_is_named(project, capfd):
    folder = project(BUSY)
    assert run_tests(PYTEST, folder)
    out = capfd.readouterr().out
    assert "== PASSED ONLY WHEN RUN AGAIN: test_it.py::test_late" in out
    assert (folder / "runs").read_text() == "x", "the others are not run again"


def test_what_fails_twice_has_failed(project, capfd):
    assert not run_tests(PYTEST, project(BUSY + WRONG))
    out = capfd.readouterr().out
    assert "== PASSED ONLY WHEN RUN AGAIN: test_it.py::test_late" in out
    assert "== DID NOT PASS AGAIN: test_it.py::test_wrong" in out


def test_where_all_pass_nothing_is_run_again(project, capfd):
    folder = project(BUSY)
    (folder / "seen").touch()
    assert run_tests(PYTEST, folder)
    assert "again" not in capfd.readouterr().out.lower()


@pytest.mark.parametrize(
    "source",
    [
        "import nothing_of_that_name\n",
        "import os\n\ndef test_crash():\n    os._exit(1)\n",
        "".join(WRONG.replace("wrong", f"wrong_{number}") for number in range(MOST + 1)),
    ],
    ids=["not collected", "crashed", "too many"],
)
def test_what_has_another_reason_is_not_tried_again(project, capfd, source):
    assert not run_tests(PYTEST, project(source))
    assert "run again" not in capfd.readouterr().out


def test_a_test_that_is_not_found_again_has_not_passed(project, capfd):
    source = BUSY + (
        "import os\nimport pytest\n\n"
        "@pytest.mark.parametrize('pid', [os.getpid()])\n"
        "def test_changing(pid):\n    assert False\n"
    )
    assert not run_tests(PYTEST, project(source))
    assert "== DID NOT PASS AGAIN: test_it.py::test_changing" in capfd.readouterr().out


@pytest.mark.parametrize("source", [BUSY, WRONG, "assert False\n"])
def test_tests_that_run_apart_count_like_the_others(project, capfd, source):
    folder = project("def test_here():\n    pass\n")
    apart = folder / "apart"
    apart.mkdir()
    (apart / "test_there.py").write_text(source)
    assert run_tests(PYTEST, folder, [str(apart)]) is (source == BUSY)
    out = capfd.readouterr().out
    assert "1 passed" in out
    if source == BUSY:
        assert "== PASSED ONLY WHEN RUN AGAIN: apart/test_there.py::test_late" in out
        assert (apart / "runs").read_text() == "x", "each test is run by one of both"
