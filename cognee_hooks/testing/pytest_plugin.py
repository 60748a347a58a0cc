"""Fixtures for tests of plugins; pytest finds them wherever cognee-hooks is installed.

Nothing is imported or changed before a test asks for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cognee_hooks.testing.clock import FakeClock
    from cognee_hooks.testing.session import PluginSession

MARK = "cognee_expects_faults"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    text = f"{MARK}: plugin faults in a session of this test are wanted, and do not fail it"
    config.addinivalue_line("markers", text)


@pytest.fixture
def cognee_clock() -> FakeClock:
    """Return a clock that the test moves: ``cognee_session(..., clock=cognee_clock)``."""
    from cognee_hooks.testing.clock import FakeClock

    return FakeClock()


@pytest.fixture
def cognee_session(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., PluginSession]]:
    """Give a function that begins a session with plugins; it ends with the test.

    Plugins are passed by position, as an entry point would name them; keywords go to
    `cognee_hooks.testing.PluginSession`. A fault that the host forgave fails the test, unless it is
    marked with ``cognee_expects_faults``.
    """
    from cognee_hooks.testing.session import PluginSession

    made: list[PluginSession] = []
    with ExitStack() as opened:

        def begin(*plugins: object, **options: Any) -> PluginSession:
            home = tmp_path / f"home-{len(made)}"
            home.mkdir()
            named = {f"plugin-{number}": each for number, each in enumerate(plugins)}
            session = PluginSession(home, named, **options)
            made.append(session)
            return opened.enter_context(session)

        yield begin
    faults = [fault for session in made for fault in session.faults]
    if faults and request.node.get_closest_marker(MARK) is None:
        lines = [f"{each.plugin} in {each.hook}: {each.error_type} {each.where}" for each in faults]
        pytest.fail("plugin faults were forgiven: " + "; ".join(lines), pytrace=False)
