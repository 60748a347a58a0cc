"""Names of the plugins that come with the package, and of what cannot be switched off."""

from __future__ import annotations

BUILT_IN_MARKER = "COGNEE_HOOKS_BUILT_INS"
"""Attribute of the package of built-ins; its name is so common that a stranger may own it."""

BUILT_IN_PACKAGE = "builtin_plugins"

BUILT_INS: dict[str, str] = {
    "bootstrap": "builtin_plugins.bootstrap.plugin:BootstrapPlugin",
    "bridge": "builtin_plugins.bridge.plugin:BridgePlugin",
    "capture": "builtin_plugins.capture.plugin:CapturePlugin",
    "code_lane": "builtin_plugins.code_lane.plugin:CodeLanePlugin",
    "compaction": "builtin_plugins.compaction.plugin:CompactionPlugin",
    "datasets": "builtin_plugins.datasets.plugin:DatasetsPlugin",
    "memory": "builtin_plugins.memory.plugin:MemoryPlugin",
    "provisioning": "builtin_plugins.provisioning.plugin:ProvisioningPlugin",
    "recall": "builtin_plugins.recall.plugin:RecallPlugin",
    "statusline": "builtin_plugins.statusline.plugin:StatuslinePlugin",
    "sync": "builtin_plugins.sync.plugin:SyncPlugin",
    "updates": "builtin_plugins.updates.plugin:UpdatesPlugin",
}
"""Where to load each built-in from, by plugin name."""

ESSENTIAL: dict[str, str] = {
    "dispatch": "it calls the plugins",
    "redaction": "nothing may leave the machine without it",
}
"""Parts of the core that look like plugins, and why they cannot be blocked."""
