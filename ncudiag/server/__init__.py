"""ncudiag for agents: an MCP server over standard input and output (the extra ``ncudiag[mcp]``)."""
