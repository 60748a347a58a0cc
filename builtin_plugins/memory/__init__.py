"""Remembers, recalls, searches and forgets on demand, for people and for the model."""
