"""What the documents list is what there is: hooks, settings, commands, folders, links."""

from __future__ import annotations

import argparse
import re
from importlib import import_module

import pytest

from cognee_hooks import Host, PluginContext, hookspecs
from cognee_hooks.cli import COMMANDS, main
from cognee_hooks.cli.config import markdown_table as settings_table
from cognee_hooks.cli.hook_reference import reference
from cognee_hooks.cli.hooks import markdown_table as hooks_table
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.registry import declared_policies
from tests.support.documents import ROOT, Page, all_pages

PAGES = {page.name: page for page in all_pages()}
PLUGINS = PAGES["docs/plugins.md"]
OPERATIONS = PAGES["docs/operations.md"]
ARCHITECTURE = PAGES["docs/architecture.md"]
OUTSIDE = ("https://", "http://")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    home = tmp_path_factory.mktemp("home")
    return Host("claude-code", environ={"HOME": str(home)}, entry_points=())


# -- generated parts -------------------------------------------------------------------------------


def test_the_manual_of_hooks_is_the_generated_one():
    assert PLUGINS.between("hook reference") == reference()


def test_the_settings_are_the_generated_ones(host: Host):
    assert PAGES["docs/settings.md"].between("settings") == settings_table(host.settings.rows())


@pytest.mark.parametrize("hook", declared_policies())
def test_every_hook_is_documented_as_a_manual_for_authors(hook: str):
    text = getattr(hookspecs, hook).__doc__
    assert "Called" in text
    arguments = hooks_table().partition(f"| `{hook}` | ")[2].partition(" |")[0].split(", ")
    for argument in filter(None, arguments):
        assert f"{argument}:" in text, f"{hook} does not explain {argument}"
        assert f"* `{argument}`: " in reference().partition(f"### `{hook}`")[2].partition("###")[0]


# -- what there is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_command_table(command: str):
    assert re.search(rf"^\| `cognee-hooks {command}\b", OPERATIONS.text, re.MULTILINE)


def test_every_command_of_a_plugin_is_named(host: Host):
    text = PAGES["docs/agents.md"].text
    missing = [name for name in host.registered.commands if f"/cognee-{name}" not in text]
    assert missing == []


def test_every_variable_that_is_read_is_in_the_settings():
    sources = "".join(
        path.read_text(encoding="utf-8")
        for package in ("cognee_hooks", "builtin_plugins")
        for path in (ROOT / package).rglob("*.py")
    )
    read = set(re.findall(r'environ(?:\.get\(|\[)"(COGNEE_[A-Z_]+)"', sources))
    read |= set(re.findall(r'_override\(environ, home, "(COGNEE_[A-Z_]+)"', sources))
    assert read
    assert {name for name in read if name not in PAGES["docs/settings.md"].text} == set()


def test_everything_that_a_plugin_gets_is_in_the_authors_guide():
    part = PLUGINS.text.partition("## What a plugin is")[2].partition("\n## ")[0]
    public = {name for name in vars(PluginContext) if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"`{name}\b", part)} == set()


def test_every_folder_is_on_the_map():
    folders = {
        f"{folder.relative_to(ROOT).as_posix()}/"
        for parent in (ROOT / "cognee_hooks", ROOT / "tests")
        for folder in parent.iterdir()
        if folder.is_dir() and folder.name != "__pycache__" and any(folder.iterdir())
    }
    named = set(re.findall(r"`((?:\w+/)+)`", ARCHITECTURE.text))
    assert folders - named == set()
    assert {each for each in named if not (ROOT / each).is_dir()} == set()


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_file_of_ours_that_a_page_names_is_there(page: Page):
    named = set(
        re.findall(r"`((?:cognee_hooks|builtin_plugins|tests|examples)/[\w./-]+)`", page.text)
    )
    assert {each for each in named if not (ROOT / each).exists()} == set()


def test_every_reason_of_an_outage_is_in_the_table_of_troubles():
    from builtin_plugins.recall.reasons import reason_of

    reasons = {kind: reason_of(ServerFailure(kind)) for kind in FailureKind}
    assert {kind for kind, reason in reasons.items() if not reason} == {FailureKind.NO_MEMORY}
    table = OPERATIONS.text.partition("## Troubleshooting")[2]
    missing = {each for each in reasons.values() if f"({each})`" not in table}
    assert missing - {""} == set()


# -- links -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_link_leads_somewhere(page: Page):
    broken = []
    for link in page.links:
        if link.startswith(OUTSIDE):
            continue
        path, _, anchor = link.partition("#")
        target = (page.path.parent / path).resolve() if path else page.path
        if not target.exists() or (anchor and anchor not in Page(target).anchors):
            broken.append(link)
    assert broken == []


def test_every_page_is_found_from_the_readme():
    linked = {
        (ROOT / link.partition("#")[0]).resolve()
        for link in PAGES["README.md"].links
        if not link.startswith(OUTSIDE)
    }
    assert {name for name, page in PAGES.items() if page.path not in linked} == {"README.md"}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_long_page_begins_with_links_to_its_parts(page: Page):
    headings = re.findall(r"^## (.+)$", page.prose, re.MULTILINE)
    if page.name == "README.md" or len(headings) < 4:
        return
    contents = page.prose.partition("\n## ")[0]
    assert [each for each in headings if f"[{each.replace('`', '')}](#" not in contents] == []


# -- commands in running text ----------------------------------------------------------------------


def options_of(command: str) -> set[str]:
    """The long options of a command of ours, those of its verbs too."""
    parser = argparse.ArgumentParser(prog=command)
    import_module(f"cognee_hooks.cli.{command.replace('-', '_')}").configure(parser)
    found: set[str] = set()
    waiting = [parser]
    while waiting:
        for action in waiting.pop()._actions:
            found |= set(action.option_strings)
            if isinstance(action, argparse._SubParsersAction):
                waiting += action.choices.values()
    return found


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_command_in_running_text_is_one_that_there_is(page: Page, host: Host):
    known = {*COMMANDS, *host.registered.commands}
    wrong = []
    for code in re.findall(r"`([^`\n]+)`", page.prose):
        plain = code.replace("\\|", " ")
        for words in re.findall(r"\bcognee-hooks ((?!cognee-)[a-z][a-z-]*\b[^|&]*)", plain):
            command, *rest = words.split()
            options = set(re.findall(r"--[a-z][a-z-]+", " ".join(rest)))
            if command not in known or (command in COMMANDS and options - options_of(command)):
                wrong.append(code)
    assert wrong == []


def test_the_manual_is_printed(capsys: pytest.CaptureFixture[str]):
    assert main(["hooks", "--reference"]) == 0
    assert capsys.readouterr().out.strip() == reference()
