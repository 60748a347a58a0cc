"""Sources, their order, the narrowing project file, and everything that cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cognee_hooks.settings import Narrow, Settings, SettingsProblem, option

SECRET = "hunter2-kept-quiet"


class Level(StrEnum):
    LOW = "low"
    OFF = "off"


# Every example writes the files anew.
FILES_AND_SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def refusing(raw: str) -> str:
    raise ValueError(f"must not be {raw}")


def confused(raw: str) -> str:
    raise KeyError(raw)


@dataclass(frozen=True)
class Sample:
    dataset: str = option(default="d", env="T_DATASET", help="", narrow=Narrow.CHOOSE)
    shout: str = option(default="s", help="", narrow=Narrow.CHOOSE, parse=refusing)
    active: bool = option(default=True, env=("T_ON", "T_ON_TOO"), help="", narrow=Narrow.SWITCH_OFF)
    quiet: bool = option(default=False, env="T_OFF", help="", narrow=Narrow.SWITCH_OFF)
    more: tuple[str, ...] = option(default=("a",), env="T_MORE", help="", narrow=Narrow.ADD)
    lines: tuple[str, ...] = option(default=(), env="T_LINES", help="", separator="\n")
    count: int = option(default=7, env="T_COUNT", help="a count", minimum=2)
    share: float = option(default=0.5, env="T_SHARE", help="")
    # RUF009 does not know that these two types are immutable as well.
    folder: Path = option(default=Path("/d"), env="T_FOLDER", help="")  # noqa: RUF009
    level: Level = option(default=Level.LOW, env="T_LEVEL", help="")  # noqa: RUF009
    key: str = option(default="", env="T_KEY", secret=True, help="")
    strange_key: str = option(default="", env="T_STRANGE", secret=True, help="", parse=refusing)
    strange: str = option(default="", env="T_CONFUSED", help="", parse=confused)
    items: tuple[str, ...] = option(
        default=(), help="", parse=lambda raw: tuple(sorted(json.loads(raw)))
    )


@pytest.fixture
def load(tmp_path):
    """Load settings from texts instead of files."""

    def make(environ=None, *, config=None, env=None, project=None, arguments=None, section=""):
        sources = {}
        for name, text in (("config_file", config), ("env_file", env)):
            if text is not None:
                sources[name] = tmp_path / name
                sources[name].write_text(text, "utf-8", newline="")
        if project is not None:
            sources["project_dir"] = tmp_path / "project"
            sources["project_dir"].mkdir(exist_ok=True)
            (sources["project_dir"] / ".cognee-hooks.yaml").write_text(project, "utf-8")
        settings = Settings.load(environ or {}, arguments=arguments, **sources)
        return settings, settings.resolve(section, Sample)

    return make


def messages(settings: Settings) -> str:
    return "\n".join(problem.message for problem in settings.problems)


# -- sources ---------------------------------------------------------------------------------------


def test_without_sources_the_defaults_are_in_force(load):
    settings, sample = load()
    assert sample == Sample()
    assert {row.source for row in settings.rows()} == {"default"}
    assert settings.problems == ()


def test_each_source_beats_the_weaker_ones(load):
    given_values = {
        "config": ("count: 10", "config.yaml", 10),
        "env": ("T_COUNT=11", "env file", 11),
        "environ": ({"T_COUNT": "12"}, "shell env", 12),
        "arguments": ({"count": 13}, "argument", 13),
    }
    chosen = {}
    for name, (content, source, value) in given_values.items():
        chosen[name] = content
        settings, sample = load(**chosen)
        assert (sample.count, settings.get_source("", "count")) == (value, source)


def test_a_plugin_has_its_options_under_its_name(load):
    settings, sample = load(
        config="count: 3\nplugins: {recall: {count: 4, share: 0.25}}",
        arguments={"recall.level": Level.OFF, "recall.folder": Path("/x")},
        section="recall",
    )
    assert (sample.count, sample.share, sample.level) == (4, 0.25, Level.OFF)
    assert sample.folder == Path("/x")
    assert settings.get_source("recall", "count") == "config.yaml"


def test_an_empty_variable_masks_the_env_file_but_not_the_config(load):
    settings, sample = load({"T_COUNT": ""}, env="T_COUNT=11", config="count: 10")
    assert (sample.count, settings.get_source("", "count")) == (10, "config.yaml")
    assert settings.lookup("T_COUNT") == ""
    assert settings.get_variable_source("T_COUNT") == "shell env"


def test_of_several_variables_the_first_that_has_a_value_wins(load):
    assert load({"T_ON": " ", "T_ON_TOO": "off"})[1].active is False
    assert load({"T_ON": "on", "T_ON_TOO": "off"})[1].active is True
    assert load({"T_ON_TOO": "on"}, env="T_ON=off")[1].active is False


@pytest.mark.parametrize("blank", [None, "", "   "])
def test_blank_is_unset_in_every_source(load, blank):
    settings, sample = load(
        {"T_COUNT": blank or ""},
        arguments={"count": blank},
        config=f"count: {json.dumps(blank)}",
    )
    assert sample.count == 7
    assert settings.problems == ()


def test_the_environment_is_read_once():
    environ = {"T_COUNT": "9"}
    settings = Settings.load(environ)
    environ["T_COUNT"] = "8"
    assert settings.resolve("", Sample).count == 9


def test_w40_a_tilde_means_the_home_of_the_given_environment(load):
    assert load({"HOME": "/home/u", "T_FOLDER": "~/x"})[1].folder == Path("/home/u/x")


def test_lists_come_as_text_with_the_options_separator_or_as_lists(load):
    assert load({"T_LINES": "a,b\nc"})[1].lines == ("a,b", "c")
    assert load({"T_LINES": '["x", "y"]'})[1].lines == ("x", "y")
    assert load(config="lines: [x, y]")[1].lines == ("x", "y")
    assert load(arguments={"lines": ("x", "y")})[1].lines == ("x", "y")


def test_a_list_from_a_file_goes_through_the_options_own_parser(load):
    assert load(config="items: [c, b]")[1].items == ("b", "c")


def test_a_class_without_declared_options_is_its_authors_mistake():
    @dataclass(frozen=True)
    class Wrong:
        plain: int = 3

    with pytest.raises(TypeError, match=r"Wrong.plain is not declared with option\(\)"):
        Settings.load({}).resolve("p", Wrong)


def test_importing_settings_loads_nothing_dear():
    script = (
        "import sys, cognee_hooks.settings, cognee_hooks.core_settings\n"
        "print({'yaml', 'asyncio', 'httpx', 'cryptography', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


# -- values that cannot be used --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "field", "message"),
    [
        ({"T_ON": "banana"}, "active", "T_ON must be true or false; the value is not used."),
        ({"T_ON": "n"}, "active", "T_ON must be true or false; the value is not used."),
        ({"T_COUNT": "many"}, "count", "T_COUNT must be a number; the value is not used."),
        ({"T_COUNT": "1"}, "count", "T_COUNT must be at least 2; the value is not used."),
        ({"T_COUNT": "2.5"}, "count", "T_COUNT must be a whole number; the value is not used."),
        ({"T_LEVEL": "high"}, "level", "T_LEVEL must be one of low, off; the value is not used."),
        ({"T_MORE": "[1]"}, "more", "T_MORE must be an array of strings; the value is not used."),
        ({"T_FOLDER": "a\0"}, "folder", "T_FOLDER must be a path; the value is not used."),
    ],
)
def test_w41_a_bad_value_gives_the_default_and_a_problem(load, environ, field, message):
    settings, sample = load(environ)
    assert getattr(sample, field) == getattr(Sample(), field)
    assert settings.problems == (SettingsProblem(next(iter(environ)), "shell env", message),)


def test_a_bad_value_lets_a_weaker_source_speak(load):
    settings, sample = load({"T_ON": "banana"}, config="active: false")
    assert (sample.active, settings.get_source("", "active")) == (False, "config.yaml")
    assert len(settings.problems) == 1


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("dataset: no", "dataset must be text; put it in quotes"),
        ("dataset: [a]", "dataset cannot be a list"),
        ("count: {a: 1}", "count cannot be a dict"),
        ("count: true", "count must be a number"),
        ("count: 0x" + "f" * 900, "count is out of range"),
        ("count: .inf", "count must be a number"),
        ("more: [1]", "more must be a list of strings"),
        ("level: off", "level must be one of"),
    ],
)
def test_a_value_of_the_wrong_type_is_a_problem(load, config, message):
    settings, sample = load(config=config)
    assert sample == Sample()
    assert message in messages(settings)


def test_a_plugins_own_parser_may_fail_in_any_ordinary_way(load):
    settings, sample = load({"T_CONFUSED": "x"})
    assert sample.strange == ""
    assert "T_CONFUSED" in messages(settings)


def test_the_same_problem_is_told_once(load):
    settings, _ = load({"T_ON": "banana"})
    settings.resolve("", Sample)
    assert len(settings.problems) == 1


def test_messages_are_one_short_line_that_can_be_written_anywhere():
    settings = Settings.load({})
    settings.problem("n\n", "test", "a\nb\x1b[31m\udc80" + "x" * 5000)
    (problem,) = settings.problems
    assert problem.name == "n"
    assert problem.message.startswith("a b [31m\ufffdxxx")
    assert len(problem.message) <= 301
    problem.message.encode()


# -- unknown names ---------------------------------------------------------------------------------


def test_an_unknown_key_is_a_problem_with_a_suggestion(load):
    settings, _ = load(
        config="cuont: 3\nplugins: {recall: {levle: low}}", arguments={"datset": "x"}
    )
    assert messages(settings) == (
        "there is no setting 'cuont'. Did you mean 'count'?\n"
        "there is no setting 'datset'. Did you mean 'dataset'?"
    )
    settings.resolve("recall", Sample)
    assert "there is no setting 'recall.levle'. Did you mean 'level'?" in messages(settings)


def test_unknown_sections_are_told_when_all_plugins_are_known(load):
    settings, _ = load(
        config="plugins: {recal: {}, mine: {}, blok: [x], block: [y]}",
        project="plugins: {recal: {}}",
        arguments={"recal.count": 3, "recall.count": 4},
    )
    settings.resolve("recall", Sample)
    assert settings.problems == ()
    found = settings.unknown_sections(known=["mine"])
    assert [(problem.name, problem.source) for problem in found] == [
        ("plugins.recal", "config.yaml"),
        ("plugins.blok", "config.yaml"),
        ("plugins.recal", "project file"),
        ("plugins.recal", "argument"),
    ]
    assert found[0].message == "there is no plugin 'recal'. Did you mean 'recall'?"
    assert found[1].message == "there is no plugin 'blok'. Did you mean 'block'?"


@pytest.mark.parametrize("config", ["plugins: [a]", "plugins: yes", "plugins: {recall: 5}"])
def test_what_must_be_a_mapping_and_is_none_is_a_problem(load, config):
    settings, sample = load(config=config, section="recall")
    assert sample == Sample()
    assert "must hold names with values" in messages(settings)


# -- secrets ---------------------------------------------------------------------------------------


def test_a_secret_is_masked_in_rows(load):
    settings, sample = load({"T_KEY": SECRET})
    assert sample.key == SECRET
    assert SECRET not in repr(settings.rows())
    row = next(row for row in settings.rows() if row.name == "key")
    assert row.value == "********"
    assert row.default == ""


def test_a_password_in_an_address_is_masked_in_rows_and_problems(load):
    settings, sample = load({"T_DATASET": f"https://u:{SECRET}@host/x"})
    assert SECRET in sample.dataset
    assert SECRET not in repr(settings.rows())
    assert "https://********@host/x" in repr(settings.rows())
    settings.problem("x", "y", f"https://u:{SECRET}@host is wrong")
    assert SECRET not in messages(settings)


@pytest.mark.parametrize(
    "sources",
    [
        {"environ": {"T_STRANGE": SECRET}},
        {"env": f"T_STRANGE={SECRET}"},
        {"config": f"strange_key: {SECRET}"},
        {"config": f"strange_key: [{SECRET}]\nkey: {{a: {SECRET}}}"},
        {"arguments": {"strange_key": SECRET}},
        {"project": f"strange_key: {SECRET}\nkey: {SECRET}"},
        {"config": f"key: {SECRET}: {SECRET}"},
    ],
)
def test_a_secret_that_cannot_be_used_is_in_no_problem_and_no_row(load, sources):
    settings, sample = load(**sources)
    assert sample.strange_key == ""
    assert settings.problems
    assert SECRET not in repr(settings.problems)
    assert SECRET not in repr(settings.rows())
    assert SECRET not in repr(settings.unknown_sections())


def test_a_secret_can_stand_in_a_variable_or_a_file(load, tmp_path):
    (tmp_path / "key").write_text(f"{SECRET}\r\n")
    assert load({"OTHER": SECRET}, config="key: {$env: OTHER}")[1].key == SECRET
    assert load({}, config=f"key: {{$file: {tmp_path}/key}}")[1].key == SECRET
    assert load({"HOME": str(tmp_path)}, config="key: {$file: ~/key}")[1].key == SECRET


@pytest.mark.parametrize(
    "target",
    ["{$env: NOT_SET}", "{$file: /dev/zero}", "{$file: /}", '{$file: "a\\0b"}', "{$file: [1]}"],
)
def test_a_secret_that_is_not_where_the_file_says_is_a_problem(load, target):
    settings, sample = load(config=f"key: {target}")
    assert sample.key == ""
    assert "not set" in messages(settings) or "cannot be read" in messages(settings)


def test_a_huge_secret_file_is_not_read(load, tmp_path):
    (tmp_path / "key").write_text("x" * 100_000)
    settings, sample = load(config=f"key: {{$file: {tmp_path}/key}}")
    assert sample.key == ""
    assert "cannot be read" in messages(settings)


# -- the project's own file ------------------------------------------------------------------------


def test_a_project_may_narrow(load):
    settings, sample = load(
        {"T_DATASET": "mine"},
        project="dataset: ours\nactive: false\nmore: [b, a]\n",
        arguments={"active": True},
    )
    assert (sample.dataset, sample.active, sample.more) == ("ours", False, ("a", "b"))
    assert {settings.get_source("", name) for name in ("dataset", "active", "more")} == {
        "project file"
    }
    assert settings.problems == ()


@pytest.mark.parametrize("word", ["false", "off", "no", "'off'"])
def test_a_project_switches_off_with_any_word_for_it(load, word):
    assert load(project=f"active: {word}")[1].active is False


def test_a_project_may_narrow_a_plugin(load):
    assert load(project="plugins: {recall: {active: false}}", section="recall")[1].active is False


@pytest.mark.parametrize(
    "widening",
    [
        "active: true",
        "active: banana",
        "quiet: true",
        "more: {a: b}",
        "more: [1]",
        "dataset: ''",
        "dataset: no",
        "dataset: [x]",
        "shout: loud",
        "count: 99",
        "share: 1",
        "folder: /etc",
        "level: off",
        "key: mine",
        "lines: [x]",
        "items: [x]",
    ],
)
def test_a_project_can_do_nothing_but_narrow(load, widening):
    settings, sample = load(project=widening)
    assert sample == Sample()
    (problem,) = settings.problems
    assert problem.source == "project file"
    assert problem.name == widening.partition(":")[0]
    assert "a project file can only narrow" in problem.message
    assert settings.get_source("", problem.name) == "default"


def test_a_project_cannot_switch_on_what_the_user_switched_off(load):
    settings, sample = load({"T_ON": "off"}, project="active: true")
    assert sample.active is False
    assert "can only be switched off" in messages(settings)


def test_a_project_cannot_remove_what_the_user_added(load):
    assert load({"T_MORE": "x,y"}, project="more: []")[1].more == ("x", "y")


def test_an_unknown_key_in_a_project_file_says_what_such_a_file_is_for(load):
    settings, _ = load(project="server: http://evil")
    assert "there is no setting 'server'. A project file can only narrow." in messages(settings)


@pytest.mark.parametrize("value", ["{$env: T_OTHER}", "{$file: %s}"])
def test_a_project_file_cannot_read_variables_or_files(load, tmp_path, value):
    secret_file = tmp_path / "secret"
    secret_file.write_text(SECRET)
    settings, sample = load(
        {"T_OTHER": SECRET}, project="dataset: " + value.replace("%s", str(secret_file))
    )
    assert sample.dataset == "d"
    assert "is not allowed in a project file" in messages(settings)


def _project(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".cognee-hooks.yaml").write_text(f"dataset: {name}")


def _dataset(folder: Path, home: Path | str = "") -> str:
    settings = Settings.load({"HOME": str(home)}, project_dir=folder)
    return settings.resolve("", Sample).dataset


def test_the_nearest_project_file_counts(tmp_path):
    _project(tmp_path, "outer")
    _project(tmp_path / "a", "inner")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert _dataset(tmp_path / "a" / "b" / "c") == "inner"


@pytest.mark.parametrize("git", ["folder", "file", "dangling link"])
def test_the_search_ends_at_the_repository(tmp_path, git):
    _project(tmp_path, "outside")
    inside = tmp_path / "repo" / "src"
    inside.mkdir(parents=True)
    mark = tmp_path / "repo" / ".git"
    {
        "folder": mark.mkdir,
        "file": lambda: mark.write_text("gitdir: x"),
        "dangling link": lambda: mark.symlink_to("/nowhere"),
    }[git]()
    assert _dataset(inside) == "d"
    _project(tmp_path / "repo", "root")
    assert _dataset(inside) == "root"


def test_the_home_folder_is_no_project(tmp_path):
    _project(tmp_path, "home")
    (tmp_path / "a").mkdir()
    assert _dataset(tmp_path / "a", home=tmp_path) == "d"
    assert _dataset(tmp_path, home=tmp_path) == "d"


def test_the_search_goes_up_forty_folders_at_most(tmp_path):
    _project(tmp_path, "far")
    deep = tmp_path.joinpath(*["d"] * 45)
    deep.mkdir(parents=True)
    assert _dataset(deep) == "d"
    assert _dataset(tmp_path.joinpath(*["d"] * 20)) == "far"


def test_a_link_or_a_folder_is_no_project_file(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("dataset: stolen")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".cognee-hooks.yaml").symlink_to(elsewhere)
    assert _dataset(tmp_path / "a") == "d"
    (tmp_path / "b" / ".cognee-hooks.yaml").mkdir(parents=True)
    assert _dataset(tmp_path / "b") == "d"


@pytest.mark.parametrize("folder", ["relative", "/" + "x" * 5000, "/a\0b", "/nowhere/at/all"])
def test_a_strange_project_folder_is_no_project(folder):
    assert _dataset(Path(folder)) == "d"


# -- files that cannot be used ---------------------------------------------------------------------

HOSTILE = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\ncount: [*b, *b]",
    "deep flow": "[" * 60_000,
    "deep mapping": "{a: " * 15_000,
    "deep and closed": "a: " + "[" * 900 + "]" * 900,
    "deep blocks": "".join(" " * level + "a:\n" for level in range(300)),
    "tab": "a:\n\tb: 1",
    "torn": "a: [1, 2\nb: 3",
    "no mapping": "- a",
    "scalar": "a",
    "two documents": "a: 1\n---\nb: 2",
    "NUL": "count: \0",
    "escape": "count: \x1b[31m",
    "python tag": "count: !!python/object/apply:os.system [id]",
    "binary": "count: !!binary zzz",
    "tag on a timestamp": "count: !!timestamp abc",
    "tag on a bool": "count: !!bool abc",
    "tag on nothing": 'count: !!int ""',
    "impossible date": "count: 2001-99-99",
    "huge number": "count: " + "9" * 6000,
    "huge key": "? 0x" + "f" * 6000 + "\n: 1",
    "list as a key": "? [a]\n: 1",
    "number as a key": "1: x",
    "half a surrogate pair": 'dataset: "\\ud800"',
    "date": "count: 2001-01-01",
    "too large": "# " + "x" * 70_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("where", ["config", "project"])
def test_a_hostile_file_is_a_problem_and_never_an_exception(load, kind, where):
    settings, sample = load(**{where: HOSTILE[kind]})
    assert sample == Sample()
    assert settings.problems
    assert {problem.source for problem in settings.problems} <= {"config.yaml", "project file"}


@pytest.mark.parametrize(("kind", "line"), [("tab", 2), ("torn", 2), ("two documents", 2)])
def test_a_broken_file_is_told_with_its_line(load, kind, line):
    assert f"is not valid YAML in line {line}" in messages(load(config=HOSTILE[kind])[0])


@pytest.mark.parametrize("text", ["", "# nothing", "---\n", "~", "\ufeffcount: 7", "count: 7\r\n"])
def test_an_empty_or_windows_file_is_fine(load, text):
    settings, sample = load(config=text)
    assert sample == Sample()
    assert settings.problems == ()


def test_files_that_are_not_there_are_no_problem(tmp_path):
    settings = Settings.load(
        {}, config_file=tmp_path / "none", env_file=tmp_path / "none", project_dir=tmp_path
    )
    assert settings.problems == ()


@pytest.mark.parametrize("argument", ["config_file", "env_file"])
@pytest.mark.parametrize("kind", ["folder", "large", "dangling link", "device"])
def test_a_file_that_is_none_is_a_problem(tmp_path, argument, kind):
    path = tmp_path / "file"
    if kind == "folder":
        path.mkdir()
    elif kind == "large":
        path.write_bytes(b"#" * 300_000)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/nowhere")
    (problem,) = Settings.load({}, **{argument: path}).problems
    assert "is no readable file of at most" in problem.message
    assert problem.name == str(path)


def test_an_env_file_may_hold_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "env"
    path.write_bytes(b"\xef\xbb\xbfT_COUNT=9\n\xff\xfe=\x80\nT_DATASET=a\xffb\n")
    settings = Settings.load({}, env_file=path)
    sample = settings.resolve("", Sample)
    assert (sample.count, sample.dataset) == (9, "a\ufffdb")
    assert settings.problems == ()


@given(data=st.binary(max_size=400))
@hypothesis_settings(suppress_health_check=FILES_AND_SLOW)
def test_no_bytes_in_any_file_make_it_raise(tmp_path, data):
    for name in ("config", "env", ".cognee-hooks.yaml"):
        (tmp_path / name).write_bytes(data)
    settings = Settings.load(
        {}, config_file=tmp_path / "config", env_file=tmp_path / "env", project_dir=tmp_path
    )
    assert isinstance(settings.resolve("", Sample), Sample)
    assert all(problem.message for problem in (*settings.problems, *settings.unknown_sections()))


KEYS = st.sampled_from([*Sample.__dataclass_fields__, "plugins", "recall", "block", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(value=st.dictionaries(KEYS, VALUES), arguments=st.dictionaries(KEYS, VALUES))
@hypothesis_settings(suppress_health_check=FILES_AND_SLOW)
def test_no_content_of_any_shape_makes_it_raise_or_widens(tmp_path, value, arguments):
    import yaml

    text = yaml.safe_dump(value)
    (tmp_path / "config").write_text(text)
    (tmp_path / ".cognee-hooks.yaml").write_text(text)
    settings = Settings.load(
        {}, config_file=tmp_path / "config", project_dir=tmp_path, arguments=arguments
    )
    assert isinstance(settings.resolve("", Sample), Sample)
    alone = Settings.load({}, project_dir=tmp_path)
    sample, default = alone.resolve("", Sample), Sample()
    assert sample.quiet is False
    assert set(default.more) <= set(sample.more)
    assert (sample.key, sample.count, sample.folder) == ("", default.count, default.folder)
    assert alone.plugins.only is None
    assert alone.plugins.autoload is True
    assert alone.plugins.require == alone.plugins.require_redactors == ()


@given(value=st.text(st.characters(exclude_categories=())), name=st.sampled_from(["T_ON", "T_KEY"]))
def test_no_variable_makes_it_raise(value, name):
    assert isinstance(Settings.load({name: value}).resolve("", Sample), Sample)


# -- rows ------------------------------------------------------------------------------------------


def test_rows_show_the_core_first_and_everything_as_text(load):
    settings, _ = load({"T_ON": "off", "T_MORE": "x,y"}, section="recall")
    settings.resolve("", Sample)
    rows = settings.rows()
    assert [row.section for row in rows] == [""] * 14 + ["recall"] * 14
    shown = {row.name: (row.value, row.default, row.env, row.source) for row in rows}
    assert shown["active"] == ("false", "true", "T_ON", "shell env")
    assert shown["more"] == ("x, y", "a", "T_MORE", "shell env")
    assert shown["count"] == ("7", "7", "T_COUNT", "default")
    assert shown["items"] == ("", "", "", "default")
    assert next(row.help for row in rows if row.name == "count") == "a count"


def test_rows_say_what_a_value_is_and_what_a_project_may_do(load):
    settings, _ = load()
    told = {row.name: (row.type, row.narrow) for row in settings.rows()}
    assert told["dataset"] == ("text", Narrow.CHOOSE)
    assert told["active"] == ("true or false", Narrow.SWITCH_OFF)
    assert told["more"] == ("list", Narrow.ADD)
    assert told["count"] == ("whole number", Narrow.NEVER)
    assert told["share"] == ("number", Narrow.NEVER)
    assert told["folder"] == ("path", Narrow.NEVER)
    assert told["level"] == ("low or off", Narrow.NEVER)


# -- what a file says in passing -------------------------------------------------------------------


def test_a_name_that_stands_twice_is_told_with_its_line_and_the_last_counts(load):
    settings, sample = load(config="count: 3\nmore: [{a: 1}, {a: 2}]\ncount: 4\nx: {count: 5}\n")
    assert sample.count == 4
    assert "says 'count' a second time in line 3; the last one counts." in messages(settings)
    assert "'a'" not in messages(settings)


def test_a_secret_in_a_file_that_others_can_read_is_told(load, tmp_path):
    load(config="")
    for mode, told in ((0o644, True), (0o640, True), (0o600, False)):
        (tmp_path / "config_file").chmod(mode)
        settings, sample = load(config=f"key: {SECRET}")
        assert sample.key == SECRET
        assert ("other users can read it" in messages(settings)) is told
        assert SECRET not in messages(settings)


def test_a_plugins_secret_in_a_file_that_others_can_read_is_told(load):
    settings, _ = load(config=f"plugins: {{recall: {{key: {SECRET}}}}}", section="recall")
    assert "holds the secret key" in messages(settings)


def test_a_secret_that_stands_elsewhere_is_not_exposed(load):
    assert load({"OTHER": SECRET}, config="key: {$env: OTHER}")[0].problems == ()
    assert load({"T_KEY": SECRET}, config="key: weaker")[0].problems == ()
