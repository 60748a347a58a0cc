"""Turns what a session stored into lasting memory: now and then, on demand, and at its end."""
