"""The modules of minds and what stands beside them, a file for each step of a turn."""
