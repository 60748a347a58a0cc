"""The examples, installed from wheels into a fresh environment, with their own tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.documents import Page
from tests.support.installation import Installation
from tests.support.page_runner import PageRunner
from tests.support.page_shell import PageShell

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(each.parent for each in (ROOT / "examples").glob("*/pyproject.toml"))


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An environment with cognee-hooks and all example plugins."""
    made = Installation.fresh(tmp_path_factory.mktemp("examples"))
    made.install(f"{ROOT}[embedded]", "pytest", *EXAMPLES)
    return made


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_an_examples_own_tests_pass(installation: Installation, example: Path) -> None:
    # Below another project's configuration, which is not theirs.
    options = ("-q", "-p", "no:cacheprovider", "-c", str(example / "pyproject.toml"))
    done = installation.run(*options, str(example / "tests"), program="pytest")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_every_block_of_an_examples_page_does_what_the_page_says(
    installation: Installation, example: Path, tmp_path: Path, isolated_environment: Path
) -> None:
    programs = installation.folder / "bin"
    with PageShell(isolated_environment, {"COGNEE_LOCAL_BOOTSTRAP": "false"}, programs) as shell:
        assert PageRunner(shell, tmp_path).problems(Page(example / "README.md")) == []


def test_all_of_them_work_beside_each_other(installation: Installation) -> None:
    rows = json.loads(installation.run("plugins", "--json").stdout)
    names = {each.name.replace("_", "-") for each in EXAMPLES} - {"redact-employee-ids"}
    assert names | {"employee-ids"} <= {row["name"] for row in rows}
    assert {row["reason"] for row in rows} == {""}


def test_the_first_command_of_the_readme_plays_a_session(installation: Installation) -> None:
    """``python3 -m venv .venv && .venv/bin/pip install '.[embedded]'``, and then ``demo``."""
    done = installation.run("demo")
    assert done.returncode == 0, done.stderr
    assert "Verdict: nothing lost, no secret stored" in done.stdout


def test_the_readme_on_a_package_index_has_no_link_that_leads_nowhere(
    installation: Installation,
) -> None:
    code = "import importlib.metadata as m; print(m.metadata('cognee-hooks').get_payload())"
    text = installation.run("-c", code, program="python").stdout
    assert text.startswith("# cognee-hooks\n")
    assert "the local server (`docs/operations.md`)" in text
    assert set(re.findall(r"\]\((?!https://)[^)]*\)|<!--|<picture|<img", text)) == set()


def test_the_plugin_without_a_package_says_what_it_saw(installation: Installation) -> None:
    done = installation.run(str(ROOT / "examples" / "local_plugin.py"), program="python")
    assert done.returncode == 0, done.stderr
    assert "Today is " in done.stdout
    assert "turns: 1" in done.stdout


def test_the_agent_of_an_example_is_answered(installation: Installation) -> None:
    payload = {"conversation": "c1", "folder": "/tmp", "text": "Which port does billing use?"}
    environ = {"COGNEE_BASE_URL": "http://127.0.0.1:9", "COGNEE_API_KEY": "key"}
    done = installation.run("run", "toy-agent", "prompt", stdin=json.dumps(payload), **environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert "recall skipped" in json.loads(done.stdout)["memory"]
