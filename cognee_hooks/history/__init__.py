"""What the state folders of all agents tell of the past: sessions, usage, and entries that wait."""
