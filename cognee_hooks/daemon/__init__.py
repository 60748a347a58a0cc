"""The daemon: one process a user that holds the hosts of all sessions, and its thin client."""
