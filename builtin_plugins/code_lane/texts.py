"""What people and models are told about the code graph."""

from __future__ import annotations

from builtin_plugins.code_lane.follow import Ending
from builtin_plugins.code_lane.indexer import Submitted
from builtin_plugins.code_lane.operations import CodeQuestion
from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.tree import HARD_LIMIT
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.printable import one_line

NOT_REDACTED = (
    "⚠ The question could not be made safe to send, so it was not asked; see `cognee-hooks doctor`."
)
NONE_HERE = "none: the embedded server keeps text only"
OTHER_SERVER = "use a cognee server (1.5.4 or later) for facts about code"
EMBEDDED = (
    "⚠ The embedded server keeps text only and has no code graph. Use a cognee server (1.5.4 or "
    "later) to index code."
)
_HELP = {
    FailureKind.REFUSED: "start the server or check COGNEE_BASE_URL; the agent goes on without it",
    FailureKind.UNREACHABLE: "check COGNEE_BASE_URL; the agent goes on without it",
    FailureKind.TIMED_OUT: "the server is busy or too slow; try again later",
    FailureKind.AUTH: "check COGNEE_API_KEY and run `cognee-hooks doctor`",
    FailureKind.FORBIDDEN: "this key may not use that dataset",
}


def failure(what: str, found: ServerFailure) -> str:
    """Say that something failed and what to do about it."""
    text = f"⚠ {what} failed: {found.detail or found.kind.value}"
    help_ = _HELP.get(found.kind, "")
    if "unsupported content_type" in found.detail.lower():
        help_ = "this server is too old to index code; upgrade to cognee 1.5.4 or later"
    elif "unsupported code operation" in found.detail.lower():
        help_ = "this server is too old for that operation"
    return f"{text} — {help_}" if help_ else text


def title(question: CodeQuestion, dataset: str) -> str:
    """Return the line over an answer."""
    what = f"{question.operation} " if question.operation else ""
    subject = "" if question.seed == question.operation else question.seed
    return f"Code graph {dataset}: {what}{subject}".rstrip()


def nothing_found(question: CodeQuestion, dataset: str) -> str:
    """Say that an answer is empty, which is no error."""
    subject = question.subject
    if question.operation and subject != question.operation:
        subject = f"{question.operation} of '{subject}'"
    return f"No code facts for {subject} in {dataset}: an empty result, not an error."


def unknown(name: str, dataset: str) -> str:
    """Say that nothing has a name, which is no error either."""
    return (
        f"No code facts for '{name}' in {dataset}: there is no such symbol, which is an empty "
        "result and not an error. Try a part of the name with operation='query_facts'."
    )


def ambiguous(name: str) -> str:
    """Say that a name stands for several things, or only for a part of their names."""
    return (
        f"'{name}' does not name exactly one thing in the code graph. Ask again with the full name "
        "of one of these:"
    )


def no_delta(dataset: str) -> str:
    """Say that nothing was indexed yet."""
    return f"Delta: no repository records in the graph of {dataset}; nothing is indexed there yet."


def no_graph(dataset: str, *, there: bool | None) -> str:
    """Say that a dataset has no graph.

    Args:
        dataset: Its name.
        there: Whether the dataset is there; None where that is not known.
    """
    if there is False:
        return (
            f"There is no dataset '{dataset}' at this server. Run the index command for this "
            "repository first, or check the name."
        )
    return (
        f"Code dataset '{dataset}' has no graph yet. Indexing may still be running; ask again in a "
        "while, or index it again."
    )


def no_repository(folder: str) -> str:
    """Say that it is not known where to ask."""
    return (
        f"no git repository at {folder} and no indexed dataset. Run the index command first, or "
        "pass dataset or repo."
    )


def state_of(record: IndexRecord | None) -> list[str]:
    """Say that a graph may be incomplete or old, if it may."""
    if record is None or not (record.error_count or record.pending):
        return []
    if record.error_count:
        return [f"Note: the last indexing failed ({record.last_error}), so facts may be old."]
    return ["Note: this repository is being indexed, so facts may be missing or old."]


def refused_path(origin: str) -> str:
    """Say that a remote server cannot read a folder of this machine."""
    hint = f", for example {one_line(origin)}" if origin else ""
    return (
        "⚠ The server is on another machine and cannot read local paths. Nothing was submitted; "
        f"pass the repository's git URL{hint}."
    )


def submitted(done: Submitted, ending: Ending | None, *, files: int) -> str:
    """Return the report of the index command.

    Args:
        done: What was submitted.
        ending: How it ended; None where nobody waited.
        files: Source files that were counted; 0 for a URL.
    """
    record = done.record
    unaided = "" if record.index_vectors else "; no model is used"
    lines = [f"Submitted '{record.repository.spec}' for code-graph indexing{unaided}."]
    lines.append(f"Dataset: {record.dataset}")
    if record.dataset_id:
        lines.append(f"Dataset ID: {record.dataset_id}")
    if done.run_id:
        lines.append(f"Pipeline run: {done.run_id}")
    if record.index_vectors:
        lines.append("Vectors: on, so facts are found by meaning too; this uses the server's model")
    else:
        lines.append("Vectors: off, so facts are found by name (--index-vectors adds meaning)")
    if record.repository.remote:
        lines.append("Freshness: run the command again after a push; the server clones the URL")
    else:
        lines.append(f"Freshness: {_freshness(record)}")
        lines.append("Note: the indexer keeps a snapshot in .enola/; add it to .gitignore")
    if files:
        count = f"more than {HARD_LIMIT}" if files > HARD_LIMIT else str(files)
        lines.append(f"Size: {count} source files; a large library takes the server minutes")
    if ending is None:
        lines.append("Background: add --wait <seconds> to wait for the end")
    else:
        lines.append(f"Wait: {_ENDINGS[ending]}")
    return "\n".join(lines)


def _freshness(record: IndexRecord) -> str:
    if record.fingerprint:
        return "indexed again by itself after edits, as long as sessions run here"
    return (
        "run the command again after edits; git cannot tell what changes in this folder, because "
        "it is no repository, has no commit, or holds too much"
    )


_ENDINGS = {
    Ending.COMPLETED: "graph is queryable",
    Ending.ERRORED: "the pipeline failed; the graph was not built, see the server's log",
    Ending.RUNNING: "still processing in the background",
    Ending.UNSEEN: "no sign of the run yet: it waits in line, or the server cannot read the "
    "repository (a server in a container does not see this machine's folders)",
}
