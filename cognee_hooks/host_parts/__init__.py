"""What `cognee_hooks.host` is put together from, one job a module; nothing else makes them."""
