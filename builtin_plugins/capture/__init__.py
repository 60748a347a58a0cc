"""Keeps prompts, answers and tool traces, with secrets taken out."""
