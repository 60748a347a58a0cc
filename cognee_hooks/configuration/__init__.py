"""How configuration is written: files, variables, single values, and how options are declared.

`cognee_hooks.settings` is made of these, and decides which source counts.
"""
