from __future__ import annotations

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.host import Host
from cognee_hooks.host_parts.status import MAX_CHARACTERS
from cognee_hooks.results import StatusSegment
from tests.support.plugins import plugin

LEAST = "cognee: local · agent_sessions"


def host(home, *plugins: object, blocked: str = "statusline,recall") -> Host:
    return Host(
        "claude-code",
        environ={"HOME": str(home), "COGNEE_HOOKS_DISABLE": blocked},
        plugins={f"p{number}": each for number, each in enumerate(plugins)},
        entry_points=(),
    )


def segments_of(*given: object) -> object:
    async def cognee_status_segments():
        return list(given)

    return plugin(cognee_status_segments=cognee_status_segments)


async def cognee_render_status(segments, max_width, colour):
    return f"{[(each.text, *each.shorter) for each in segments]} {max_width} {colour}"


SHOWING = plugin(cognee_render_status=cognee_render_status)


def renders(line):
    async def render():
        return line

    return plugin(cognee_render_status=hookimpl(render))


async def test_a_renderer_gets_segments_width_and_whether_there_are_colours(isolated_environment):
    made = host(isolated_environment, SHOWING, segments_of(StatusSegment(text="a", shorter=("b",))))
    assert await made.status_line(50, colour=True) == "[('a', 'b')] 50 True"
    assert await made.status_line() == "[('a', 'b')] 120 False"


async def test_what_plugins_contribute_is_made_safe_before_it_is_measured(isolated_environment):
    made = host(
        isolated_environment,
        SHOWING,
        segments_of(
            StatusSegment(text="\x1b[31ma\n b\x07", priority=2, shorter=("\x1b[2Jc",)),
            StatusSegment(text="\x1b[0m", priority=1),
            StatusSegment(text="x" * 10_000),
        ),
    )
    assert await made.status_line() == f"[('a b', 'c'), ('{'x' * MAX_CHARACTERS}',)] 120 False"


@pytest.mark.parametrize("colour", [True, False])
async def test_of_a_renderers_control_characters_only_colours_stay(isolated_environment, colour):
    made = host(isolated_environment, renders("\x1b[2J\x1b[32m●\x1b[0m ok\n\x07now"))
    expected = "\x1b[32m●\x1b[0m ok now\x1b[0m" if colour else "● ok now"
    assert await made.status_line(colour=colour) == expected


class Hostile(StatusSegment):
    """A segment that fails whoever looks at it."""

    def __getattribute__(self, name: str) -> object:
        if name == "text":
            raise RuntimeError("not telling")
        return super().__getattribute__(name)


async def test_a_segment_that_cannot_be_looked_at_is_passed_over(isolated_environment):
    bad = object.__new__(Hostile)
    made = host(isolated_environment, SHOWING, segments_of(bad, StatusSegment(text="good")))
    assert await made.status_line() == "[('good',)] 120 False"


async def _fails():
    raise ValueError("broken")


@pytest.mark.expects_faults
async def test_a_renderer_that_fails_leaves_what_the_line_is_about(isolated_environment):
    made = host(isolated_environment, plugin(cognee_render_status=hookimpl(_fails)))
    for _ in range(7):  # also after it is called no longer
        assert await made.status_line() == LEAST


@pytest.mark.expects_faults
async def test_where_one_renderer_fails_the_next_is_asked(isolated_environment):
    made = host(
        isolated_environment, renders("next"), plugin(cognee_render_status=hookimpl(_fails))
    )
    assert await made.status_line() == "next"


async def test_a_renderer_may_want_no_line(isolated_environment):
    assert await host(isolated_environment, renders("")).status_line() == ""


async def test_without_a_renderer_there_is_no_line(isolated_environment):
    assert await host(isolated_environment).status_line() == ""


@pytest.mark.parametrize("shorter", ["text", ["a"], None, ("a", 3)])
def test_shorter_forms_are_texts(shorter):
    with pytest.raises(TypeError, match="shorter must"):
        StatusSegment(text="a", shorter=shorter)
