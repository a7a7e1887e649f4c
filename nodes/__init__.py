"""One cognitive module per file."""
