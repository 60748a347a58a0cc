"""Finds the live session that somebody means who calls from outside of it.

What an agent runs is a child of the agent, and some agents name the conversation in its
environment. A person in a terminal beside the agent works in the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from cognee_hooks.errors import UsageError
from cognee_hooks.printable import one_line
from cognee_hooks.results import NESTED
from cognee_hooks.services.names import safe_session_id

if TYPE_CHECKING:
    from cognee_hooks.results import Agent

MOST_NAMED = 8


class SoughtSession(Protocol):
    """What is looked at of a session."""

    @property
    def agent(self) -> Agent:
        """Its agent."""
        ...

    @property
    def session_id(self) -> str:
        """Our id of the conversation, as the agent began it."""
        ...

    @property
    def own_id(self) -> str:
        """Our id of the conversation now: another one after a switch of the dataset."""
        ...

    @property
    def cwd(self) -> str:
        """Its working directory."""
        ...

    @property
    def pid(self) -> int:
        """The agent's process; 0 where it is not known."""
        ...


L = TypeVar("L", bound=SoughtSession)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is known about the session that is meant.

    Attributes:
        agent: Name of its agent, where the caller said it.
        session: Its id, or the beginning of one, where the caller said it.
        environ: The caller's environment.
        cwd: The caller's working directory.
        ancestors: Processes above the caller, nearest first.
    """

    agent: str
    session: str
    environ: Mapping[str, str]
    cwd: str
    ancestors: Sequence[int]


def conversation_of(agent: Agent, environ: Mapping[str, str]) -> str:
    """Return our id of the conversation that an agent names in the environment of what it runs.

    Returns:
        The id; "" where it names none.
    """
    for name in getattr(agent, "session_variables", ()):
        if value := environ.get(name, "").strip():
            return safe_session_id(f"{agent.session_prefix}_{value}")
    return ""


def find(sessions: Iterable[L], wanted: Wanted) -> tuple[L, str] | None:
    """Return the session that is meant, and how it was found.

    Args:
        sessions: Those that live.
        wanted: What is known about it.

    Returns:
        The session, with a few words for people; None where there is none.

    Raises:
        UsageError: The caller named one that does not live, or several may be meant.
    """
    rows = [each for each in sessions if wanted.agent in {"", each.agent.name}]
    if wanted.session:
        return _named(rows, wanted.session), "as named"
    ways: tuple[tuple[str, Callable[[], list[L]]], ...] = (
        ("whose agent runs this command", lambda: _above(rows, wanted)),
        ("named by the agent", lambda: _told(rows, wanted.environ)),
        ("in this folder", lambda: _here(rows, wanted.cwd) if _is_beside(wanted) else []),
    )
    for how, look in ways:
        found = look()
        if len(found) > 1:
            raise UsageError(_several(found))
        if found:
            return found[0], how
    return None


def _is_beside(wanted: Wanted) -> bool:
    """Tell whether the caller may be a person beside an agent, and no agent that works for us."""
    return bool(wanted.cwd) and not wanted.environ.get(NESTED)


def _named(rows: Collection[L], session: str) -> L:
    exact = [each for each in rows if session in {each.session_id, each.own_id}]
    begun = [
        each for each in rows if any(i.startswith(session) for i in (each.session_id, each.own_id))
    ]
    found = exact or begun
    if len(found) > 1:
        raise UsageError(_several(found))
    if not found:
        raise UsageError(
            f"there is no live session {one_line(session)!r}; see `cognee-hooks sessions`"
        )
    return found[0]


def _above(rows: Collection[L], wanted: Wanted) -> list[L]:
    """Return the sessions of the nearest agent above the caller, as few as can be told apart."""
    for pid in wanted.ancestors:
        found = [each for each in rows if pid > 1 and each.pid == pid]
        if len(found) > 1:
            # One process of an agent may serve many conversations.
            found = _told(found, wanted.environ) or _here(found, wanted.cwd) or found
        if found:
            return found
    return []


def _told(rows: Collection[L], environ: Mapping[str, str]) -> list[L]:
    return [each for each in rows if each.session_id == conversation_of(each.agent, environ)]


def _here(rows: Collection[L], cwd: str) -> list[L]:
    return [each for each in rows if each.cwd == cwd]


def _several(found: Sequence[SoughtSession]) -> str:
    named = ", ".join(f"{each.own_id} in {one_line(each.cwd)}" for each in found[:MOST_NAMED])
    return f"several live sessions may be meant: {named}. Name one with --session"
