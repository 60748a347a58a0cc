"""Knows the code of the repository that the agent works in, from the server's code graph."""
