"""Keeps captured entries on disk until the server has them: nothing lost, nothing twice."""
