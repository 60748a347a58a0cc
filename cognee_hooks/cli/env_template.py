"""The template of ``~/.cognee/.env``, the file that all cognee plugins share.

Not all of them cut comments off a value, so each comment has a line of its own.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.statefile import make_private_folder

TEMPLATE = """\
# Settings that all cognee plugins share: one NAME=value a line.
# What is exported in a shell beats what stands here. Take the "# " away from a line to set it.
# `cognee-hooks config` lists every setting with its value and where that comes from.
# Only you can read this file; leave it like that, since it may hold keys.

# -- the local server: started by itself once there is a key for its model --------------------

# LLM_API_KEY=your-key
# LLM_PROVIDER=openai
# LLM_MODEL=openai/gpt-4o-mini
# LLM_ENDPOINT=https://models.example/v1

# EMBEDDING_API_KEY=your-key
# EMBEDDING_PROVIDER=openai
# EMBEDDING_MODEL=openai/text-embedding-3-small
# EMBEDDING_ENDPOINT=https://models.example/v1

# No key and no model: a small server that searches by words.
# COGNEE_LOCAL_SERVER=embedded

# Start no server by itself.
# COGNEE_LOCAL_BOOTSTRAP=false

# -- a server of yours, instead ---------------------------------------------------------------

# COGNEE_BASE_URL=https://cognee.example
# COGNEE_API_KEY=your-key

# Stay with one of both, whatever else is set: local or cloud.
# COGNEE_BACKEND=local

# -- what is kept -----------------------------------------------------------------------------

# COGNEE_PLUGIN_DATASET=agent_sessions

# Neither capture nor recall; what you do by hand still works.
# COGNEE_CAPTURE=false

# Files that are never captured, and further patterns to cut out, as JSON lists.
# COGNEE_CAPTURE_DENY_PATHS=["*.private", "*/customers/*"]
# COGNEE_CAPTURE_REDACT_PATTERNS=["EMP-[0-9]{6}"]

# -- what the model is told -------------------------------------------------------------------

# COGNEE_RECALL=false
# COGNEE_CONTEXT_MAX_CHARS=2000
# COGNEE_RECALL_TIMEOUT_MS=4000

# -- cognee-hooks itself ----------------------------------------------------------------------

# Ask PyPI once a day whether there is a newer release; `cognee-hooks status` then names it.
# COGNEE_HOOKS_UPDATE_CHECK=true
"""


def write(path: Path) -> None:
    """Write the template, readable by its owner only.

    Args:
        path: Where to; missing parents are made 0700.

    Raises:
        FileExistsError: There is something already, be it a link that leads nowhere.
        OSError: It cannot be written; then nothing is left behind.
    """
    make_private_folder(path.parent)
    # O_EXCL follows no link, and two commands at once cannot both believe that they were first.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(TEMPLATE.encode())
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
