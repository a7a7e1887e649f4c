"""One cognitive module a file."""
