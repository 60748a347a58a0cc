"""README and docs say what is: every command in them is typed, every snippet runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognee_hooks.embedded import EmbeddedServer
from tests.support.documents import Page, all_pages
from tests.support.page_runner import PageRunner, commands_of, matches
from tests.support.page_shell import PageShell


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_block_of_the_page_does_what_the_page_says(
    page: Page, tmp_path: Path, isolated_environment: Path
):
    with EmbeddedServer(tmp_path / "memory.db") as server:
        environ = {"COGNEE_BASE_URL": server.url, "COGNEE_LOCAL_BOOTSTRAP": "false"}
        with PageShell(isolated_environment, environ) as shell:
            problems = PageRunner(shell, tmp_path).problems(page)
    assert not problems, "\n\n".join(problems)


# -- the harness -----------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr("tests.support.documents.ROOT", tmp_path)
    return Page(tmp_path / "page.md")


def run(page: Page, text: str, home: Path, site: Path) -> list[str]:
    page.path.write_text(text)
    with PageShell(home, {}) as shell:
        return PageRunner(shell, site).problems(Page(page.path))


WRONG = {
    "a kind that nothing runs": "```rust\nfn main() {}\n```\n",
    "no kind": "```\ntext\n```\n",
    "another output": "```console\n$ echo one\ntwo\n```\n",
    "output that the page leaves out": "```console\n$ printf 'one\\ntwo\\n'\none\n```\n",
    "a command that fails": "```sh\nfalse\n```\n",
    "a snippet that raises": "```python\nimport nothing_of_that_name\n```\n",
    "a test that fails": "```python\n# test_it.py\ndef test_it():\n    assert not 1\n```\n",
    "an unknown setting": "```yaml\n# config.yaml\ndatasett: x\n```\n",
    "what a project may not": "```yaml\n# .cognee-hooks.yaml\nbase_url: http://127.0.0.1\n```\n",
    "yaml that is no file of ours": "```yaml\ndataset: x\n```\n",
    "an unknown variable": "```dotenv\nCOGNEE_DATASETT=x\n```\n",
    "broken toml": "```toml\nx =\n```\n",
    "broken json": "```json\n{\n```\n",
    "a test that is not there": "<!-- tested by: tests/no.py -->\n```sh\nfalse\n```\n",
    "a test of something else": (
        "<!-- tested by: tests/contract/test_architecture.py -->\n"
        "```sh\ncognee-hooks install codex\n```\n"
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_block_that_does_not_do_what_it_says_is_found(
    page: Page, tmp_path: Path, isolated_environment: Path, kind: str
):
    assert run(page, WRONG[kind], isolated_environment, tmp_path)


def test_blocks_share_one_shell(page: Page, tmp_path: Path, isolated_environment: Path):
    text = (
        "```console\n$ mkdir here && cd here\n$ export WORD=shared\n```\n"
        "```python\n# word.py\nimport os\nWORD = os.environ['WORD']\n```\n"
        "```console\n$ pwd\n/home/you/here\n$ python - <<'END'\n"
        "> import word\n> print(word.WORD)\n> END\nshared\n```\n"
        "```sh\ntest -f word.py\n```\n"
    )
    assert run(page, text, isolated_environment, tmp_path) == []


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("one", "one", True),
        ("one", "\none  \n\n", True),
        ("a … c", "a bb c", True),
        ("a … c", "a\nc", False),
        ("one\n…", "one", True),
        ("one\n…", "one\ntwo\nthree", True),
        ("…\nlast", "first\nlast", True),
        ("…\nlast", "first\nlast one", False),
        ("", "", True),
        ("", "something", False),
    ],
)
def test_an_ellipsis_stands_for_what_varies(expected: str, got: str, same: bool):
    assert matches(expected, got) is same


def test_commands_are_told_from_what_they_print():
    text = "$ one\n> two\nout\n> more\n$ three\n"
    assert list(commands_of(text)) == [("one\ntwo", "out\n> more"), ("three", "")]
