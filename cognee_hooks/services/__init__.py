"""What the host and the plugins share: the server client, keys, health, breaker, files, processes.

Nothing is imported here on purpose: a hook that only reads a state file must not pay for an HTTP
client or an event loop.
"""
