"""Hook implementations of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.errors import ServerFailure, UsageError
from cognee_hooks.results import CheckResult, CheckStatus, Command

if TYPE_CHECKING:
    from builtin_plugins.datasets.switch import Switching


class DatasetsPlugin:
    """Lets people list datasets and switch; see `builtin_plugins.datasets.switch`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._made: Switching | None = None

    @hookimpl
    def cognee_register_commands(self) -> Command:
        """Let people list datasets and switch."""
        return Command(
            name="datasets",
            help="List datasets, or switch to another one: [<name or id>] [--force] [--create]",
            run=self._run,
        )

    @hookimpl
    def cognee_doctor_checks(self) -> list[CheckResult]:
        """Tell which dataset is in use, and which are read instead."""
        context = self._context
        session, read = context.session, context.core.read_dataset_ids
        switched = context.services.bindings.default() == session.dataset
        where = (
            f"switched to; kept in {context.services.paths.active_dataset_file}"
            if switched
            else "as configured"
        )
        federation = (
            f"{len(read)} read dataset(s) via COGNEE_PLUGIN_READ_DATASET_IDS; graph reads only, "
            f"writes stay on {session.dataset}"
            if read
            else "off (set COGNEE_PLUGIN_READ_DATASET_IDS to federate graph recall)"
        )
        return [
            CheckResult(
                name="dataset", status=CheckStatus.OK, detail=f"{session.dataset} — {where}"
            ),
            CheckResult(name="federation", status=CheckStatus.INFO, detail=federation),
        ]

    # -- inside ----------------------------------------------------------------------------------

    async def _run(self, text: str) -> str:
        """Return the answer; what goes wrong is one, too."""
        from builtin_plugins.datasets.switch import Switching, failed

        self._made = self._made or Switching(self._context)
        try:
            return await self._made.command(text)
        except UsageError as error:
            return f"⚠ {error}"
        except ServerFailure as failure:
            self._context.services.health.note(failure)
            return failed(failure)
