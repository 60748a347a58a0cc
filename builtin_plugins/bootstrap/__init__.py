"""Runs a memory server on this machine where the person named none."""
