"""The plugins that come with cognee-hooks. Each uses the public API only."""

COGNEE_HOOKS_BUILT_INS = True
