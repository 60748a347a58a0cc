"""Which plugins are asked for and which are left out, by every source."""

from __future__ import annotations

import pytest

from cognee_hooks.settings import Settings


@pytest.fixture
def select(tmp_path):
    def make(environ=None, *, config="", env="", project="", asked=None):
        (tmp_path / "config.yaml").write_text(config)
        (tmp_path / ".env").write_text(env)
        (tmp_path / ".cognee-hooks.yaml").write_text(project)
        settings = Settings.load(
            environ or {},
            config_file=tmp_path / "config.yaml",
            env_file=tmp_path / ".env",
            project_dir=tmp_path,
            arguments={"plugins": asked},
        )
        return settings.plugins, settings.problems

    return make


def test_without_a_word_on_plugins_all_are_loaded(select):
    chosen, problems = select()
    assert chosen.block == frozenset()
    assert chosen.only is None
    assert chosen.only_source == ""
    assert chosen.require == chosen.require_redactors == ()
    assert chosen.autoload is True
    assert problems == ()


def test_blocks_of_all_sources_add_up_and_say_where_they_stand(select):
    chosen, _ = select(
        {"COGNEE_HOOKS_DISABLE": "b, c"},
        config="plugins: {block: [a, b]}",
        project="plugins: {block: d}",
        asked=["no:e"],
    )
    assert chosen.block == {"a", "b", "c", "d", "e"}
    assert chosen.block_sources == {
        "a": "config.yaml",
        "b": "COGNEE_HOOKS_DISABLE",
        "c": "COGNEE_HOOKS_DISABLE",
        "d": "project file",
        "e": "-p no:e",
    }


def test_variables_may_stand_in_the_env_file(select):
    chosen, _ = select(env="COGNEE_HOOKS_DISABLE=x\nCOGNEE_HOOKS_AUTOLOAD=0")
    assert chosen.block == {"x"}
    assert chosen.autoload is False


def test_only_comes_from_the_variable_before_the_file(select):
    chosen, _ = select(config="plugins: {only: [a]}")
    assert (chosen.only, chosen.only_source) == ({"a"}, "config.yaml")
    chosen, _ = select({"COGNEE_HOOKS_PLUGINS": "b,c"}, config="plugins: {only: [a]}")
    assert (chosen.only, chosen.only_source) == ({"b", "c"}, "COGNEE_HOOKS_PLUGINS")


def test_an_empty_list_of_the_only_plugins_means_none_of_them(select):
    assert select(config="plugins: {only: []}")[0].only == frozenset()
    assert select(config="plugins: {only: }")[0].only is None
    assert select({"COGNEE_HOOKS_PLUGINS": " , "})[0].only is None


def test_p_name_loads_a_plugin_that_would_not_be(select):
    chosen, _ = select(
        {"COGNEE_HOOKS_DISABLE": "a", "COGNEE_HOOKS_AUTOLOAD": "0"},
        config="plugins: {only: [b], require: [c>=1.2, a]}",
        asked=["a"],
    )
    assert chosen.block == frozenset()
    assert chosen.only == {"a", "b"}
    assert chosen.require == ("c>=1.2", "a")
    assert chosen.autoload is False


def test_the_last_word_of_p_on_a_name_counts(select):
    chosen, _ = select(asked=["a", "no:a", "no:b", "b"])
    assert chosen.block == {"a"}
    assert chosen.require == ("b",)


def test_p_cannot_load_what_the_project_blocks(select):
    chosen, _ = select(project="plugins: {block: [a]}", asked=["a"])
    assert chosen.block_sources == {"a": "project file"}


def test_a_project_switches_recall_off_by_a_word(select):
    chosen, problems = select(project="recall: false")
    assert chosen.block_sources == {"recall": "project file"}
    assert problems == ()


@pytest.mark.parametrize("word", ["true", "{enabled: false}"])
def test_any_other_word_on_recall_in_a_project_is_reported(select, word):
    chosen, (problem,) = select(project=f"recall: {word}")
    assert chosen.block == frozenset()
    assert (problem.name, problem.source) == ("recall", "project file")
    assert "a project file can only narrow" in problem.message


@pytest.mark.parametrize("key", ["only", "require", "require_redactors", "autoload"])
def test_a_project_can_do_nothing_with_plugins_but_block(select, key):
    chosen, (problem,) = select(project=f"plugins: {{{key}: [a]}}")
    assert chosen == select()[0]
    assert (problem.name, problem.source) == (f"plugins.{key}", "project file")
    assert "a project file can only narrow" in problem.message


@pytest.mark.parametrize("asked", ["recall", ("recall",), ["recall", "", "no:"]])
def test_names_come_as_one_or_several(select, asked):
    assert select(asked=asked)[0].require == ("recall",)


@pytest.mark.parametrize("asked", [5, [5], {"a": 1}])
def test_names_that_are_none_are_a_problem(select, asked):
    chosen, (problem,) = select(asked=asked)
    assert chosen.require == ()
    assert (problem.name, problem.source) == ("plugins", "argument")


@pytest.mark.parametrize("key", ["block", "only", "require", "require_redactors"])
@pytest.mark.parametrize("value", ["5", "[5]", "{a: b}", "true"])
def test_a_list_in_the_file_that_is_none_is_a_problem(select, key, value):
    _, (problem,) = select(config=f"plugins: {{{key}: {value}}}")
    assert problem.message == f"plugins.{key} must be a list of names; it is not used."


def test_required_plugins_and_redactors(select):
    chosen, _ = select(config="plugins: {require: a, require_redactors: [r, ' ']}")
    assert chosen.require == ("a",)
    assert chosen.require_redactors == ("r",)


def test_autoload_from_variable_and_file(select):
    assert select(config="plugins: {autoload: false}")[0].autoload is False
    assert select({"COGNEE_HOOKS_AUTOLOAD": "1"}, config="plugins: {autoload: false}")[0].autoload


def test_an_autoload_that_cannot_be_used_is_a_problem_with_its_source(select):
    chosen, (problem,) = select(
        env="COGNEE_HOOKS_AUTOLOAD=maybe", config="plugins: {autoload: false}"
    )
    assert chosen.autoload is False
    assert (problem.name, problem.source) == ("COGNEE_HOOKS_AUTOLOAD", "env file")
    chosen, (problem,) = select(config="plugins: {autoload: 'no'}")
    assert chosen.autoload is True
    assert problem.name == "plugins.autoload"
