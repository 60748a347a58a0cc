"""From an empty folder to a plugin that is tested, installed, in force, and blocked again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cognee_hooks.scaffold.package import PluginKind
from tests.support.documents import Page
from tests.support.installation import Installation

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A fresh environment with cognee-hooks, and pytest, which a new package asks for."""
    made = Installation.fresh(tmp_path_factory.mktemp("installed"))
    made.install(ROOT, "pytest")
    return made


@pytest.mark.parametrize("kind", list(PluginKind))
def test_a_new_package_is_installed_and_passes_its_own_tests(
    installation: Installation, tmp_path: Path, kind: PluginKind
) -> None:
    name = f"my-{kind.value}"
    made = installation.run("new-plugin", name, "--kind", kind.value, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / f"cognee-hooks-{name}"
    installation.install(folder)
    tests = installation.run("-q", program="pytest", cwd=folder)
    assert tests.returncode == 0, tests.stdout
    rows = json.loads(installation.run("plugins", "--json").stdout)
    assert name in {row["name"] for row in rows}
    installation.remove(f"cognee-hooks-{name}")


def test_the_package_in_the_authors_guide_is_installed_by_pip_and_passes_its_tests(
    installation: Installation, tmp_path: Path
) -> None:
    for block in Page(ROOT / "docs" / "plugins.md").blocks:
        if block.file_name in {"pyproject.toml", "employee_ids.py", "test_employee_ids.py"}:
            (tmp_path / block.file_name).write_text(block.text)
    assert len(list(tmp_path.iterdir())) == 3
    (tmp_path / "test_employee_ids.py").rename(tmp_path / "tests.py")
    installation.install(tmp_path)
    done = installation.run("redact", stdin="Ask EMP-123456 about it.")
    assert done.stdout == "Ask [redacted:employee-id] about it."
    tests = installation.run("-q", "tests.py", program="pytest", cwd=tmp_path)
    assert tests.returncode == 0, tests.stdout
    installation.remove("cognee-hooks-employee-ids")


def test_a_newcomer_writes_tests_installs_and_blocks_a_redactor(
    installation: Installation, tmp_path: Path
) -> None:
    """The steps of the README, in its words; what pip does there, uv does here."""
    text = "see CASE-4711 and TICKET-1234"
    # 1. Write it.
    assert installation.run("new-plugin", "case-ids", cwd=tmp_path).returncode == 0
    folder = tmp_path / "cognee-hooks-case-ids"
    source = folder / "cognee_hooks_case_ids" / "__init__.py"
    source.write_text(source.read_text().replace("TICKET", "CASE"))
    tests = folder / "tests" / "test_case_ids.py"
    # 2. Its tests say what is wrong until they are about the same thing.
    assert installation.run("-q", program="pytest", cwd=folder, PYTHONPATH=".").returncode == 1
    tests.write_text(tests.read_text().replace("TICKET", "CASE"))
    assert installation.run("-q", program="pytest", cwd=folder, PYTHONPATH=".").returncode == 0
    # 3. Install it: it is in force.
    assert "4711" in installation.run("redact", stdin=text).stdout
    installation.install(folder)
    done = installation.run("redact", stdin=text)
    assert done.stdout == "see [redacted:case-ids] and TICKET-1234"
    # 4. Block it, and take it back.
    assert installation.run("plugins", "disable", "case-ids").returncode == 0
    assert installation.run("redact", stdin=text).stdout == text
    assert installation.run("plugins", "enable", "case-ids").returncode == 0
    assert "4711" not in installation.run("redact", stdin=text).stdout
    installation.remove("cognee-hooks-case-ids")
