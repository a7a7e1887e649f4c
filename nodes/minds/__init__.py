"""The modules of a mind."""
