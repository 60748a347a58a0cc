"""Lists datasets, and switches a conversation to another one."""
