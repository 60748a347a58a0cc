from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.capture.shell import runs_own_program, words


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("cat a.txt", ["cat", "a.txt"]),
        ("cat 'my dir'/x", ["cat", "my dir/x"]),
        ('cat "a b".txt', ["cat", "a b.txt"]),
        (r"cat my\ dir/.env", ["cat", "my dir/.env"]),
        ("cat ~/.ss''h/id_rsa", ["cat", "~/.ssh/id_rsa"]),
        ("a;b&&c|d", ["a", "b", "c", "d"]),
        ("cat \\\n.env", ["cat", ".env"]),
        ("echo 'never closed .env", ["echo", "'never", "closed", ".env"]),
    ],
)
def test_words_lose_their_quotes_and_keep_their_blanks(command, found):
    every = list(words(command))
    assert [word for word in every if word in found] == found


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'cat .env'",
        "bash -c \"cat '.env'\"",
        "ssh host 'cat .env'",
        "python -c \"print(open('.env').read())\"",
        'echo "$(cat .env)"',
        'echo "`cat .env`"',
        "(cat .env)",
        "{ cat .env; }",
        "cat<<<x .env",
    ],
)
def test_text_that_another_program_runs_is_taken_apart(command):
    assert ".env" in set(words(command))


def test_a_commit_message_is_prose():
    assert ".env" not in set(words('git commit -m "Explain what goes into .env files"'))


@pytest.mark.parametrize(
    "command",
    [
        "cognee-hooks doctor",
        "cognee-cli add x",
        "cognee add x",
        "/opt/venv/bin/cognee-hooks plugins",
        "cd /x && cognee-hooks demo",
        "FOO='a b' cognee-hooks run claude-code Stop",
        "sudo -u me cognee-hooks doctor",
        "timeout 5 cognee-hooks demo",
        "nice -n 10 cognee-cli add x",
        "env A=1 cognee-hooks doctor",
        "uvx cognee-hooks demo",
        "uvx --from cognee-hooks cognee-hooks demo",
        "uv run --with x cognee-hooks run",
        "python -m cognee_hooks doctor",
        "/opt/venv/bin/python3.11 -m cognee",
        "git log | cognee-cli add",
        "if cognee-hooks doctor; then echo y; fi",
        "! cognee-hooks doctor",
        'echo "$(cognee-cli search x)"',
        "`cognee-hooks --version`",
        "bash -lc 'cd x && cognee-hooks doctor'",
        "eval 'cognee-hooks doctor'",
        "make; cognee-hooks doctor || true",
    ],
)
def test_a_line_that_runs_our_program_is_recognised(command):
    assert runs_own_program(command)


@pytest.mark.parametrize(
    "command",
    [
        "cd ~/src/cognee && pytest",
        "git clone https://github.com/topoteretes/cognee",
        "ls cognee/",
        "cat cognee/api.py",
        "pip install cognee",
        "rg cognee src",
        "python -m pytest tests/cognee",
        "python cognee/setup.py",
        'git commit -m "Fix the search (cognee)"',
        'git commit -m "Fix search; cognee now answers"',
        "echo 'cognee | pipe'",
        "cat > README.md <<EOF\ncognee is a memory engine\nEOF",
        "cat > README.md <<'END'\ncognee is\nEND\npytest",
        "./cognee.sh",
        "cognee_tests/run.sh",
        "",
        "   ",
        "PATH=cognee",
        "sudo",
    ],
)
def test_a_line_that_only_mentions_us_is_somebody_elses(command):
    assert not runs_own_program(command)


def test_a_program_after_a_here_document_is_still_seen():
    assert runs_own_program("cat <<EOF\ntext\nEOF\ncognee-hooks doctor")


@given(st.text(alphabet="ab \n\"'`$(){};|&\\<>=-EOF.", max_size=80))
def test_no_line_raises(command):
    list(words(command))
    runs_own_program(command)


@pytest.mark.parametrize(
    "part", ['"\\"', "'\"", "$(", '"$(', "`x", "<<A\n", "a ", "x" * 100, "\\", '"', "bash -c '"]
)
def test_reading_takes_linear_time(part):
    command = part * (200_000 // len(part))
    started = time.process_time()
    list(words(command))
    runs_own_program(command)
    assert time.process_time() - started < 3
