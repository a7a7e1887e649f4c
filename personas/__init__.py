"""The shipped personas, shared fragments, and reading personas and scenarios from files."""
