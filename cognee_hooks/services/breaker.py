"""Pauses recall when the server keeps failing, and lets one trial through after a while.

The state is shared by all processes of one agent in a JSON file keyed by server URL:
``{"<url>": {"open_until": <ms>, "consecutive_failures": <n>, "updated_at": "<ISO>", "trial_until":
<ms>, "failed_at": [<ms>, …]}}``. Other keys belong to others and are kept. Agents that start a
process for each event fail in a new one each time, so failures of all processes count together.
"""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeGuard

from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.statefile import finite, read_object, update_json

BreakerState = Literal["closed", "open", "half-open"]

READ_INTERVAL = 5.0
"""Seconds for which an answer of the file is believed, while we ourselves are closed."""
TRIAL_SECONDS = 15.0
"""A trial whose outcome nobody reported counts as abandoned after so long."""
_LOCK_SECONDS = 0.1
_COUNT = "consecutive_failures"
_FAILED_AT = "failed_at"
_ANSWERED = frozenset({FailureKind.NO_MEMORY})

_LOG = logging.getLogger("cognee_hooks.breaker")


class CircuitBreaker:
    """Guards recall.

    Only recalls report here. A healthy server can have a dead model behind it, so a health probe
    says nothing about recall, and only a recall that worked closes the breaker.

    Times within this process are measured on the monotonic clock, so setting the wall clock neither
    opens nor prolongs a pause; a time in the file that lies further ahead than the cooldown can
    only come from a clock that was wrong, and is ignored.

    Args:
        url: The server, without a trailing slash.
        path: The shared file, or None to share nothing.
        threshold: Failures within the window that open it.
        window: Seconds.
        cooldown: Seconds that it stays open.
        clock: Monotonic seconds.
        now: Epoch seconds.
    """

    def __init__(
        self,
        url: str,
        path: Path | None,
        *,
        threshold: int = 5,
        window: float = 300.0,
        cooldown: float = 120.0,
        clock: Clock = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._url = url
        self._path = path
        self._threshold = max(threshold, 1)
        self._window = window
        self._cooldown = cooldown
        self._clock = clock
        self._now = now
        self._failures: deque[float] = deque()
        self._open_until: float | None = None  # on the monotonic clock; past means half-open
        self._trial_until: float | None = None
        self._read_at: float | None = None
        self._published = False

    @property
    def state(self) -> BreakerState:
        """What it would do with a recall now; looking does not use up the trial."""
        self._look()
        if self._open_until is None:
            return "closed"
        return "open" if self._clock() < self._open_until else "half-open"

    def allow(self) -> bool:
        """Tell whether a recall may run. Half-open, the first to ask gets the trial.

        Whoever is told True reports `success` or `failure` afterwards.
        """
        state = self.state
        if state == "half-open":
            return self._begin_trial()
        return state == "closed"

    def success(self) -> None:
        """A recall worked: close, here and in the file."""
        was_open = self._open_until is not None
        self._failures.clear()
        self._open_until = self._trial_until = None
        if was_open or any(self._shared_numbers().values()):
            self._share(lambda _: {"open_until": 0, _COUNT: 0, "trial_until": 0, _FAILED_AT: []})

    def failure(self, kind: FailureKind) -> None:
        """A recall failed.

        Args:
            kind: What went wrong. Outages count, time-outs among them: with a dead model endpoint
                the server is healthy and recall never answers. What the server refused does not
                count, and an empty memory is a recall that worked.
        """
        if kind in _ANSWERED:
            self.success()
            return
        if not ServerFailure(kind).outage:
            self._end_trial()
            return
        now = self._clock()
        self._adopt_failures(now)
        self._failures.append(now)
        while now - self._failures[0] > self._window:
            self._failures.popleft()
        if self._open_until is not None or len(self._failures) >= self._threshold:
            self._open(now)
        else:
            count = len(self._failures)
            self._share(
                lambda old: {_COUNT: max(count, round(old[_COUNT])), _FAILED_AT: self._moments(now)}
            )

    def describe(self) -> str:
        """Say in a few words how things stand."""
        state = self.state
        if state == "half-open":
            return "half-open (the next recall is a trial)"
        if state == "open":
            left = (self._open_until or 0.0) - self._clock()
            until = dt.datetime.fromtimestamp(self._now() + left).astimezone()
            return f"open until {until:%H:%M:%S} (recall paused)"
        count = len(self._failures)
        return f"{count} consecutive failure(s) on record" if count else "closed"

    # -- inside ------------------------------------------------------------------------------------

    def _adopt_failures(self, now: float) -> None:
        """Count what other processes noted down, as far as their times can be believed."""
        if self._path is None:
            return
        entry = read_object(self._path).get(self._url)
        noted = entry.get(_FAILED_AT) if isinstance(entry, Mapping) else None
        ahead = now - self._now()
        moments = [finite(each) / 1000 + ahead for each in noted] if _is_list(noted) else []
        known = {round(each, 2) for each in self._failures}
        for moment in moments[-self._threshold :]:
            if now - self._window <= moment <= now and round(moment, 2) not in known:
                self._failures.append(moment)
        self._failures = deque(sorted(self._failures))

    def _moments(self, now: float) -> list[int]:
        """Return our failures as epoch milliseconds."""
        return [self._milliseconds(each - now) for each in self._failures]

    def _open(self, now: float) -> None:
        self._open_until = now + self._cooldown
        self._trial_until = None
        self._failures.clear()
        until = self._milliseconds(self._cooldown)
        self._share(
            lambda old: {
                "open_until": max(until, self._believable(old)),
                _COUNT: 0,
                "trial_until": 0,
                _FAILED_AT: [],
            }
        )

    def _look(self) -> None:
        """Adopt the pause of another process, unless we know of one or looked a moment ago."""
        now = self._clock()
        if self._open_until is not None and now < self._open_until:
            return
        if self._read_at is not None and now - self._read_at < READ_INTERVAL:
            return
        self._read_at = now
        shared = self._shared_numbers()
        until = self._believable(shared)
        if until:
            self._open_until = now + until / 1000 - self._now()
        elif self._open_until is not None and self._published and not shared["open_until"]:
            # We wrote that it is open, so somebody else's trial went well.
            self._open_until = self._trial_until = None

    def _begin_trial(self) -> bool:
        now = self._clock()
        if self._trial_until is not None and now < self._trial_until:
            return False
        granted = True

        def claim(old: Mapping[str, float]) -> dict[str, Any] | None:
            nonlocal granted
            ahead = old["trial_until"] / 1000 - self._now()
            if 0 < ahead <= TRIAL_SECONDS:
                granted = False
                return None
            return {"trial_until": self._milliseconds(TRIAL_SECONDS)}

        if not self._share(claim):
            granted = False  # another process is at the file this very moment
        if granted:
            self._trial_until = now + TRIAL_SECONDS
        return granted

    def _end_trial(self) -> None:
        """Let the next one try: the server answered, and recall is still unproven."""
        if self._trial_until is not None:
            self._trial_until = None
            self._share(lambda _: {"trial_until": 0})

    def _milliseconds(self, ahead: float) -> int:
        return round((self._now() + ahead) * 1000)

    def _believable(self, shared: Mapping[str, float]) -> int:
        until = shared["open_until"]
        latest = self._milliseconds(self._cooldown)
        return round(until) if 0 < until <= latest else 0

    def _shared_numbers(self) -> dict[str, float]:
        return _numbers({} if self._path is None else read_object(self._path), self._url)

    def _share(self, change: Callable[[Mapping[str, float]], dict[str, Any] | None]) -> bool:
        """Change our entry in the file; where that cannot be done the breaker works alone.

        Returns:
            False where another process held the file all the time.
        """
        if self._path is None:
            return True

        def rewrite(document: dict[str, Any]) -> dict[str, Any] | None:
            old = _numbers(document, self._url)
            fresh = change(old)
            if fresh is None:
                return None
            before = document.get(self._url)
            kept = before.get(_FAILED_AT) if isinstance(before, Mapping) else None
            entry: dict[str, Any] = {name: round(value) for name, value in old.items()}
            entry = entry | ({_FAILED_AT: kept} if _is_list(kept) else {}) | fresh
            for name in ("trial_until", _FAILED_AT):
                if not entry.get(name):
                    entry.pop(name, None)  # other readers of this file know two numbers
            stamp = dt.datetime.fromtimestamp(self._now(), dt.UTC).isoformat()
            return document | {self._url: entry | {"updated_at": stamp}}

        self._published = False
        try:
            update_json(self._path, rewrite, deadline=Deadline.after(_LOCK_SECONDS), durable=False)
        except (OSError, ValueError) as error:
            _LOG.debug("breaker file not written: %s", type(error).__name__)
            return not isinstance(error, TimeoutError)
        self._published = True
        return True


def _numbers(document: Mapping[str, Any], url: str) -> dict[str, float]:
    entry = document.get(url)
    fields = entry if isinstance(entry, Mapping) else {}
    return {name: finite(fields.get(name)) for name in ("open_until", _COUNT, "trial_until")}


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
