"""Finds, loads, blocks, requires and lists plugins.

Every candidate is loaded in its own guard: one that cannot be used is recorded with a sentence, and
the others go on. Pluggy's own loader is not used because the first failure would end it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from cognee_hooks import API_VERSION, deprecated, hookspecs
from cognee_hooks._defaults import BUILT_IN_MARKER, BUILT_IN_PACKAGE, BUILT_INS, ESSENTIAL
from cognee_hooks.errors import PluginError, PluginRefused
from cognee_hooks.guard import Attempt, Worker, attempt
from cognee_hooks.markers import POLICY_ATTRIBUTE, PROJECT, Policy, policy_of
from cognee_hooks.refusals import accepted_hooks

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from cognee_hooks.context import PluginContext
    from cognee_hooks.settings import PluginSelection

ENTRY_POINT_GROUP = "cognee_hooks"
LOAD_TIMEOUT = 3.0
"""Seconds that importing and making one installed plugin may take before it is left out."""
AGAIN_TIMEOUT = 0.2
"""The same for one that took longer before in this process, and may have come meanwhile."""

_LONGEST_REASON = 500

ContextFactory = Callable[[str], "PluginContext"]


class PluginState(StrEnum):
    """Where a plugin stands."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRecord:
    """What is known of one plugin.

    Attributes:
        name: Registered name.
        distribution: Package that it comes from; "" for one that was handed over as an object.
        version: Version of that package, or "".
        state: Where it stands.
        reason: Why it is not active; a sentence.
        hooks: Hooks that it implements.
        deprecations: What it uses that will go away; sentences for its author.
        load_seconds: Time to import and make it.
        built_in: It comes with cognee-hooks.
    """

    name: str
    distribution: str = ""
    version: str = ""
    state: PluginState = PluginState.ACTIVE
    reason: str = ""
    hooks: tuple[str, ...] = ()
    deprecations: tuple[str, ...] = ()
    load_seconds: float = 0.0
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class _Candidate:
    record: PluginRecord
    load: Callable[[], Any] = field(compare=False)


