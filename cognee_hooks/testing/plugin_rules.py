"""Does a plugin keep the promises? What its author can know before its users do.

::

    from cognee_hooks.testing import assert_plugin

    def test_the_plugin_is_sound(tmp_path):
        assert_plugin(MyPlugin, tmp_path)

A plugin is looked at as the host does when it loads it, its annotations are compared with the
hooks, its options resolved, its redactors judged by a corpus, and then it lives through a whole
session of ordinary and of odd events. Everything that the host would forgive is a problem here.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import logging
import threading
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks import hookspecs
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.guard import attempt
from cognee_hooks.host import Host
from cognee_hooks.leak import Leak
from cognee_hooks.markers import Kind, policy_of
from cognee_hooks.registry import PluginState
from cognee_hooks.results import Agent
from cognee_hooks.services.process import current_environ
from cognee_hooks.testing.corpus import Sample
from cognee_hooks.testing.loop_watch import LoopWatch
from cognee_hooks.testing.plugin_events import ODD, ORDINARY
from cognee_hooks.testing.problems import Problem
from cognee_hooks.testing.redactor_rules import check_redactor
from cognee_hooks.testing.session import HookCall, PluginSession

SLOW = 0.5
"""Seconds below which nothing is called slow, however short the budget: machines are busy."""
NAME = "under-test"
_TYPES = {"Deadline": Deadline, "Agent": Agent, "Leak": Leak}
"""What the hooks' annotations name and do not import."""


def check_plugin(
    plugin: object,
    home: Path,
    *,
    samples: Sequence[Sample] = (),
    allowed: Sequence[str] = (),
    options: dict[str, object] | None = None,
) -> list[Problem]:
    """Judge a plugin.

    Args:
        plugin: What the entry point names: an object, a module, or a factory.
        home: A throw-away folder.
        samples: The author's own samples for its redactors.
        allowed: Kinds of harmless samples that its redactors may change.
        options: Values of the plugin's own options, by name.

    Returns:
        What it does wrong, in an order in which it can be mended.
    """
    before = _Surroundings.now()
    arguments = {f"{NAME}.{name}": value for name, value in (options or {}).items()}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        session = PluginSession(home, {NAME: plugin}, arguments=arguments)
        problems = [*_loading(session)]
        outdated = [*_deprecated(session)]
        if not problems:
            problems += _annotations(session)
            problems += _registered(session, samples, allowed)
            problems += _living(session)
        elif session.host.registry.is_active(NAME):
            problems += _annotations(session)
    problems += outdated
    if printed.getvalue():
        problems.append(_problem("", "it prints, which an agent would read as its answer"))
    return problems + list(before.changes())


def assert_plugin(plugin: object, home: Path, **options: Any) -> None:
    """Fail with all problems of a plugin; takes the arguments of `check_plugin`.

    Raises:
        AssertionError: There are some.
    """
    problems = check_plugin(plugin, home, **options)
    if problems:
        raise AssertionError("\n".join(["the plugin has problems:", *map(str, problems)]))


# -- as it is loaded -----------------------------------------------------------------------------


def _loading(session: PluginSession) -> Iterator[Problem]:
    host = session.host
    record = next(each for each in host.registry.records if each.name == NAME)
    if record.state is not PluginState.ACTIVE:
        yield _problem("", record.reason)
        return
    for problem in host.settings.problems:
        yield _problem("cognee_register_settings", f"{problem.name}: {problem.message}")


def _deprecated(session: PluginSession) -> Iterator[Problem]:
    [record] = (each for each in session.host.registry.records if each.name == NAME)
    for text in record.deprecations:
        yield _problem("", text)


def _annotations(session: PluginSession) -> Iterator[Problem]:
    """Compare what implementations say about types with the hooks, which pluggy does not."""
    manager = session.host.registry.manager
    for caller in manager.get_hookcallers(manager.get_plugin(NAME)) or ():
        spec = getattr(hookspecs, caller.name, None)
        implementation = next(each for each in caller.get_hookimpls() if each.plugin_name == NAME)
        if spec is None or implementation.wrapper:
            continue
        hints = attempt(typing.get_type_hints, implementation.function).result or {}
        known = typing.get_type_hints(spec, {**vars(hookspecs), **_TYPES})
        for name, hint in hints.items():
            wanted = policy_of(spec).result if name == "return" else known.get(name)
            if _contradicts(name, hint, wanted):
                yield _problem(
                    caller.name,
                    f"it says that {name} is {hint.__name__}, and the hook says "
                    f"{wanted.__name__ if wanted is not None else 'nothing'}",
                )


