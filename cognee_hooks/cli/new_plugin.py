"""``cognee-hooks new-plugin NAME --kind KIND``: writes a package whose own tests pass."""

from __future__ import annotations

import argparse
from pathlib import Path

from cognee_hooks.errors import UsageError
from cognee_hooks.scaffold.package import NewPackage, PluginKind
from cognee_hooks.services.statefile import write_atomic

SHARED_MODE = 0o644


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", metavar="NAME", help="name of the plugin, such as employee-ids")
    parser.add_argument(
        "--kind",
        choices=[each.value for each in PluginKind],
        default=PluginKind.REDACTOR.value,
        help="what it does: cut something out, recall from another place, serve another agent, or "
        "look on (default: redactor)",
    )
    parser.add_argument(
        "--folder", type=Path, help="where to write it (default: cognee-hooks-NAME, here)"
    )


def run(options: argparse.Namespace) -> int:
    """Write the package and say what comes next.

    Raises:
        UsageError: The name cannot be used, or something is in the folder.
    """
    package = NewPackage(options.name, PluginKind(options.kind))
    folder = options.folder or Path(package.distribution)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already, and not empty; choose another --folder")
    files = package.files()
    # Somebody's source code, to be read by whoever may read the folder around it.
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / path, text.encode(), mode=SHARED_MODE)
        print(f"wrote {folder / path}")
    print(f"next: cd {folder}")
    print("next: pip install -e '.[test]'")
    print("next: pytest")
    print("next: cognee-hooks plugins")
    return 0
