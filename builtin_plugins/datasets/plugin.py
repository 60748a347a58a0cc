"""Hook implementations of datasets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cognee_hooks import PluginContext, federation, hookimpl
from cognee_hooks.errors import RedactionFailed, ServerFailure, UsageError
from cognee_hooks.printable import brief
from cognee_hooks.results import CheckResult, Command, StatusRow
from cognee_hooks.services.statefile import finite

if TYPE_CHECKING:
    from builtin_plugins.datasets.switch import Switching
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.events import DatasetChanged


class DatasetsPlugin:
    """Lets people list datasets and switch; see `builtin_plugins.datasets.switch`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._made: Switching | None = None

    @hookimpl
    def cognee_session_start(self) -> None:
        """Say that the datasets which were named to be read are not."""
        if problem := self._context.core_problem(federation.OPTION):
            self._context.say(
                f"Cognee federation disabled: {problem} Graph reads stay on "
                f"{self._context.session.dataset}."
            )

    @hookimpl
    def cognee_dataset_changed(self, event: DatasetChanged) -> None:
        """Note down where the conversation came from."""
        switch = {"from": event.previous, "to": event.current, "at": self._context.now()}
        try:
            self._context.state.write(switch)
        except OSError as error:
            self._context.log.warning("switch not noted: %s", type(error).__name__)

    @hookimpl
    def cognee_status_rows(self) -> StatusRow | None:
        """Tell where the conversation came from, if somebody switched."""
        switch = self._context.state.read()
        if switch.get("to") != self._context.session.dataset:
            return None
        came_from, at = brief(str(switch.get("from"))), _moment(switch.get("at"))
        text = f"from {came_from} at {at}"
        return StatusRow(label="Switched", text=text)

    @hookimpl
    def cognee_register_commands(self) -> Command:
        """Let people list datasets and switch."""
        return Command(
            name="datasets",
            help="List datasets, or switch to another one: [<name or id>] [--force] [--create]",
            run=self._run,
        )

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> list[CheckResult]:
        """Tell which dataset is in use, which are read instead, and which there are."""
        from builtin_plugins.datasets.checks import rows

        return await rows(self._context, deadline)

    # -- inside ----------------------------------------------------------------------------------

    async def _run(self, text: str) -> str:
        """Return the answer; what goes wrong is one, too."""
        from builtin_plugins.datasets.switch import Switching, listing_failed

        self._made = self._made or Switching(self._context)
        try:
            return await self._made.command(text)
        except UsageError as error:
            return f"⚠ {error}"
        except RedactionFailed:
            return (
                "⚠ The dataset's name could not be made safe to leave this machine, so none was "
                "made; see `cognee-hooks doctor`."
            )
        except ServerFailure as failure:
            self._context.services.health.note(failure)
            return listing_failed(failure)


def _moment(value: object) -> str:
    """Return a moment in the person's own time; ``?`` for one that no calendar has."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(finite(value)))
    except (OverflowError, ValueError, OSError):
        return "?"
