"""The model's tools for agents that speak MCP. Needs the extra ``mcp``."""