class Registry:
    """The plugins of one host.

    Args:
        selection: What the configuration says about plugins.
        strict: Raise what makes a plugin unusable instead of recording it; for plugin authors.
        entry_points: Replaces the scan of installed packages, for tests.
        load_timeout: Seconds for one installed plugin.
        slow: Names of plugins that took longer in this process; they are added, too. Those get
            `AGAIN_TIMEOUT`, so that one which never comes does not hold up every session, and one
            which has come in the meantime is taken.
    """

    def __init__(
        self,
        selection: PluginSelection,
        *,
        strict: bool = False,
        entry_points: Iterable[EntryPoint] | None = None,
        load_timeout: float = LOAD_TIMEOUT,
        slow: set[str] | None = None,
    ) -> None:
        self._selection = selection
        self._strict = strict
        self._entry_points = entry_points
        self._load_timeout = load_timeout
        self._slow = set() if slow is None else slow
        self._records: dict[str, PluginRecord] = {}
        self._plugins: dict[str, object] = {}
        self._problems: list[str] = []
        self.policies: Mapping[str, Policy] = declared_policies()
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(hookspecs)

    @property
    def records(self) -> list[PluginRecord]:
        """All plugins that were found, in the order in which they were looked at."""
        return list(self._records.values())

    @property
    def problems(self) -> list[str]:
        """Sentences about the selection itself: unknown names, unmet requirements."""
        return list(self._problems)

    def is_built_in(self, name: str) -> bool:
        """Whether the active plugin of that name comes with cognee-hooks."""
        record = self._records.get(name)
        return record is not None and record.built_in

    def is_active(self, name: str) -> bool:
        """Whether a plugin of that name is loaded and not refused."""
        record = self._records.get(name)
        return record is not None and record.state is PluginState.ACTIVE

    # -- loading ---------------------------------------------------------------------------------

    def load(self, make_context: ContextFactory, extra: Iterable[tuple[str, object]] = ()) -> None:
        """Load built-ins, installed plugins and those handed over, in this order.

        The order decides the order of calls, last loaded first called, so that an installed plugin
        comes before the built-in that it wants to take over from.

        Args:
            make_context: Makes the context for a plugin's factory.
            extra: Names and objects of plugins without a package.

        Raises:
            PluginError: In strict mode, what makes the first unusable plugin unusable.
        """
        for candidate in self._candidates(extra):
            self._consider(candidate, make_context)
        self._check_selection()

    def refuse(self, name: str, reason: str) -> None:
        """Remove a plugin that is already registered and record why.

        Raises:
            PluginError: In strict mode.
        """
        plugin = self._plugins.pop(name, None)
        if plugin is not None:
            self.manager.unregister(plugin)
        self._fail(self._records[name], reason)

    def _candidates(self, extra: Iterable[tuple[str, object]]) -> Iterable[_Candidate]:
        for name, target in BUILT_INS.items():
            record = PluginRecord(name=name, distribution="cognee-hooks", built_in=True)
            yield _Candidate(record, partial(_load_built_in, target))
        for entry_point in self._installed():
            yield _Candidate(_record_of(entry_point), entry_point.load)
        for name, plugin in extra:
            yield _Candidate(PluginRecord(name=name), partial(_same, plugin))

    def _installed(self) -> list[EntryPoint]:
        found = self._entry_points
        if found is None:
            from importlib.metadata import entry_points

            scan = attempt(lambda: list(entry_points(group=ENTRY_POINT_GROUP)))
            if scan.error is not None:
                self._problems.append(
                    "Installed plugins were not looked for, because the metadata of an installed "
                    f"package is damaged ({type(scan.error).__name__}). Run `pip check`."
                )
                return []
            found = scan.result
        return sorted(found, key=lambda each: (each.name, each.value))

    def _consider(self, candidate: _Candidate, make_context: ContextFactory) -> None:
        record = candidate.record
        if record.name in self._records:
            first = self._records[record.name]
            clone = replace(record, name=f"{record.name} ({record.distribution or 'object'})")
            owner = first.distribution or "the embedding program"
            self._fail(clone, f"The name {record.name!r} is already taken by {owner}.")
            return
        if reason := self._blocked_because(record):
            self._records[record.name] = replace(record, state=PluginState.BLOCKED, reason=reason)
            return
        self._load_one(candidate, make_context)

    def _load_one(self, candidate: _Candidate, make_context: ContextFactory) -> None:
        record = candidate.record
        started = time.monotonic()

        def make() -> tuple[object, tuple[str, ...]]:
            plugin = _made(record.name, candidate.load(), make_context)
            return plugin, accepted_hooks(record.name, plugin, self.manager)

        done = attempt(make) if record.built_in else self._aside(record.name, make)
        if done is None:
            self._slow.add(record.name)
            self._fail(record, f"Importing it took more than {self._load_timeout:g} s.")
            return
        record = replace(record, load_seconds=time.monotonic() - started)
        if record.built_in and isinstance(done.error, KeyboardInterrupt):
            raise done.error
        if done.error is not None:
            self._fail(record, _sentence(done.error))
            return
        plugin, hooks = done.result
        self._register(replace(record, hooks=hooks), plugin)

    def _aside(self, name: str, make: Callable[[], Any]) -> Attempt | None:
        """Run foreign code on a thread; None where it does not come back in time."""
        worker = Worker(f"load {name}")
        seconds = min(AGAIN_TIMEOUT, self._load_timeout)
        try:
            return worker.submit(make).result(seconds if name in self._slow else self._load_timeout)
        except TimeoutError:
            return None
        finally:
            worker.stop()

    def _register(self, record: PluginRecord, plugin: object) -> None:
        done = attempt(self.manager.register, plugin, record.name)
        if done.error is not None:
            # Older pluggy leaves a plugin half registered when it refuses it.
            if self.manager.has_plugin(record.name):
                self.manager.unregister(name=record.name)
            self._fail(record, _sentence(done.error))
            return
        said = deprecated.warn_of(plugin, self.manager, self.policies)
        self._plugins[record.name] = plugin
        self._records[record.name] = replace(record, deprecations=said)

    def _fail(self, record: PluginRecord, reason: str) -> None:
        self._records[record.name] = replace(record, state=PluginState.FAILED, reason=reason)
        if self._strict:
            raise PluginError(record.name, f"plugin {record.name}: {reason}")

    # -- selection -------------------------------------------------------------------------------

    def _blocked_because(self, record: PluginRecord) -> str:
        chosen = self._selection
        if record.name in chosen.block:
            source = chosen.block_sources.get(record.name, "configuration")
            return f"Blocked by {source}."
        if chosen.only is not None and record.name not in chosen.only:
            return "Not on the list of plugins that may be loaded (`only`)."
        required = {_required_name(each) for each in chosen.require}
        installed = not record.built_in and record.distribution
        if installed and not chosen.autoload and record.name not in required:
            return "Automatic loading of installed plugins is off (`autoload`)."
        return ""

    def _check_selection(self) -> None:
        chosen = self._selection
        for name in sorted(chosen.block & ESSENTIAL.keys()):
            self._problems.append(
                f"{name} cannot be blocked: {ESSENTIAL[name]}. The setting is ignored."
            )
        for name in sorted((chosen.block | (chosen.only or frozenset())) - ESSENTIAL.keys()):
            if name not in self._records:
                self._problems.append(f"No plugin is called {name!r}; see `cognee-hooks plugins`.")
        for requirement in chosen.require:
            if problem := self._unmet(requirement):
                self._problems.append(problem)
                if self._strict:
                    raise PluginError(_required_name(requirement), problem)

    def _unmet(self, requirement: str) -> str:
        name, _, minimum = requirement.partition(">=")
        record = self._records.get(name.strip())
        if record is None:
            return f"The required plugin {name.strip()!r} is not installed."
        if record.state is not PluginState.ACTIVE:
            return f"The required plugin {record.name!r} is {record.state.value}. {record.reason}"
        if minimum and _release(record.version) < _release(minimum):
            return (
                f"The required plugin {record.name!r} has version {record.version or 'unknown'}, "
                f"at least {minimum.strip()} is asked for."
            )
        return ""


