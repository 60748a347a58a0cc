"""Puts relevant memory into the model's context before each prompt."""
