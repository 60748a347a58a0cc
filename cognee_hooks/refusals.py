"""The rules that a plugin must keep, each with the sentence that its author reads.

Pluggy checks less, checks it at different times in different versions, and stops at the first
offender.
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

import pluggy

from cognee_hooks import hookspecs
from cognee_hooks.errors import PluginRefused
from cognee_hooks.markers import POLICY_ATTRIBUTE, PREFIX, Kind, policy_of


def accepted_hooks(name: str, plugin: object, manager: pluggy.PluginManager) -> tuple[str, ...]:
    """Check a plugin against the rules.

    Args:
        name: Registered name.
        plugin: Module or object with hook implementations.
        manager: Knows the marks.

    Returns:
        The hooks that it implements.

    Raises:
        PluginRefused: It breaks a rule; the message says which and what to write instead.
    """
    hooks: list[str] = []
    for attribute in dir(plugin):
        options = _options(plugin, attribute, manager)
        function = inspect.getattr_static(plugin, attribute, None)
        if options is None:
            if attribute.startswith(PREFIX) and _is_routine(function):
                raise PluginRefused(
                    name, f"{attribute} starts with {PREFIX!r} but is not marked with @hookimpl."
                )
            continue
        hook = options.get("specname") or attribute
        _check_implementation(name, hook, getattr(plugin, attribute), options)
        hooks.append(hook)
    if not hooks:
        raise PluginRefused(
            name,
            f"{type(plugin).__name__} has no hook implementations; mark them with "
            "@cognee_hooks.hookimpl, or name the right object in the entry point.",
        )
    return tuple(sorted(hooks))


def _options(plugin: object, attribute: str, manager: pluggy.PluginManager) -> Any:
    # A property or a lazy attribute would run the plugin's code while we only look at it.
    static = inspect.getattr_static(plugin, attribute, None)
    if not _is_routine(static):
        return None
    return manager.parse_hookimpl_opts(plugin, attribute)


def _is_routine(value: object) -> bool:
    return inspect.isroutine(value) or isinstance(value, (staticmethod, classmethod))


def _check_implementation(name: str, hook: str, function: Any, options: Any) -> None:
    spec = getattr(hookspecs, hook, None)
    if spec is None or not hasattr(spec, POLICY_ATTRIBUTE):
        if options.get("optionalhook"):
            return
        raise PluginRefused(name, f"There is no hook {hook!r}{_did_you_mean(hook)}.")
    if options.get("hookwrapper"):
        raise PluginRefused(
            name,
            f"{hook} is an old-style wrapper; write it with wrapper=True and `return (yield)`.",
        )
    if not options.get("wrapper") and (
        inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    ):
        raise PluginRefused(
            name,
            f"{hook} is a generator, so nobody would run its body; return a list, or mark it with "
            "wrapper=True.",
        )
    if options.get("wrapper"):
        _check_wrapper(name, hook, function, policy_of(spec).kind)
    _check_parameters(name, hook, function, list(inspect.signature(spec).parameters))


def _check_wrapper(name: str, hook: str, function: Any, kind: Kind) -> None:
    if kind is Kind.REDACT:
        raise PluginRefused(
            name, f"{hook} cannot be wrapped: nobody may come between a text and its redaction."
        )
    if not inspect.isgeneratorfunction(function):
        raise PluginRefused(
            name, f"The wrapper {hook} must be a plain generator function with one yield."
        )


def _check_parameters(name: str, hook: str, function: Any, known: list[str]) -> None:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise PluginRefused(
                name,
                f"{hook} takes {parameter.name!r} in a special way; arguments are plain names.",
            )
        if parameter.default is not inspect.Parameter.empty:
            raise PluginRefused(
                name,
                f"{hook} gives {parameter.name!r} a default; leave the default out, the host "
                "always passes what you name.",
            )
        if parameter.name not in known:
            offered = ", ".join(known) or "no arguments"
            raise PluginRefused(
                name, f"{hook} asks for {parameter.name!r}, but the hook offers {offered}."
            )


def _did_you_mean(hook: str) -> str:
    known = [each for each, spec in vars(hookspecs).items() if hasattr(spec, POLICY_ATTRIBUTE)]
    close = difflib.get_close_matches(hook, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
