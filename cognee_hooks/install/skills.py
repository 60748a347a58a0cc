"""Brings skills into the folder from which an agent reads them, and takes them out again.

A skill of ours says so, and by its digest whether somebody changed it since. Other people's skills,
and ours once they were changed, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cognee_hooks.host import Host
from cognee_hooks.install import command
from cognee_hooks.install.files import read
from cognee_hooks.install.plan import SHARED_MODE, FileChange, Place, Plan, Scope, Tools
from cognee_hooks.install.skill_text import Skill, is_ours, is_untouched, skills_of

FILE = "SKILL.md"
POLICY = Path("agents") / "openai.yaml"
"""Beside a skill: whether Codex may use it without being told to."""
NOT_BY_ITSELF = b"policy:\n  allow_implicit_invocation: false\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolder:
    """Where an agent reads skills, and how.

    Attributes:
        agent: The adapter's name.
        folder: The folder with a folder for each skill.
        arguments: What the agent replaces by a person's words; "" where it replaces nothing.
        policies: Whether it reads `POLICY`.
    """

    agent: str
    folder: Path
    arguments: str = ""
    policies: bool = False

    def install(self, place: Place) -> Plan:
        """Plan to have just the skills there that are wanted now."""
        if place.tools is Tools.NONE:
            return self.uninstall()
        # What a project narrows is no concern of a person's other projects.
        cwd = "" if place.scope is Scope.USER else str(place.cwd)
        host = Host(self.agent, environ=place.environ, cwd=cwd)
        skills = skills_of(
            host,
            command.cli_argv(),
            tools=place.tools is Tools.SKILLS,
            arguments=self.arguments,
        )
        changes: list[FileChange] = []
        notes: list[str] = []
        for skill in skills:
            path = self.folder / skill.name / FILE
            before = read(path)
            if before is not None and not _may_change(before):
                notes.append(_kept(path, before))
                continue
            changes += self._files(skill, before)
        gone = self._removal({skill.name for skill in skills})
        return Plan(
            changes=[*changes, *gone.changes],
            notes=[*notes, *gone.notes],
            empty_folders=gone.empty_folders,
        )

    def uninstall(self) -> Plan:
        """Plan to remove our skills, and the folder if nothing else is in it."""
        plan = self._removal(set())
        return replace(plan, empty_folders=[*plan.empty_folders, self.folder])

    def _files(self, skill: Skill, before: bytes | None) -> list[FileChange]:
        folder = self.folder / skill.name
        found = [_change(folder / FILE, before, skill.text.encode())]
        if self.policies:
            policy = read(folder / POLICY)
            wanted = None if skill.for_model else NOT_BY_ITSELF
            if policy in {None, NOT_BY_ITSELF}:
                found.append(_change(folder / POLICY, policy, wanted))
        return found

    def _removal(self, wanted: set[str]) -> Plan:
        """Plan to remove those of our skills that are not wanted."""
        changes: list[FileChange] = []
        notes: list[str] = []
        folders: list[Path] = []
        for path in self._skills():
            before = read(path)
            if before is None or path.parent.name in wanted or not is_ours(_text(before)):
                continue
            if not _may_change(before):
                notes.append(_kept(path, before))
                continue
            policy = path.parent / POLICY
            changes.append(_change(path, before, None))
            if (content := read(policy)) == NOT_BY_ITSELF:
                changes.append(_change(policy, content, None))
            folders += [policy.parent, path.parent]
        return Plan(changes=changes, notes=notes, empty_folders=folders)

    def _skills(self) -> Iterable[Path]:
        try:
            return sorted(self.folder.glob(f"*/{FILE}"))
        except OSError:
            return []


def together(first: Plan, *others: Plan) -> Plan:
    """Return several plans as one; of the others without the files that do not change."""
    plans = (first, *others)
    return Plan(
        changes=[*first.changes, *(change for plan in others for change in plan.effective)],
        notes=[note for plan in plans for note in plan.notes],
        next_steps=[step for plan in plans for step in plan.next_steps],
        consents=[consent for plan in plans for consent in plan.consents],
        empty_folders=[folder for plan in plans for folder in plan.empty_folders],
    )


def _change(path: Path, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path=path, before=before, after=after, mode=SHARED_MODE, wholly_ours=True)


def _may_change(content: bytes) -> bool:
    text = _text(content)
    return is_ours(text) and is_untouched(text)


def _kept(path: Path, content: bytes) -> str:
    if is_ours(_text(content)):
        return f"{path} is ours but was changed by somebody, so it stays. Remove it by hand."
    return f"{path} is somebody else's skill of the same name, so it stays and ours is left out."


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
