from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cognee_hooks.errors import InstallRefused, UsageError
from cognee_hooks.install import engine
from cognee_hooks.install.command import launcher_argv
from cognee_hooks.install.pi import LAUNCHER_LINE, MARK, PiInstaller

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def path(place):
    return place.home / ".pi" / "agent" / "extensions" / "cognee-hooks.ts"


def test_the_extension_is_copied_with_our_command_in_it(place, path):
    engine.apply(PiInstaller().install(place), NOW)
    lines = path.read_text().splitlines()
    assert lines[0] == MARK
    assert f"const LAUNCHER: string[] = {json.dumps(launcher_argv())};" in lines
    assert LAUNCHER_LINE not in lines
    assert path.stat().st_mode & 0o777 == 0o644
    assert not PiInstaller().install(place).effective


def test_the_folder_follows_pis_own_variable(place, tmp_path):
    where = replace(place, environ={**place.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "pi")})
    [change] = PiInstaller().install(where).changes
    assert change.path == tmp_path / "pi" / "extensions" / "cognee-hooks.ts"


def test_the_mark_is_set_where_the_source_has_none(place, path, tmp_path):
    source = tmp_path / "source.ts"
    source.write_text(f"{LAUNCHER_LINE}\n")
    engine.apply(PiInstaller(source).install(place), NOW)
    assert path.read_text().startswith(f"{MARK}\nconst LAUNCHER")


def test_an_older_copy_is_replaced_without_keeping_it(place, path):
    engine.apply(PiInstaller().install(place), NOW)
    path.write_text(f"{MARK}\nold\n")
    engine.apply(PiInstaller().install(place), NOW)
    assert "old" not in path.read_text().splitlines()
    assert list(path.parent.iterdir()) == [path]


def test_removal_deletes_our_file(place, path):
    engine.apply(PiInstaller().install(place), NOW)
    engine.apply(PiInstaller().uninstall(place), NOW)
    assert not path.exists()
    assert not PiInstaller().uninstall(place).effective


def test_a_file_of_somebody_else_is_left_alone(place, path):
    path.parent.mkdir(parents=True)
    path.write_text("export default () => {};\n")
    with pytest.raises(InstallRefused, match="was not written by cognee-hooks"):
        PiInstaller().install(place)
    plan = PiInstaller().uninstall(place)
    assert not plan.effective
    assert "stays" in plan.notes[0]


@pytest.mark.parametrize("text", [None, b"", b"\xff", f"{LAUNCHER_LINE}\n{LAUNCHER_LINE}".encode()])
def test_a_damaged_package_is_named(place, tmp_path, text):
    source = tmp_path / "source.ts"
    if text is not None:
        source.write_bytes(text)
    with pytest.raises(InstallRefused, match="missing from this installation"):
        PiInstaller(source).install(place)


def test_pi_is_set_up_for_a_person_only(in_project):
    with pytest.raises(UsageError, match="no scope 'project'"):
        PiInstaller().install(in_project)
