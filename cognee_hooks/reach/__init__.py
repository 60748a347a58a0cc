"""Reaches the session that a call of a tool or command from outside of an agent is about.

The command line and MCP clients come from here to the live session of the agent that runs them, in
the daemon, or else to a session of their own.
"""

from __future__ import annotations

from cognee_hooks.reach.reaching import Reached, Whereabouts, reach
from cognee_hooks.reach.session import About, Answer, Call, Offer

__all__ = ["About", "Answer", "Call", "Offer", "Reached", "Whereabouts", "reach"]
