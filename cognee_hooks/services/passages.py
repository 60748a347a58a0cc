"""Finds the memory inside what the server answers.

With ``only_context`` the server (cognee 1.6) answers a recall with the whole prompt that its own
model would have got: earlier conversation, the question, an order to be brief, and in the middle
the memory, in sections. Only the memory is wanted, taken apart so that whole passages come first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

_HEAD = (
    "The question is: `{query}`\nAnswer using this sectioned context. Keep the answer brief and do "
    "not use information outside the context.\n\nContext:\n`"
)
_CONVERSATION = "Previous conversation:\n"
_GUIDANCE = "`\n\n## Active session guidance\n"
_PASSAGES = "## Relevant passages\n"
_FACT_SECTIONS = ("## Fact conflicts\n", "## Related facts\n")
_ENTITIES = "## Relevant entities\n"
_BETWEEN_PASSAGES = "\n---\n"
_TELLING = 20
"""Characters that two texts do not share by chance."""
MOST_PASSAGES = 100
MOST_FACTS = 200
MOST_CHARS = 400_000
"""How much of an answer is looked at, in passages and in facts each. A stored text that is full of
separators makes ten thousands of them, and whatever has to be done with them holds up everybody."""
_COMPARED = 8000


@dataclass(slots=True)
class RecalledMemory:
    """What one recall brought, without repetitions.

    Attributes:
        passages: Stored texts, best first.
        facts: Statements of the graph and descriptions of its entities.
    """

    passages: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def add(self, other: RecalledMemory) -> None:
        """Append what is new in ``other``, as long as there is room."""
        self.passages = _bounded((*self.passages, *other.passages), MOST_PASSAGES)
        self.facts = _bounded((*self.facts, *other.facts), MOST_FACTS)


def memory_in(text: str, query: str, own_session: str) -> RecalledMemory:
    """Take the memory out of one recalled item.

    Args:
        text: The item's text.
        query: The query as it was sent; the frame around the memory repeats it.
        own_session: Id of this conversation; what it stored itself the model knows already.

    Returns:
        The memory; empty where the frame is not the known one.
    """
    context = _framed(text, query)
    passages, facts = _sections(context)
    own = f"Session ID: {own_session}\n"
    kept = [each for each in passages if not (own_session and each.startswith(own))]
    facts, compared = _bounded(facts, MOST_FACTS), _bounded(passages, MOST_PASSAGES)
    return RecalledMemory(_bounded(kept, MOST_PASSAGES), _worth_telling(facts, compared))


def _bounded(texts: Iterable[str], most: int) -> list[str]:
    """Return the first of different texts, cut where there is too much of them."""
    found: dict[str, None] = {}
    left = MOST_CHARS
    for text in texts:
        if left <= 0 or len(found) == most:
            break
        shown = text[:left]
        if shown not in found:
            found[shown] = None
            left -= len(shown)
    return list(found)


def _framed(text: str, query: str) -> str:
    head = _HEAD.format(query=query)
    # The conversation comes before the frame and may quote one; a passage comes after it.
    find = text.rfind if text.startswith(_CONVERSATION) else text.find
    start = find(head)
    if start < 0:
        return ""
    body = text[start + len(head) :]
    end = body.rfind(_GUIDANCE)
    return body[:end] if end >= 0 else body.removesuffix("`")


def _sections(context: str) -> tuple[list[str], list[str]]:
    """Split from the end, because stored text may hold anything, headings included."""
    facts: list[str] = []
    for heading in _FACT_SECTIONS:
        context, section = _cut_off(context, heading)
        facts = [line[2:].strip() for line in section.splitlines() if line.startswith("- ")] + facts
    context, section = _cut_off(context, _ENTITIES)
    entities = [" ".join(block.split()) for block in section.split("\n\n") if block.strip()]
    # What stands before the heading, if anything, is another section.
    _, _, passages = f"\n\n{context}".partition(f"\n\n{_PASSAGES}")
    found = [each.strip() for each in passages.split(_BETWEEN_PASSAGES)]
    return [each for each in found if each], facts + [each.lstrip("# ") for each in entities]


def _cut_off(context: str, heading: str) -> tuple[str, str]:
    if context.startswith(heading):
        return "", context.removeprefix(heading)
    before, found, section = context.rpartition(f"\n\n{heading}")
    # With another passage behind it, the heading is part of a stored text.
    if not found or _BETWEEN_PASSAGES in section:
        return context, ""
    return before, section


def _worth_telling(facts: Iterable[str], passages: list[str]) -> list[str]:
    """Leave out facts that only repeat the beginning of a passage, as graph edges often do."""
    return [fact for fact in facts if not any(_repeats(fact, passage) for passage in passages)]


def _repeats(fact: str, passage: str) -> bool:
    beginning = passage[:60].strip()
    return (
        not fact or fact in passage[:_COMPARED] or (len(beginning) > _TELLING and beginning in fact)
    )
