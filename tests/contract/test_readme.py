"""The README says what is: its tables are generated, its snippets run."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from cognee_hooks import Host
from cognee_hooks.agents import BUILT_IN, VERIFIED
from cognee_hooks.cli import COMMANDS
from cognee_hooks.cli.config import markdown_table as settings_table
from cognee_hooks.cli.hooks import markdown_table as hooks_table
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.install import INSTALLERS
from cognee_hooks.registry import declared_policies

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def between(start: str, end: str) -> str:
    return README.partition(start)[2].partition("\n")[2].partition(end)[0].strip()


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def host(home: Path, **arguments: object) -> Host:
    return Host("claude-code", environ={"HOME": str(home)}, entry_points=(), **arguments)


def test_the_hook_table_is_the_generated_one():
    assert between("<!-- hooks:", "<!-- end of hooks -->") == hooks_table()


def test_the_settings_table_is_the_generated_one(tmp_path: Path):
    table = settings_table(host(tmp_path).settings.rows())
    assert between("<!-- settings:", "<!-- end of settings -->") == table


def test_the_agents_are_those_that_there_are():
    rows = [
        f"| {name} | {f'`cognee-hooks install {name}`' if name in INSTALLERS else 'hand'} | "
        f"{VERIFIED[name]} |"
        for name in BUILT_IN
    ]
    table = between("<!-- agents:", "<!-- end of agents -->").splitlines()
    assert table[2:] == rows


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_command_table(command: str):
    assert f"`cognee-hooks {command}" in README


@pytest.mark.parametrize("hook", declared_policies())
def test_every_hook_is_documented_as_a_manual_for_authors(hook: str):
    from cognee_hooks import hookspecs

    text = getattr(hookspecs, hook).__doc__
    assert "Called" in text
    arguments = hooks_table().partition(f"| `{hook}` | ")[2].partition(" |")[0].split(", ")
    for argument in filter(None, arguments):
        assert f"{argument}:" in text, f"{hook} does not explain {argument}"


async def test_the_plugin_in_the_readme_redacts(tmp_path: Path):
    (source,) = (each for each in snippets("python") if "cognee_register_redactors" in each)
    plugin = types.ModuleType("employee_ids")
    exec(compile(source, "employee_ids.py", "exec"), plugin.__dict__)  # noqa: S102 - our own README

    made = host(tmp_path, plugins={"employee-ids": plugin})

    redacted = await made.redact("ask EMP-123456 about it")
    assert redacted.value == "ask [redacted:employee-id] about it"


def test_the_embedding_snippet_uses_names_that_exist():
    (source,) = (each for each in snippets("python") if "Host(" in each)
    compile(source, "README.md", "exec")
    namespace: dict[str, object] = {}
    imports = "\n".join(line for line in source.splitlines() if "import" in line)
    exec(imports, namespace)  # noqa: S102 - our own README
    assert namespace["Host"] is Host
    assert namespace["UserPromptSubmit"] is UserPromptSubmit


def test_the_plugin_selection_in_the_readme_is_understood(tmp_path: Path):
    (source,) = (each for each in snippets("yaml") if "require_redactors" in each)
    config_file = host(tmp_path).paths.config_file
    config_file.parent.mkdir(parents=True)
    config_file.write_text(source)

    made = host(tmp_path)

    selection = made.settings.plugins
    assert selection.block == {"recall"}
    assert selection.only == {"capture", "my-recall"}
    assert selection.require == ("my-recall>=1.2",)
    assert selection.require_redactors == ("employee-ids",)
    assert not selection.autoload
    assert "employee-ids" in made.redaction.closed_because


def test_every_outage_reason_that_the_model_can_see_is_one_of_few_words():
    from builtin_plugins.recall.reasons import reason_of
    from cognee_hooks.errors import ServerFailure

    reasons = {kind: reason_of(ServerFailure(kind)) for kind in FailureKind}
    silent = {kind for kind, reason in reasons.items() if not reason}
    assert silent == {FailureKind.NO_MEMORY}
    assert all(len(reason) < 40 for reason in reasons.values())
