from __future__ import annotations

import io
import json
import socket
import threading
from contextlib import ExitStack, suppress

import pytest

from cognee_hooks.cli import main
from tests.support.command import command, payload
from tests.support.fake_server import FakeServer
from tests.support.servers import Server

CLOSED = "http://127.0.0.1:9"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", CLOSED)


@pytest.fixture
def listener():
    """A socket that counts who connects."""
    connections: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def accept():
            while not over.is_set():
                with suppress(TimeoutError):
                    connection, address = server.accept()
                    connection.close()
                    connections.append(address)

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", connections
        over.set()
        thread.join()


@pytest.fixture
def feed(monkeypatch, tmp_path):
    """Puts a text on standard input."""
    with ExitStack() as opened:

        def put(text: str) -> None:
            file = tmp_path / "stdin"
            file.write_text(text)
            monkeypatch.setattr("sys.stdin", opened.enter_context(file.open()))

        yield put


# -- the tree ----------------------------------------------------------------------------------


def test_without_a_command_the_help_is_printed(capsys):
    assert main([]) == 2
    out = capsys.readouterr().out
    for name in ("demo", "doctor", "plugins", "hooks", "config", "run", "preview", "redact"):
        assert name in out


def test_the_help_page_fits_80_columns_with_the_commands_of_plugins(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    with pytest.raises(SystemExit):
        main(["--help"])

    lines = capsys.readouterr().out.splitlines()
    assert "commands of plugins:" in lines
    assert max(map(len, lines)) < 80


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["plugins", "--nonsense"], "--nonsense"),
        (["server", "--port", "many"], "many"),
        (["preview", "nobody", "Stop"], "nobody"),
        (["preview"], "AGENT"),
        (["config", "--nonsense"], "cognee-hooks config --help"),
        (["plugins", "--hook", "cognee_nonsense"], "cognee_nonsense"),
        (["sessions", "-n", "-1"], "-1"),
        (["ledger", "-n", "-1"], "-1"),
        (["daemon", "logs", "-n", "many"], "many"),
    ],
)
def test_wrong_usage_names_what_is_wrong_and_ends_with_2(capsys, arguments, named):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert captured.err.startswith("cognee-hooks: ")
    assert captured.out == ""


@pytest.mark.parametrize("name", ["demo", "doctor", "plugins", "hooks", "config", "run", "preview"])
def test_every_command_explains_itself(capsys, name):
    with pytest.raises(SystemExit) as left:
        main([name, "--help"])
    assert left.value.code == 0
    assert f"cognee-hooks {name}" in capsys.readouterr().out


# -- preview -----------------------------------------------------------------------------------


