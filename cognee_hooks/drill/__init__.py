"""The fault drill of ``cognee-hooks doctor --drill``: does this installation survive?

An agent's turn is played again and again on a throw-away machine: the real hook command, a real
daemon with the person's own settings and plugins, and an embedded memory server, while something
else goes wrong each time. Then it is judged: was the agent answered in time, is every captured
entry at the server exactly once, and did a planted secret leave?

Nothing of the person's is touched: home, state, server and key are the drill's own, and variables
whose names tell of a secret are empty. Plugins run as they always do, so one that reaches for a
place of its own choice does that here, too.

Needs the extra ``embedded``.
"""

from __future__ import annotations

from cognee_hooks.drill.run import Drill
from cognee_hooks.drill.verdict import DrillRow

__all__ = ["Drill", "DrillRow"]
