"""Says when there is a newer release of cognee-hooks, where the person wants to be told."""
