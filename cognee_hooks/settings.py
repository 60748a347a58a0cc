"""Declared options and where their values come from.

Sources, weakest first: default, ``config.yaml``, the shared ``.env`` file, the environment,
explicit arguments. A ``.cognee-hooks.yaml`` in the project comes on top, but can only narrow: a
cloned repository must not be able to redirect memory or to switch anything on.

Nothing here raises for bad content. The default is used and a `SettingsProblem` is kept.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from cognee_hooks.configuration import envfile
from cognee_hooks.configuration.declarations import (
    METADATA,
    REFUSALS,
    Narrow,
    Option,
    Parser,
    option,
)
from cognee_hooks.configuration.files import ConfigFile, find_project_file, read_text, read_yaml
from cognee_hooks.configuration.selection import CONTROL_KEYS, PluginSelection, Selector
from cognee_hooks.configuration.values import to_text

__all__ = ["Narrow", "OptionRow", "PluginSelection", "Settings", "SettingsProblem", "option"]

T = TypeVar("T")

DEFAULT, CONFIG, PROJECT_FILE = "default", "config.yaml", "project file"
ENV_FILE, SHELL, ARGUMENT = "env file", "shell env", "argument"
MASK = "********"
"""Stands in place of a value that must not be shown."""
# The part of an address that may hold a password.
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_MAX_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """Something in the configuration that was not used.

    Attributes:
        name: Option, key or file.
        source: Where it stands.
        message: What is wrong and what happens instead; never a secret's value.
    """

    name: str
    source: str
    message: str


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option for ``cognee-hooks config``; secrets are masked.

    Attributes:
        section: "" for the core, else the plugin's name.
        name: Its name there.
        env: The variable that sets it, or "".
        value: What is in force.
        source: Where that stands.
        default: What is in force where nobody sets it.
        help: One line for people.
        type: What a value is, in words.
        narrow: What a project's own file may do to it.
    """

    section: str
    name: str
    env: str
    value: str
    source: str
    default: str
    help: str
    type: str
    narrow: Narrow


