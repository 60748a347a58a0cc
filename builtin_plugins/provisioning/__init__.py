"""Gives the agent an account of its own at servers that can, which shares its owner's memory."""