def preview(feed, capsys, event, document):
    feed(json.dumps(document))
    assert main(["preview", "claude-code", event, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("event", "name", "paths"),
    [
        ("UserPromptSubmit", "UserPromptSubmit", ["/api/v1/recall"]),
        ("PostToolUse", "PostToolUse.Bash", ["/api/v1/remember/entry"]),
        ("PostToolUseFailure", "PostToolUseFailure.Bash", ["/api/v1/remember/entry"]),
        ("Stop", "Stop", ["/api/v1/remember/entry"]),
        ("SessionEnd", "SessionEnd.other", []),
    ],
)
def test_a_preview_shows_what_would_be_sent_and_sends_nothing(
    monkeypatch, feed, capsys, listener, event, name, paths
):
    url, connections = listener
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", url)
    report = preview(feed, capsys, event, payload(name))
    assert [each["path"] for each in report["would_send"]] == paths
    assert connections == []


def test_a_preview_says_which_rule_cut_what(feed, capsys):
    call = payload("PostToolUse.Bash", tool_input={"command": f"echo {TOKEN}"})
    report = preview(feed, capsys, "PostToolUse", call)
    assert TOKEN not in json.dumps(report)
    (cut,) = report["cut"]
    assert cut["field"] == "tool_input.command"
    assert cut["characters"] == len(TOKEN)


def test_a_preview_says_what_is_left_out_and_why(feed, capsys):
    call = payload("PostToolUse.Read", tool_input={"file_path": "/x/.env"})
    report = preview(feed, capsys, "PostToolUse", call)
    assert report["would_send"] == []
    assert report["left_out"] == {"denied_path": 1}


def test_a_preview_leaves_no_state_behind(feed, capsys, isolated_environment):
    preview(feed, capsys, "UserPromptSubmit", payload("UserPromptSubmit"))
    assert not list(isolated_environment.rglob("*.json"))


def test_a_preview_obeys_the_project_of_the_payload(feed, capsys, tmp_path):
    (tmp_path / ".cognee-hooks.yaml").write_text("capture: false\n")
    document = payload("UserPromptSubmit", cwd=str(tmp_path))
    report = preview(feed, capsys, "UserPromptSubmit", document)
    assert report["would_send"] == []


def test_a_preview_for_people_is_readable_and_without_control_characters(feed, capsys):
    feed(json.dumps(payload("Stop", last_assistant_message="a\x1b[2Jb")))
    assert main(["preview", "claude-code", "Stop"]) == 0
    out = capsys.readouterr().out
    assert "would send: POST /api/v1/remember/entry" in out
    assert "\x1b" not in out


def test_a_preview_of_an_event_that_nobody_reads_says_so(feed, capsys):
    feed("{}")

    assert main(["preview", "claude-code", "Nonsense"]) == 0

    out, error = capsys.readouterr()
    assert out == "would send: nothing\n"
    assert "'Nonsense'" in error
    assert "install claude-code --dry-run" in error


def test_a_preview_without_a_payload_says_so(feed, capsys):
    feed("")
    assert main(["preview", "claude-code", "Stop"]) == 2
    assert "reads one JSON object from standard input" in capsys.readouterr().err


# -- listings ----------------------------------------------------------------------------------


def test_plugins_lists_the_built_ins_with_their_hooks(capsys):
    assert main(["plugins", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"recall", "capture"} <= set(rows)
    assert rows["recall"]["state"] == "active"
    assert "cognee_user_prompt_submit" in rows["recall"]["hooks"]


def test_plugins_shows_blocked_ones_only_where_asked(capsys):
    assert main(["plugins", "-p", "no:recall"]) == 0
    out = capsys.readouterr().out
    assert "1 more not active" in out
    assert main(["plugins", "-p", "no:recall", "--all", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["recall"]["state"] == "blocked"
    assert "-p" in rows["recall"]["reason"]


@pytest.mark.parametrize("hook", ["cognee_render_status", "render_status"])
def test_plugins_can_be_narrowed_to_a_hook_by_its_whole_name_and_as_it_is_listed(capsys, hook):
    assert main(["plugins", "--hook", hook, "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["statusline"]


def test_hooks_lists_every_spec(capsys):
    from cognee_hooks import hookspecs

    assert main(["hooks", "--json"]) == 0
    names = {row["name"] for row in json.loads(capsys.readouterr().out)}
    assert names == {name for name in vars(hookspecs) if name.startswith("cognee_")}
    assert main(["hooks"]) == 0
    assert "user_prompt_submit" in capsys.readouterr().out


def test_config_shows_values_with_their_source_and_masks_secrets(monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_API_KEY", TOKEN)
    monkeypatch.setenv("COGNEE_USER_PASSWORD", "hunter2-hunter2")
    monkeypatch.setenv("COGNEE_RECALL_TOP_K", "7")
    assert main(["config", "--json"]) == 0
    out = capsys.readouterr().out
    assert main(["config"]) == 0
    out += capsys.readouterr().out
    assert TOKEN not in out
    assert "hunter2" not in out
    rows = {row["env"]: row for row in json.loads(out[: out.rindex("}") + 1])["settings"]}
    assert str(rows["COGNEE_RECALL_TOP_K"]["value"]) == "7"
    assert rows["COGNEE_RECALL_TOP_K"]["source"] != "default"
    assert rows["COGNEE_CONTEXT_MAX_CHARS"]["source"] == "default"


def test_config_fails_where_a_value_cannot_be_used(monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_RECALL_TOP_K", "many")
    assert main(["config"]) == 1
    assert "COGNEE_RECALL_TOP_K" in capsys.readouterr().err


# -- redact ------------------------------------------------------------------------------------


def test_redact_takes_secrets_out_of_a_text(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"a {TOKEN} b\n".encode())))
    assert main(["redact", "--explain"]) == 0
    captured = capsys.readouterr()
    assert TOKEN not in captured.out + captured.err
    assert captured.out.startswith("a [redacted:")
    assert captured.out.endswith("] b\n")
    assert f"{len(TOKEN)} characters" in captured.err


def test_redact_explains_that_nothing_was_cut(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("plain é\n".encode())))
    assert main(["redact", "--explain"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "plain é\n"
    assert captured.err == "nothing was cut\n"


def test_redact_prints_nothing_where_redaction_is_closed(monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_CAPTURE_REDACT_PATTERNS", "(unclosed")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"text")))
    assert main(["redact"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Nothing is printed" in captured.err


# -- doctor ------------------------------------------------------------------------------------


def checks(capsys) -> tuple[int, dict]:
    code = main(["doctor", "--json"])
    return code, {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_a_healthy_installation_passes(embedded_server: Server, monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_BASE_URL", embedded_server.url)
    monkeypatch.setenv("COGNEE_API_KEY", embedded_server.key)
    code, rows = checks(capsys)
    assert code == 0
    for name in ("mode", "settings", "server", "key", "redaction", "plugins", "recall", "capture"):
        assert rows[name]["status"] == "ok", rows[name]
    assert "COGNEE_BASE_URL is set" in rows["mode"]["detail"]
    assert " ms" in rows["server"]["detail"]
    assert embedded_server.key not in str(rows)


def test_a_missing_server_is_named_with_what_to_do(capsys):
    code, rows = checks(capsys)
    assert code == 1
    assert rows["server"]["status"] == "failed"
    assert CLOSED in rows["server"]["detail"]
    assert "cognee-hooks server" in rows["server"]["remedy"]


def test_without_a_key_so_far_nothing_is_said_to_be_refused(
    embedded_server: Server, monkeypatch, capsys
):
    monkeypatch.setenv("COGNEE_BASE_URL", embedded_server.url)

    _, rows = checks(capsys)

    assert "one is made" in rows["key"]["detail"]
    assert rows["datasets"]["detail"] == "unavailable (the server tells them only to a key)"


def test_a_wrong_key_is_named_with_its_source(embedded_server: Server, monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_BASE_URL", embedded_server.url)
    monkeypatch.setenv("COGNEE_API_KEY", "wrong-" + "key")
    code, rows = checks(capsys)
    assert code == 1
    assert rows["server"]["status"] == "ok"
    assert rows["key"]["status"] == "failed"
    assert "COGNEE_API_KEY" in rows["key"]["remedy"]
    assert "wrong-key" not in str(rows)


async def test_a_server_of_another_kind_is_told_from_a_missing_one():
    from tests.support.fake_server import body

    async with FakeServer() as server:
        server.always(body(b"<html>It works!</html>"))
        done = await command("doctor", "--json", COGNEE_BASE_URL=server.url)
    (row,) = [each for each in done.json if each["name"] == "server"]
    assert done.code == 1
    assert "not a cognee server" in row["remedy"]


def test_a_pinned_cloud_without_an_address_is_a_failure(monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_BACKEND", "cloud")
    code, rows = checks(capsys)
    assert code == 1
    assert "COGNEE_BASE_URL" in rows["mode"]["remedy"]


def test_redaction_that_is_off_is_a_loud_warning(monkeypatch, capsys):
    monkeypatch.setenv("COGNEE_CAPTURE_REDACT", "false")
    _, rows = checks(capsys)
    assert rows["redaction"]["status"] == "warning"
    assert "secrets leave this machine" in rows["redaction"]["detail"]


def test_the_doctor_speaks_to_people_too(capsys):
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "what to do" in out
    assert "COGNEE_BASE_URL" in out


# -- demo --------------------------------------------------------------------------------------


async def test_the_demo_works_and_touches_nothing_of_the_users(isolated_environment):
    done = await command("demo", "--json")
    report = done.json
    assert done.code == 0
    assert report["ok"] is True
    assert report["leaked"] == []
    assert report["lost"] == 0
    assert "7431" in report["model_was_given"]
    assert "recall skipped" in report["outage"]["model_was_given"]
    assert report["kept_during_outage"] > 0
    assert report["redacted"]
    assert done.seconds < 60
    assert not [each for each in isolated_environment.rglob("*") if each.is_file()]


async def test_the_demo_speaks_to_people():
    done = await command("demo")
    assert done.code == 0
    assert "nothing lost, no secret stored" in done.out
    assert "next: cognee-hooks install" in done.out
