"""Everything behind the routes: the stores on one data file."""

from __future__ import annotations

from pathlib import Path

from cognee_hooks.embedded.accounts import Accounts
from cognee_hooks.embedded.claims import Claims
from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.datasets import Datasets
from cognee_hooks.embedded.documents import Documents
from cognee_hooks.embedded.passages import Passages
from cognee_hooks.embedded.recall import Recall
from cognee_hooks.embedded.runs import Runs
from cognee_hooks.embedded.sessions import Sessions


class EmbeddedMemory:
    """The stores, open on one data file.

    Attributes:
        database: The data file.
        accounts: Who may use it.
        passages: What recall finds.
        datasets: Named places.
        documents: Remembered files.
        sessions: Session entries.
        recall: Answers questions.
        runs: Improves that have ended.
        claims: What is being improved.
    """

    def __init__(self, path: Path, password: str) -> None:
        """Open or create the data file.

        Args:
            path: The data file.
            password: The account's password.

        Raises:
            UsageError: The file cannot be used.
        """
        self.database = Database(path)
        self.accounts = Accounts(self.database, password)
        self.passages = Passages(self.database)
        owner = self.accounts.owner_id
        self.datasets = Datasets(self.database, self.passages, owner)
        self.documents = Documents(self.database, self.datasets, self.passages)
        self.sessions = Sessions(self.database, self.datasets, self.passages, owner)
        self.recall = Recall(self.datasets, self.passages, self.sessions)
        self.runs = Runs(owner)
        self.claims = Claims()

    def close(self) -> None:
        """Close the data file."""
        self.database.close()