def declared_policies() -> dict[str, Policy]:
    """Return the policy of every hook, in the order of the specs."""
    return {
        name: policy_of(function)
        for name, function in vars(hookspecs).items()
        if hasattr(function, POLICY_ATTRIBUTE)
    }


def _load_built_in(target: str) -> Any:
    package = import_module(BUILT_IN_PACKAGE)
    if not getattr(package, BUILT_IN_MARKER, False):
        raise PluginRefused(
            target,
            f"The package {BUILT_IN_PACKAGE!r} that is installed here belongs to another project, "
            "so built-in plugins stay off. Install cognee-hooks into an environment of its own.",
        )
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _made(name: str, loaded: Any, make_context: ContextFactory) -> object:
    """Turn what an entry point names into a plugin: a module, an object, a factory's product.

    What names another version is not called; what its factory makes may name one, too.
    """
    _check_version(name, loaded)
    if isinstance(loaded, ModuleType) or not callable(loaded):
        return loaded
    made = loaded(make_context(name)) if inspect.signature(loaded).parameters else loaded()
    _check_version(name, made)
    return made


def _check_version(name: str, plugin: object) -> None:
    asked = getattr(plugin, "cognee_hooks_api", API_VERSION)
    if asked != API_VERSION:
        raise PluginRefused(
            name,
            f"It was written for version {asked} of the hook API, this is version {API_VERSION}. "
            "Install a matching version of the plugin.",
        )


def _same(plugin: object) -> object:
    return plugin


def _record_of(entry_point: EntryPoint) -> PluginRecord:
    distribution = entry_point.dist
    known = attempt(lambda: (distribution.name, distribution.version) if distribution else ("", ""))
    name, version = known.result or ("", "")
    return PluginRecord(
        name=entry_point.name, distribution=name or entry_point.value, version=version or ""
    )


def _sentence(error: BaseException) -> str:
    """Say why loading failed; an import error's text names a module and is safe to show."""
    text = " ".join((attempt(str, error).result or "").split())[:_LONGEST_REASON]
    if isinstance(error, (PluginError, pluggy.PluginValidationError)):
        return text
    if isinstance(error, (ImportError, SyntaxError, AttributeError)):
        kind = type(error).__name__
        return (
            f"It cannot be imported: {kind}: {text}" if text else f"It cannot be imported: {kind}."
        )
    return f"It raised {type(error).__name__} while it was loaded."


def _required_name(requirement: str) -> str:
    return requirement.partition(">=")[0].strip()


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; what follows and zeros at the end do not count."""
    numbers: list[int] = []
    for part in version.strip().split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
