"""``cognee-hooks install``, and what ``uninstall`` shares with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cognee_hooks.agents import DEFAULT_AGENT
from cognee_hooks.cli.common import make_host
from cognee_hooks.errors import UsageError
from cognee_hooks.install import INSTALLERS, TAKING_TOOLS, engine
from cognee_hooks.install.made_folders import MadeFolders, missing_folders
from cognee_hooks.install.plan import Consent, Installer, Place, Plan, Scope, Tools
from cognee_hooks.printable import clean
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

DECLINED = 1
NAMED = 3
"""Files that are named one by one once they are written or removed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    configure_common(parser)
    parser.add_argument(
        "--trust",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="answer the question whether the agent may trust our hooks (Codex)",
    )
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument(
        "--mcp",
        dest="tools",
        action="store_const",
        const=Tools.MCP,
        help="give the model its tools by an MCP server instead of skills (Claude Code, Codex)",
    )
    tools.add_argument(
        "--no-tools",
        dest="tools",
        action="store_const",
        const=Tools.NONE,
        help="give the model no tools, neither skills nor a server (Claude Code, Codex)",
    )
    parser.add_argument(
        "--no-status-line",
        dest="status_line",
        action="store_false",
        help="set no status line (Claude Code)",
    )


def configure_common(parser: argparse.ArgumentParser) -> None:
    """Declare the options of both commands."""
    parser.add_argument("agent", metavar="AGENT", help=f"one of: {', '.join(INSTALLERS)}")
    parser.add_argument(
        "--scope",
        choices=[each.value for each in Scope],
        default=Scope.USER.value,
        help="for you everywhere (user), for all who work on this project (project), or for you "
        "in this project (local); default: user",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="answer every question with yes")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="show what would change, and change nothing"
    )
    parser.add_argument(
        "--plugin-folder",
        type=Path,
        metavar="DIR",
        help="instead of settings, a folder for the agent's own plugin manager (Claude Code)",
    )


def run(options: argparse.Namespace) -> int:
    """Set an agent up.

    Returns:
        0 where the agent is set up, 1 where the person declined.

    Raises:
        UsageError: No such agent or scope, or nobody is there to answer.
        InstallRefused: A file cannot be changed safely; nothing was changed.
    """
    installer = find_installer(options.agent)
    if options.tools is not None and options.agent not in TAKING_TOOLS:
        raise UsageError(
            f"--mcp and --no-tools are for {' and '.join(sorted(TAKING_TOOLS))}; leave them out "
            f"for {options.agent}"
        )
    plan = installer.install(place_of(options))
    if not plan.effective and not plan.consents:
        print_lines("note: ", plan.notes)
        print(f"{options.agent} is set up already; nothing was changed.")
        return 0
    if not carried_out(plan, options):
        return 0 if options.dry_run else DECLINED
    for consent in plan.consents:
        _settle(consent, options)
    print_lines("next: ", [*plan.next_steps, f"cognee-hooks doctor --agent {options.agent}"])
    return 0


def carried_out(plan: Plan, options: argparse.Namespace) -> bool:
    """Show a plan, ask, and carry it out.

    Returns:
        False for a dry run, or where the person says no.

    Raises:
        UsageError: Nobody is there to answer.
        InstallRefused: A file cannot be changed safely; nothing was changed.
    """
    sys.stdout.write(engine.diff(plan))
    print_lines("note: ", plan.notes)
    if options.dry_run:
        for consent in plan.consents:
            print(f"would ask: {clean(consent.question)}\n{clean(consent.text)}")
        print("Nothing was changed (--dry-run).")
        return False
    if plan.effective and not _agreed("Change these files?", yes=options.yes):
        print("Nothing was changed.")
        return False
    missing = missing_folders(plan.effective)
    report = engine.apply(plan, datetime.now().astimezone())
    made = MadeFolders(Paths.of(current_environ(), "install").made_folders_file)
    made.add(missing)
    made.remove_empty(plan)
    _print_done("wrote", report.written, plan)
    _print_done("removed", report.removed, plan)
    print_lines("kept a copy of the file as it was: ", [str(each) for each in report.backups])
    return True


def _print_done(done: str, paths: Sequence[Path], plan: Plan) -> None:
    """Name files; of many, those that are wholly ours are only counted, since they stand above."""
    ours = {each.path for each in plan.effective if each.wholly_ours}
    named = [each for each in paths if len(paths) <= NAMED or each not in ours]
    print_lines(f"{done} ", [str(each) for each in named])
    if counted := len(paths) - len(named):
        print(f"{done} {counted} files of ours, those above")


def find_installer(name: str) -> Installer:
    """Return the installer of an agent.

    Raises:
        UsageError: No agent of this name can be set up.
    """
    known = dict(INSTALLERS)
    if name not in known:
        # Loading plugins takes time, and is needed only for agents that they bring.
        for agent in make_host(DEFAULT_AGENT, []).registered.agents.values():
            installer = getattr(agent, "installer", None)
            if isinstance(installer, Installer):
                known.setdefault(agent.name, installer)
    if name not in known:
        raise UsageError(f"{name!r} cannot be set up; there are: {', '.join(sorted(known))}")
    return known[name]


def place_of(options: argparse.Namespace) -> Place:
    """Return where a command is to work."""
    return Place(
        environ=current_environ(),
        cwd=Path.cwd(),
        scope=Scope(options.scope),
        status_line=getattr(options, "status_line", True),
        tools=getattr(options, "tools", None) or Tools.SKILLS,
        plugin_folder=options.plugin_folder,
    )


def _settle(consent: Consent, options: argparse.Namespace) -> None:
    print(clean(consent.text))
    given = options.trust if options.trust is not None else options.yes or None
    if given is None:
        given = _agreed(consent.question, yes=False)
    elif given:
        print(f"{clean(consent.question)} yes")
    lines = consent.grant(datetime.now().astimezone()) if given else [consent.otherwise]
    print_lines("", lines)


def _agreed(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "nobody is there to answer, so nothing was changed. Add --yes to agree to the above, "
            "or --dry-run to look only"
        )
    print(f"{clean(question)} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def print_lines(start: str, lines: Sequence[str]) -> None:
    """Print lines that begin alike, safe for a terminal."""
    for line in lines:
        print(f"{start}{clean(line)}")
