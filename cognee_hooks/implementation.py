"""One implementation or wrapper of a hook, with all that is needed to call it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cognee_hooks.outcomes import Outcome

if TYPE_CHECKING:
    from cognee_hooks.markers import Policy


@dataclass(frozen=True, slots=True)
class Invocation:
    """One implementation and what it is called with.

    Attributes:
        hook: Name of the hook.
        policy: The hook's policy.
        plugin: Registered name.
        function: The implementation.
        arguments: What it asks for, in its order.
    """

    hook: str
    policy: Policy
    plugin: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """Call it; raises whatever it raises."""
        return self.function(*self.arguments)


@dataclass(slots=True)
class Wrapping:
    """What one wrapper does around a call.

    Attributes:
        call: The wrapper.
        generator: Where it stands at its yield; None before, or where it never got there.
        seconds: Wall time of its own halves; of those inside it nothing is in it.
        fault: As in an `Outcome`.
    """

    call: Invocation
    generator: Generator[None, Any, Any] | None = None
    seconds: float = 0.0
    fault: str = ""

    @property
    def outcome(self) -> Outcome:
        """What the wrapper did so far; it has no result of its own."""
        return Outcome(self.call.plugin, None, self.seconds, self.fault)


@dataclass(frozen=True, slots=True)
class Closed:
    """What a wrapper returned; None as a value is not None as a fault."""

    value: Any


def open_wrapper(wrapper: Invocation) -> Generator[None, Any, Any]:
    """Run a wrapper up to its yield; raises whatever it raises."""
    generator: Generator[None, Any, Any] = wrapper()
    next(generator)
    return generator


def close_wrapper(generator: Generator[None, Any, Any], value: Any) -> Closed:
    """Run a wrapper from its yield to its end.

    Args:
        generator: The wrapper.
        value: What came of those inside it.

    Raises:
        RuntimeError: It yields again.
    """
    try:
        generator.send(value)
    except StopIteration as stop:
        return Closed(stop.value)
    generator.close()
    raise RuntimeError("a wrapper has one yield, this one has a second")
