"""What people are told of places at a server that scrub cannot clean, or not alone."""

from __future__ import annotations

HISTORY = (
    "no route deletes it. Where a database of the local server is named here, it is taken out "
    "of that; elsewhere only your account can read it, and whoever runs the server can empty its "
    "tables `queries` and `results`"
)
OF_OTHERS = "another account owns it; have its owner run scrub"
WITH_OTHERS = (
    "its dataset also has sessions of other accounts, which would be emptied as well; have them "
    "run scrub first, or whoever runs the server remove it"
)
WITH_UNREAD = (
    "its dataset has a session that the server cannot show, whose entries would be lost; whoever "
    "runs the server can repair or remove that one"
)
GONE = "its dataset was deleted; the server lets go of it when it expires, after a week by default"
NAME = "the dataset's name holds it; `cognee-hooks scrub --forget-dataset {id}` deletes the dataset"
DAMAGED = "sessions that an earlier, stopped scrub took from the server; it cannot be opened"
NAMED = (
    "its name holds it, which no route changes; remember it under another name, then delete this "
    "one with `cognee-hooks forget {dataset} {document}`"
)
ID = "the session's id holds it, and no route deletes the id of a session"
UNREAD = "it cannot be read ({reason}), so it may hold the value"
GRAPH = "its graph"
STOPPED = "an earlier scrub was stopped; what it took out is stored again first"
STILL = "it is still there; run scrub again"
NOT_REWRITTEN = "it was not rewritten ({reason}); forget it with `cognee-hooks forget`"
EMPTIED = (
    "all its sessions are emptied and stored again without the value, and its graph is built anew "
    "from its documents, which costs calls of the server's model"
)
EMPTIED_ASIDE = "{count} sessions of no dataset are emptied and stored again without it"
LOST = "; {count} older entries cannot be read and are lost"
