"""Templates of packages for `cognee-hooks new-plugin`, and what fills them in."""
