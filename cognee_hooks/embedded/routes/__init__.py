"""Handlers of the HTTP routes, by subject. Each takes the memory and the call, and answers JSON."""