class Settings:
    """All sources of one session, read once. Make it with `load`.

    Attributes:
        plugins: Which plugins to load.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        env_values: Mapping[str, str],
        config: ConfigFile,
        project: ConfigFile,
        arguments: Mapping[str, object],
    ) -> None:
        self._environ = dict(environ)
        self._env_values = env_values
        self._config = config
        self._project = project
        self._arguments = arguments
        self._problems: dict[SettingsProblem, None] = {}
        self._rows: dict[tuple[str, str], OptionRow] = {}
        self._sections: dict[str, frozenset[str]] = {}
        for file in (config, project):
            for message in file.problems:
                self.problem(str(file.path or ""), file.label, message)
            if not isinstance(file.values.get("plugins", {}), (Mapping, type(None))):
                self.problem("plugins", file.label, "plugins must hold names with values.")
        self.plugins = Selector(config, project, self._find, self.problem).select(
            arguments.get("plugins")
        )

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str],
        *,
        config_file: Path | None = None,
        env_file: Path | None = None,
        project_dir: Path | None = None,
        arguments: Mapping[str, object] | None = None,
    ) -> Settings:
        """Read all sources.

        Args:
            environ: The environment.
            config_file: The user's ``config.yaml``.
            env_file: The shared ``.env`` file.
            project_dir: Where to start looking for ``.cognee-hooks.yaml``.
            arguments: Values by name, ``dataset`` or ``recall.top_k``; ``plugins`` takes names to
                load and ``no:name`` to leave out.
        """
        home = environ.get("HOME", "")
        project_file = find_project_file(project_dir, Path(home) if home else None)
        text = read_text(env_file, envfile.MAX_BYTES) if env_file else ""
        settings = cls(
            environ,
            envfile.parse(text or ""),
            read_yaml(config_file, CONFIG, environ),
            read_yaml(project_file, PROJECT_FILE, None),
            arguments or {},
        )
        if text is None and env_file is not None and os.path.lexists(env_file):
            settings.problem(
                str(env_file),
                ENV_FILE,
                f"{env_file} is no readable file of at most {envfile.MAX_BYTES} bytes; it is not "
                "used.",
            )
        return settings

    # -- values ----------------------------------------------------------------------------------

    def lookup(self, name: str) -> str:
        """Return a variable: from the environment if it is there, even empty, else the env file."""
        return self._find(name)[0]

    def get_variable_source(self, name: str) -> str:
        """Return the label of the source in which `lookup` finds a variable."""
        return self._find(name)[1]

    @property
    def environ(self) -> Mapping[str, str]:
        """The session's environment."""
        return MappingProxyType(self._environ)

    @property
    def env_values(self) -> Mapping[str, str]:
        """What stands in the shared ``.env`` file."""
        return MappingProxyType(dict(self._env_values))

    def _find(self, name: str) -> tuple[str, str]:
        if name in self._environ:
            return self._environ[name], SHELL
        return self._env_values.get(name, ""), ENV_FILE

    def resolve(self, section: str, cls: type[T]) -> T:
        """Return the options of a section with the values in force.

        Args:
            section: "" for the core, else the plugin's name.
            cls: A frozen dataclass whose fields are made with `option`.

        Raises:
            TypeError: ``cls`` is something else, which is its author's mistake.
        """
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        hints = typing.get_type_hints(cls)
        home = self._environ.get("HOME", "")
        values: dict[str, Any] = {}
        self._sections[section] = frozenset(each.name for each in fields)
        for file in (self._config, self._project):
            if section and not isinstance(file.plugins.get(section, {}), (Mapping, type(None))):
                dotted = f"plugins.{section}"
                self.problem(dotted, file.label, f"{dotted} must hold names with values.")
        for each in fields:
            declared = each.metadata.get(METADATA)
            if not isinstance(declared, Option):
                raise TypeError(f"{cls.__name__}.{each.name} is not declared with option().")
            parser = declared.parser(hints[each.name], home)
            value, source = self._value(section, each, declared, parser)
            values[each.name] = value
            self._rows[section, each.name] = OptionRow(
                section,
                each.name,
                declared.env[0] if declared.env else "",
                _shown(value, secret=declared.secret),
                source,
                _shown(each.default, secret=declared.secret),
                declared.help,
                declared.type_name(hints[each.name]),
                declared.narrow,
            )
        return cls(**values)

    def get_source(self, section: str, name: str) -> str:
        """Return where a resolved value came from."""
        return self._rows[section, name].source

    # -- reports ---------------------------------------------------------------------------------

    @property
    def problems(self) -> tuple[SettingsProblem, ...]:
        """What was not used and why, each once, keys that nobody knows included."""
        return (*self._problems, *self._unknown_keys())

    def problem_of(self, section: str, name: str) -> str:
        """Return why a value of a resolved option is not used, for people, or ""."""
        dotted = f"{section}.{name}" if section else name
        names = {dotted, self._rows[section, name].env}
        return next((each.message for each in self._problems if each.name in names), "")

    def problem(self, name: str, source: str, message: str) -> None:
        """Report a problem. The message is put on one line and bounded in length."""
        self._problems[SettingsProblem(_line(name), source, _line(message))] = None

    def rows(self) -> list[OptionRow]:
        """Return everything that was resolved so far, the core first."""
        return sorted(self._rows.values(), key=lambda row: row.section)

    def unknown_sections(self, known: Iterable[str] = ()) -> tuple[SettingsProblem, ...]:
        """Return a problem for each section that belongs to no plugin.

        Args:
            known: Names of plugins that exist but did not ask for their options, such as blocked
                ones; those that did are known anyway.
        """
        names = {*known, *self._sections, *CONTROL_KEYS} - {""}
        found = {
            (section, file.label): None
            for file in (self._config, self._project)
            for section in file.plugins
            if section not in names
        }
        for argument in self._arguments:
            section, dot, _ = argument.rpartition(".")
            if dot and section not in names:
                found[section, ARGUMENT] = None
        return tuple(
            SettingsProblem(
                _line(f"plugins.{section}"),
                source,
                _line(f"there is no plugin {section!r}.{_suggestion(section, names)}"),
            )
            for section, source in found
        )

    # -- one value -------------------------------------------------------------------------------

    def _value(
        self,
        section: str,
        each: dataclasses.Field[Any],
        declared: Option,
        parser: Parser,
    ) -> tuple[Any, str]:
        value, source = each.default, DEFAULT
        for raw, origin, variable in self._candidates(section, each.name, declared):
            try:
                value, source = parser(raw), origin
                break
            except REFUSALS as error:
                reason = "cannot be used" if declared.secret else error
                self.problem(variable, origin, f"{variable} {reason}; the value is not used.")
        if declared.secret and source == CONFIG and (section, each.name) in self._config.exposed:
            self.problem(
                each.name,
                CONFIG,
                f"{self._config.path} holds the secret {each.name} and other users can read it. "
                f"Run `chmod 600` on it, or use {{$env: NAME}} or {{$file: path}} there.",
            )
        raw = self._project.section(section).get(each.name)
        if raw is None:
            return value, source
        dotted = f"{section}.{each.name}" if section else each.name
        try:
            return declared.narrowed(value, raw, parser), PROJECT_FILE
        except REFUSALS as error:
            reason = "cannot be used" if declared.secret else error
            self.problem(
                dotted,
                PROJECT_FILE,
                f"a project file can only narrow: {dotted} {reason}; the value is not used.",
            )
        return value, source

    def _candidates(
        self, section: str, name: str, declared: Option
    ) -> Iterator[tuple[object, str, str]]:
        """Yield what the sources say, the strongest first; None and blank text count as unset."""
        dotted = f"{section}.{name}" if section else name
        yield from _given(self._arguments.get(dotted), ARGUMENT, dotted)
        for variable in declared.env:
            text, source = self._find(variable)
            yield from _given(text, source, variable)
        yield from _given(self._config.section(section).get(name), CONFIG, dotted)

    def _unknown_keys(self) -> Iterator[SettingsProblem]:
        """Find keys that no option has; only in sections that were resolved."""
        for section, known in self._sections.items():
            for file in (self._config, self._project):
                allowed = known if section or file is self._config else {*known, "recall"}
                for key in file.section(section):
                    if key not in allowed:
                        yield _unknown(section, key, file.label, known)
            for argument in self._arguments:
                owner, _, key = argument.rpartition(".")
                if owner == section and key not in known and argument != "plugins":
                    yield _unknown(section, key, ARGUMENT, known)


def without_passwords(text: str) -> str:
    """Return a text without the users and passwords of the addresses in it."""
    return _CREDENTIALS.sub(f"{MASK}@", text)


def _unknown(section: str, key: str, source: str, known: Iterable[str]) -> SettingsProblem:
    dotted = f"{section}.{key}" if section else key
    limit = " A project file can only narrow." if source == PROJECT_FILE else ""
    message = f"there is no setting {dotted!r}.{_suggestion(key, known)}{limit}"
    return SettingsProblem(_line(dotted), source, _line(message))


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:100], sorted(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _given(raw: object, source: str, name: str) -> Iterator[tuple[object, str, str]]:
    if raw is not None and not (isinstance(raw, str) and not raw.strip()):
        yield raw, source, name


def _line(text: str) -> str:
    """Put untrusted text on one line of bounded length, without passwords in addresses."""
    clean = "".join(each if each.isprintable() else " " for each in to_text(text[:2000]))
    short = without_passwords(" ".join(clean.split()))
    return short if len(short) <= _MAX_MESSAGE else f"{short[:_MAX_MESSAGE]}…"


def _shown(value: object, *, secret: bool) -> str:
    if secret:
        return MASK if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return without_passwords(text)
