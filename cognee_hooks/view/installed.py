"""Which plugins there are, active or not, as the configuration has it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks.agents import DEFAULT_AGENT, max_context_bytes_of
from cognee_hooks.host import Host
from cognee_hooks.registry import PluginRecord
from cognee_hooks.services.paths import Paths
from cognee_hooks.view.filefacts import FileFacts, facts_of


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at the plugins found.

    Attributes:
        records: The plugins.
        problems: What is wrong with plugins and configuration, in sentences.
    """

    records: Sequence[PluginRecord] = ()
    problems: Sequence[str] = ()


class InstalledPlugins:
    """Looks at the plugins again when the person's configuration was written.

    Args:
        environ: The environment.
        cwd: The folder, which may have a configuration of its own.
    """

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self._environ = environ
        self._cwd = cwd
        paths = Paths.of(environ, DEFAULT_AGENT)
        self._written = (paths.config_file, paths.env_file)
        self._facts: list[FileFacts | None] = []
        self._found = Found()

    def look(self) -> Found:
        """Return what there is."""
        facts = [facts_of(each) for each in self._written]
        if facts != self._facts:
            # Plugins make their settings and nothing else: the host serves nobody.
            host = Host(
                DEFAULT_AGENT,
                environ=self._environ,
                cwd=str(self._cwd),
                max_context_bytes=max_context_bytes_of(DEFAULT_AGENT),
            )
            host.dispatcher.close()
            wrong = [f"{each.source}: {each.message}" for each in host.settings.problems]
            self._found = Found(host.registry.records, [*wrong, *host.registry.problems])
            self._facts = facts
        return self._found
