"""Taking part in a run from a terminal or a pipe: the lines that people type."""