def _contradicts(name: str, hint: object, wanted: type | None) -> bool:
    if not (isinstance(hint, type) and isinstance(wanted, type)):
        return False
    if hint in {Any, type(None), list, tuple, object}:
        return False
    return not issubclass(*((hint, wanted) if name == "return" else (wanted, hint)))


def _registered(
    session: PluginSession, samples: Sequence[Sample], allowed: Sequence[str]
) -> Iterator[Problem]:
    registered = session.host.registered
    for redactor in registered.redactors.values():  # the built-in rules are none
        yield from check_redactor(redactor, samples, allowed=allowed)
    others = Host("claude-code", environ={}, entry_points=(), client=session.server)
    for name, tool in registered.tools.items():
        if name not in others.registered.tools:
            yield from _tool(tool)


def _tool(tool: Any) -> Iterator[Problem]:
    hook = "cognee_register_tools"
    if not tool.name.startswith("cognee_"):
        yield _problem(hook, f"the tool {tool.name!r} does not begin with cognee_")
    if attempt(json.dumps, dict(tool.parameters)).error is not None:
        yield _problem(hook, f"the parameters of {tool.name!r} are no JSON schema")
    elif tool.parameters.get("type") != "object":
        yield _problem(hook, f"the parameters of {tool.name!r} must be of type object")


# -- as it lives ---------------------------------------------------------------------------------


def _living(session: PluginSession) -> Iterator[Problem]:
    session.remember("The billing service uses port 7431.")
    with session, LoopWatch(session.run, _files(session)) as watch:
        for events in (ORDINARY, ODD):
            for event in events:
                session.fire(event)
        session.run(session.host.status_line())
        session.run(examine(session.host, Deadline.after(10.0)))
    for fault in session.host.faults.rows(NAME):
        yield _problem(fault.hook, f"{fault.error_type} ({fault.where or 'unknown place'})")
    for where in watch.blocked:
        yield _problem("", f"it blocks the event loop in {where}; use a plain `def`, or await")
    yield from _slow(session.calls)


def _files(session: PluginSession) -> frozenset[str]:
    """Return the files that the plugin's implementations are written in."""
    manager = session.host.registry.manager
    functions = [
        inspect.unwrap(each.function)
        for caller in manager.get_hookcallers(manager.get_plugin(NAME)) or ()
        for each in caller.get_hookimpls()
        if each.plugin_name == NAME
    ]
    codes = [getattr(each, "__code__", None) for each in functions]
    return frozenset(each.co_filename for each in codes if each is not None)


def _slow(calls: Sequence[HookCall]) -> Iterator[Problem]:
    told: set[str] = set()
    for call in calls:
        policy = policy_of(getattr(hookspecs, call.hook))
        if policy.detached or policy.kind is Kind.REGISTER or call.hook in told:
            continue
        for outcome in call.outcomes:
            if outcome.plugin == NAME and outcome.seconds > max(policy.budget / 2, SLOW):
                told.add(call.hook)
                yield _problem(
                    call.hook,
                    f"it takes {outcome.seconds:.2f} s of the {policy.budget:g} s that all plugins "
                    "share; move the work to context.spawn()",
                )


# -- what it leaves ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a plugin has to leave as it found it."""

    environ: dict[str, str]
    folder: str
    level: int
    handlers: tuple[logging.Handler, ...]
    threads: frozenset[threading.Thread]

    @classmethod
    def now(cls) -> _Surroundings:
        root = logging.getLogger()
        return cls(
            environ=dict(current_environ()),
            folder=str(Path.cwd()),
            level=root.level,
            handlers=tuple(root.handlers),
            threads=frozenset(each for each in threading.enumerate() if not each.daemon),
        )

    def changes(self) -> Iterator[Problem]:
        now = type(self).now()
        for changed, what in (
            (now.environ != self.environ, "the environment of the process"),
            (now.folder != self.folder, "the working directory"),
            ((now.level, now.handlers) != (self.level, self.handlers), "the root logger"),
        ):
            if changed:
                yield _problem("", f"it changes {what}, which belongs to the program")
        if left := now.threads - self.threads:
            names = ", ".join(sorted(each.name for each in left))
            yield _problem("", f"it leaves threads that keep the program from ending: {names}")


def _problem(hook: str, message: str) -> Problem:
    return Problem("plugin", hook, message)
