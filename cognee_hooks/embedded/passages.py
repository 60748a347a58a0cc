"""Text that recall can find: stored passages of all datasets, ranked by BM25."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.words import index_terms, match_expression, query_words

# Where the best hit is far better than another, the other is noise that shares a common word.
_RELATIVE_FLOOR = 0.2
# A word in the text itself counts more than the part of a name.
_TEXT_WEIGHT, _TERMS_WEIGHT = 1.0, 0.6

_SEARCH = """
SELECT p.id, p.source_id, p.source_name, p.position, p.text,
       -bm25(passage_index, ?, ?) AS score
FROM passage_index JOIN passages AS p ON p.seq = passage_index.rowid
WHERE passage_index MATCH ? AND p.dataset_id = ?
  AND (? = '[]' OR EXISTS (
      SELECT 1 FROM json_each(p.node_set) AS has JOIN json_each(?) AS wanted USING (value)))
ORDER BY score DESC, p.seq DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class PassageHit:
    """One passage that a query found.

    Attributes:
        id: The passage's id.
        source_id: The document or session entry it is from.
        source_name: That document's name, or the session's id.
        position: Index of the passage in its document, from 0.
        text: The passage.
        score: Relevance; larger is better, comparable within one query only.
    """

    id: str
    source_id: str
    source_name: str
    position: int
    text: str
    score: float

    @property
    def distance(self) -> float:
        """The relevance as the contract's ``score``: between 0 and 1, smaller is closer."""
        return 1.0 / (1.0 + max(self.score, 0.0))


class Passages:
    """The passages of all datasets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(
        self,
        dataset_id: str,
        source_id: str,
        source_name: str,
        texts: Iterable[str],
        node_set: Sequence[str],
    ) -> None:
        """Store a source's passages in place of those it had."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM passages WHERE source_id = ?", (source_id,))
            connection.executemany(
                "INSERT INTO passages (id, dataset_id, source_id, source_name, position, node_set, "
                "text, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        str(uuid.uuid4()),
                        dataset_id,
                        source_id,
                        source_name,
                        position,
                        json.dumps(list(node_set)),
                        text,
                        index_terms(f"{source_name} {text}"),
                    )
                    for position, text in enumerate(texts)
                ],
            )

    def move(self, source_ids: Sequence[str], dataset_id: str, node_set: Sequence[str]) -> None:
        """Let the passages of these sources belong to a dataset and a node set."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE passages SET dataset_id = ?, node_set = ? "
                "WHERE source_id IN (SELECT value FROM json_each(?))",
                (dataset_id, json.dumps(list(node_set)), json.dumps(list(source_ids))),
            )

    def remove_source(self, source_id: str) -> None:
        """Delete the passages of one document or entry."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM passages WHERE source_id = ?", (source_id,))

    def remove_dataset(self, dataset_id: str) -> None:
        """Delete the passages of one dataset."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM passages WHERE dataset_id = ?", (dataset_id,))

    def any_in(self, dataset_id: str) -> bool:
        """Whether a dataset has anything to recall."""
        query = "SELECT 1 FROM passages WHERE dataset_id = ? LIMIT 1"
        return self._database.row(query, (dataset_id,)) is not None

    def texts_of(self, source_id: str) -> list[str]:
        """The passages of one source, in order."""
        query = "SELECT text FROM passages WHERE source_id = ? ORDER BY position"
        return [row["text"] for row in self._database.rows(query, (source_id,))]

    def search(
        self, query: str, dataset_id: str, limit: int, node_names: Sequence[str] = ()
    ) -> list[PassageHit]:
        """The best passages of a dataset for a query.

        Args:
            query: Any text.
            dataset_id: Where to look.
            limit: Most passages to return.
            node_names: Only passages that have one of these in their node set; empty means all.

        Returns:
            Hits, best first; passages far behind the best one are left out.
        """
        expression = match_expression(query_words(query))
        if not expression:
            return []
        names = json.dumps(list(node_names))
        rows = self._database.rows(
            _SEARCH,
            (_TEXT_WEIGHT, _TERMS_WEIGHT, expression, dataset_id, names, names, limit),
        )
        hits = [PassageHit(**dict(row)) for row in rows]
        floor = hits[0].score * _RELATIVE_FLOOR if hits else 0.0
        return [hit for hit in hits if hit.score >= floor]
