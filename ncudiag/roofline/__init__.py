"""See the package overview in docs/architecture.md."""
