"""Carries what a compaction drops over to the next prompt."""
