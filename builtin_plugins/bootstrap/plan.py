"""What a worker is told, and where its files lie."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from builtin_plugins.bootstrap.address import port_of
from builtin_plugins.bootstrap.settings import BootstrapSettings, ServerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """Everything that a worker has to know besides its environment, which is the server's.

    It holds no secret: a command line can be seen by everybody on the machine.

    Attributes:
        url: Address of the server.
        kind: Which server.
        shared: Folder that all cognee plugins share.
        python: Python for cognee's environment, a version or a path.
        install_seconds: Limit of one step of installing.
        boot_seconds: Limit until a started server is healthy.
        pause: Seconds before looking again where no server seems to be there.
        log_max_bytes: Size at which the log is put aside; 0 for never.
    """

    url: str
    kind: ServerKind
    shared: Path
    python: str
    install_seconds: float
    boot_seconds: float
    pause: float
    log_max_bytes: int

    @classmethod
    def of(cls, url: str, shared: Path, settings: BootstrapSettings) -> Self:
        """Make a plan from the options."""
        return cls(
            url=url,
            kind=settings.server,
            shared=shared,
            python=settings.python,
            install_seconds=settings.install_timeout,
            boot_seconds=settings.boot_deadline,
            pause=settings.reprobe_delay,
            log_max_bytes=settings.log_max_bytes,
        )

    def to_argument(self) -> str:
        """Return the plan as one argument of a command line."""
        return json.dumps({**asdict(self), "shared": str(self.shared)})

    @classmethod
    def from_argument(cls, text: str) -> Self:
        """Read what `to_argument` wrote."""
        fields = json.loads(text)
        kind, shared = ServerKind(fields.pop("kind")), Path(fields.pop("shared"))
        return cls(kind=kind, shared=shared, **fields)

    @property
    def port(self) -> int:
        """Port of the server."""
        return port_of(self.url)

    @property
    def places(self) -> Places:
        """Where the files lie."""
        return Places(self.shared, self.port)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the files lie. Those directly in ``shared`` belong to all cognee plugins.

    Attributes:
        shared: Folder that all cognee plugins share.
        port: Port of the server.
    """

    shared: Path
    port: int

    @property
    def venv(self) -> Path:
        """Environment that cognee is installed into."""
        return self.shared / "venv"

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return self.venv / "bin" / "python"

    @property
    def ready_marker(self) -> Path:
        """Says which cognee is installed there."""
        return self.shared / "venv-ready.json"

    @property
    def install_lock(self) -> Path:
        """Held by whoever installs."""
        return self.shared / "venv-install.lock"

    @property
    def boot_lock(self) -> Path:
        """Held by whoever starts a server."""
        return self.shared / "server-bootstrap.lock"

    @property
    def own(self) -> Path:
        """Our folder."""
        return self.shared / "hooks" / "bootstrap"

    @property
    def state(self) -> Path:
        """How far the server of this port is."""
        return self.own / f"state-{self.port}.json"

    @property
    def worker_lock(self) -> Path:
        """Held by the worker of this port."""
        return self.own / f"worker-{self.port}.lock"

    @property
    def log(self) -> Path:
        """What was done, one JSON object a line."""
        return self.own / "bootstrap.log"

    @property
    def console(self) -> Path:
        """The beginning of the server's output."""
        return self.own / f"server-console-{self.port}.log"
