"""The example's own tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cognee_hooks_quiet_status_line import QuietStatusLine

from cognee_hooks import hookimpl
from cognee_hooks.results import StatusSegment
from cognee_hooks.testing import assert_plugin


class Talkative:
    """Three segments, of which two are shown."""

    @hookimpl
    def cognee_status_segments(self) -> list[StatusSegment]:
        """Return them."""
        return [
            StatusSegment(text="least", priority=-50),
            StatusSegment(text="first", priority=990),
            StatusSegment(text="second", priority=980),
        ]


def test_the_plugin_is_sound(tmp_path: Path) -> None:
    assert_plugin(QuietStatusLine, tmp_path)


def test_it_takes_over_from_the_built_in(cognee_session: Any) -> None:
    session = cognee_session(QuietStatusLine, Talkative())
    assert session.run(session.host.status_line(80)) == "● first second"


@pytest.mark.parametrize(("width", "line"), [(9, "● first s"), (2, "●"), (0, "●")])
def test_it_fits_the_terminal(cognee_session: Any, width: int, line: str) -> None:
    session = cognee_session(QuietStatusLine, Talkative())
    assert session.run(session.host.status_line(width)) == line


def test_colour_is_used_where_it_is_shown(cognee_session: Any) -> None:
    session = cognee_session(QuietStatusLine, Talkative())
    assert "\x1b[32m●" in session.run(session.host.status_line(80, colour=True))
