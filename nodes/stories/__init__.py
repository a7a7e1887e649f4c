"""The modules of a character in a story."""
