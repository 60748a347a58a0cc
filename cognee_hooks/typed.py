"""Checks that a value holds what its type says, at the place where it is made.

Plugins make these values. One with a field of a wrong type would fail much later, in code that has
nothing to do with the plugin; made to fail at once, it is a fault of the plugin with its own line.
"""

from __future__ import annotations


def require(owner: object, expected: type | tuple[type, ...], *names: str) -> None:
    """Check fields of a value.

    Args:
        owner: The value, usually from its ``__post_init__``.
        expected: Type or types that the fields may have.
        *names: The fields.

    Raises:
        TypeError: A field holds something else.
    """
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, expected):
            wanted = expected if isinstance(expected, tuple) else (expected,)
            allowed = " or ".join(each.__name__ for each in wanted)
            raise TypeError(
                f"{type(owner).__name__}.{name} must be {allowed}, not {type(value).__name__}"
            )


def require_callable(owner: object, name: str) -> None:
    """Check that a field can be called.

    Raises:
        TypeError: It cannot.
    """
    if not callable(getattr(owner, name)):
        raise TypeError(f"{type(owner).__name__}.{name} must be callable")
