"""One line that tells how memory is doing, for agents that show a status line."""
